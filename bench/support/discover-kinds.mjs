// The kinds of intents that are measured. Each asks about a station of the index; `bare` is SQL on the index's own tables for candidates of the
// same kind, a page of them with their documents; `scan` is SQL that looks at everything instead.
import { numberPath, valueFact } from '../../dist/discovery/index-entries.js';
import { queryBox, sphereBox } from '../../dist/rules/geometry/sphere-box.js';
import { cubeText } from '../../dist/storage/discovery-index.js';

export const limit = 20;
export const attributes = '@.resourceAttributes.attributes';

const places = '$.catalogs[*].provider.availableAt[*].geo';
const radiusMeters = 3_000;

export const kinds = {
  equality: {
    ask: (station) => filter(`${attributes}.model == '${first(station).model}'`),
    bare: (station) => ({
      text: page('select key from discovery.fact where hash = $1 order by key'),
      values: [fact('model', first(station).model)],
    }),
    scan: (station) => scanFor({ model: first(station).model }),
  },
  'range + equality': {
    ask: (station) =>
      filter(
        `${attributes}.make == '${first(station).make}' && ${attributes}.price >= ${lowPrice(station)} && ${attributes}.price < ${highPrice(station)}`,
      ),
    bare: (station) => ({
      text: page(
        `select key from discovery.number where path = $2 and value >= $3 and value < $4
           and exists (select from discovery.fact where hash = $1 and fact.key = number.key)`,
      ),
      values: [fact('make', first(station).make), price, lowPrice(station), highPrice(station)],
    }),
    scan: (station) => scanFor({ make: first(station).make }),
  },
  radius: {
    ask: (station) => near(station),
    bare: (station) => ({ text: page(nearest), values: boxes(station) }),
    scan: scanAround,
  },
  'radius + range': {
    ask: (station) => ({ ...near(station), ...filter(`${attributes}.price >= ${lowPrice(station)}`) }),
    bare: (station) => ({
      text: page(`select key from (${nearest}) as near where exists (
        select from discovery.number where path = $3 and value >= $4 and number.key = near.key)`),
      values: [...boxes(station), price, lowPrice(station)],
    }),
    scan: scanAround,
  },
  'rare word': {
    ask: (station) => ({ textSearch: street(station) }),
    bare: (station) => ({ text: page(standing), values: [street(station).toLowerCase()] }),
    scan: (station) => scanText(street(station)),
  },
  'common words': {
    ask: (station) => ({ textSearch: `fast charger in ${city(station)} with parking` }),
    bare: (station) => ({ text: page(standing), values: [city(station).toLowerCase()] }),
    scan: (station) => scanText(city(station)),
  },
  'text + radius + filter': {
    ask: (station) => ({
      textSearch: `charger ${street(station)}`,
      ...near(station),
      ...filter(`${attributes}.connectorType == '${first(station).connectorType}'`),
    }),
    bare: (station) => ({
      text: page(`select key from (${nearest}) as near where exists (
        select from discovery.fact where hash = $3 and fact.key = near.key)`),
      values: [...boxes(station), fact('connectorType', first(station).connectorType)],
    }),
    scan: (station) => scanText(street(station)),
  },
};

const memberPath = (name) => `\u0001resourceAttributes\u0001attributes\u0001${name}`;
const fact = (name, value) => valueFact(memberPath(name), value);
const price = numberPath(memberPath('price'));
const priceSpan = 5;

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

function filter(condition) {
  return { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } };
}

function near(station) {
  const within = { op: 'S_DWITHIN', targets: places, distanceMeters: radiusMeters };
  return { spatial: [{ ...within, geometry: placeOf(station) }] };
}

/** A page of candidates with their documents. */
function page(candidates) {
  return `select resource.key, document::text from (${candidates} limit ${limit}) as candidate join discovery.resource using (key)`;
}

/** Resources of catalogs whose place lies in a box, the nearest first. A place stands under the key of its catalog. */
const nearest = `select resource.key from (
    select key from discovery.geometry where box && $1::cube order by box <-> $2::cube limit 1000) as place
  join discovery.resource on resource.key > place.key and resource.key < place.key + (1 << 25)`;

/** Resources with a word, or of a catalog with it. */
const standing = `select resource.key from discovery.word
  join discovery.posting on posting.word_id = word.id
  join discovery.resource on resource.key >= posting.key
    and resource.key <= case when posting.key % (1 << 26) = 0 then posting.key + (1 << 25) else posting.key end
  where word = $1`;

function boxes(station) {
  const place = placeOf(station);
  return [cube(queryBox('S_DWITHIN', place, radiusMeters)), cube(sphereBox(place))];
}

/** The path of providers' places is the only one in the index, and so the first. */
function cube(box) {
  return cubeText(box, 1);
}

function scanFor(wanted) {
  return {
    text: 'select count(*) from (select document from discovery.resource offset 0) as every where document @> $1::jsonb',
    values: [JSON.stringify({ resourceAttributes: { attributes: wanted } })],
  };
}

function scanAround(station) {
  return {
    text: 'select count(*) from discovery.geometry where cube_distance(box, $1::cube) < 0.0005',
    values: [cube(sphereBox(placeOf(station)))],
  };
}

function scanText(word) {
  return {
    text: 'select count(*) from discovery.resource where document::text ilike $1',
    values: [`%${word}%`],
  };
}
