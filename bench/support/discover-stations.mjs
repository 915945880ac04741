// Generated charging stations, and the kinds of intents that are measured on them. Each asks about a station of the index; `plain` is the SQL
// that somebody would write who knows the questions beforehand, for a page of the same, on a table that he made for them.
import { queryBox, sphereBox } from '../../dist/rules/geometry/sphere-box.js';
import { filter, plainPage } from './discover-questions.mjs';
import { generateCatalogs } from './generate-catalogs.mjs';

export const catalogs = ({ resources }) => generateCatalogs({ resources });
/** One station is one catalog. */
export const catalogsAtOnce = 200;
export const resourcesPerCatalog = 3;

const attributes = '@.resourceAttributes.attributes';

const places = '$.catalogs[*].provider.availableAt[*].geo';
const radiusMeters = 3_000;
const priceSpan = 5;

export const kinds = {
  equality: {
    ask: (station) => filter(`${attributes}.model == '${first(station).model}'`),
    plain: (station) => plainPage(table, 'model = $1', [first(station).model]),
  },
  'range + equality': {
    ask: (station) =>
      filter(
        `${attributes}.make == '${first(station).make}' && ${attributes}.price >= ${lowPrice(station)} && ${attributes}.price < ${highPrice(station)}`,
      ),
    plain: (station) =>
      plainPage(
        table,
        'make = $1 and price >= $2 and price < $3',
        [first(station).make, lowPrice(station), highPrice(station)],
        { order: 'price' },
      ),
  },
  radius: {
    ask: (station) => near(station),
    plain: (station) => plainPage(table, isNear, boxes(station), { order: nearest }),
  },
  'radius + range': {
    ask: (station) => ({ ...near(station), ...filter(`${attributes}.price >= ${lowPrice(station)}`) }),
    plain: (station) =>
      plainPage(table, `${isNear} and price >= $3`, [...boxes(station), lowPrice(station)], {
        order: nearest,
      }),
  },
  'rare word': {
    ask: (station) => ({ textSearch: street(station) }),
    plain: (station) => plainPage(table, hasWords('$1'), [street(station)]),
  },
  'common words': {
    ask: (station) => ({ textSearch: `fast charger in ${city(station)} with parking` }),
    plain: (station) =>
      plainPage(table, hasWords('$1'), [`fast | charger | in | ${city(station)} | with | parking`], {
        order: `ts_rank(words, to_tsquery('simple', $1)) desc`,
      }),
  },
  'text + radius + filter': {
    ask: (station) => ({
      textSearch: `charger ${street(station)}`,
      ...near(station),
      ...filter(`${attributes}.connectorType == '${first(station).connectorType}'`),
    }),
    plain: (station) =>
      plainPage(
        table,
        `${isNear} and connector = $3 and ${hasWords('$4')}`,
        [...boxes(station), first(station).connectorType, `charger | ${street(station)}`],
        { order: `ts_rank(words, to_tsquery('simple', $4)) desc, ${nearest}` },
      ),
  },
};

const table = 'plain.station';
const isNear = 'place && $1::cube';
const nearest = 'place <-> $2::cube';
const hasWords = (words) => `words @@ to_tsquery('simple', ${words})`;

function boxes(station) {
  const place = placeOf(station);
  return [queryBox('S_DWITHIN', place, radiusMeters), sphereBox(place)].map(
    ({ low, high }) => `(${low}),(${high})`,
  );
}

function first(station) {
  return station.resources[0].resourceAttributes.attributes;
}

function lowPrice(station) {
  return Math.max(0, first(station).price - priceSpan);
}

function highPrice(station) {
  return first(station).price + priceSpan;
}

function street(station) {
  return station.descriptor.name.split(' ')[0];
}

function city({ provider }) {
  return provider.availableAt[0].address.addressLocality;
}

function placeOf({ provider }) {
  return provider.availableAt[0].geo;
}

function near(station) {
  const within = { op: 'S_DWITHIN', targets: places, distanceMeters: radiusMeters };
  return { spatial: [{ ...within, geometry: placeOf(station) }] };
}

export async function makePlainTable(database) {
  await database.query(
    `create table ${table} as
     select resource.key, document, attributes ->> 'make' as make, attributes ->> 'model' as model,
       attributes ->> 'connectorType' as connector, (attributes ->> 'price')::float8 as price, cube_subset(box, array[1, 2, 3]) as place,
       to_tsvector('simple', head::text) || to_tsvector('simple', document::text) as words
     from discovery.resource
     join discovery.catalog on catalog.key = catalog_key
     join discovery.geometry on geometry.key = catalog_key << 26
     cross join lateral (select document #> '{resourceAttributes,attributes}' as attributes) as typed`,
  );
  for (const columns of ['(model, key)', '(make, price)', 'using gist (place)', 'using gin (words)'])
    await database.query(`create index on ${table} ${columns}`);
}

/** Looks at everything. */
export const plainScan = `select count(*) from ${table} where document::text like '%Bengaluru%'`;

/** A change of a station that discover finds by the given mark. */
export function changed(station, mark) {
  const { offers: _, ...catalog } = structuredClone(station);
  first(catalog).serialNumber = mark;
  return { catalog, intent: filter(`${attributes}.serialNumber == '${mark}'`) };
}
