// Generated charging stations, and the kinds of questions that are measured on them. Each question is made from a station of the index, so that it
// finds something, or from words that occur in many.
import { prepareDistance } from '../../dist/rules/geometry/distance.js';
import { earthRadiusMeters, toVector } from '../../dist/rules/geometry/sphere.js';
import { queryBoxAround, sphereBox } from '../../dist/rules/geometry/sphere-box.js';
import { textsOf, textsOfCatalog } from '../../dist/rules/text/searched-texts.js';
import {
  amenities,
  cities,
  connectors,
  generateCatalogs,
  offerWords,
  kinds as sites,
} from '../support/generate-catalogs.mjs';
import {
  combinations,
  distinct,
  filter,
  limit,
  misspell,
  misspeltSql,
  pageBody,
  pageSql,
  textSql,
} from './questions.mjs';

export const catalogs = ({ resources }) => generateCatalogs({ resources, describesOffers: true });
/** One station is one catalog. */
export const catalogsAtOnce = 200;
export const resourcesPerCatalog = 3;

/** The part of a catalog to keep for questions about it. */
export const keep = (catalog) => catalog;

const table = 'plain.station';

export const plain = {
  table,
  columns: {
    catalog: 'text',
    model: 'text',
    make: 'text',
    connector: 'text',
    serial: 'text',
    price: 'float8',
    place: 'cube',
  },
  indexes: ['(catalog)', '(model)', '(serial)', '(make, price)', 'using gist (place)', 'using gin (words)'],
};

export const mapping = {
  catalog: { type: 'keyword' },
  model: { type: 'keyword' },
  make: { type: 'keyword' },
  connector: { type: 'keyword' },
  serial: { type: 'keyword' },
  price: { type: 'double' },
  at: { type: 'geo_point' },
};

/** The rows of a catalog in the yardsticks: one for each resource, with the page that every engine returns. */
export function rowsOf({ resources, offers = [], ...head }) {
  const around = [...textsOfCatalog(head), ...textsOf(head.provider), ...offers.flatMap(textsOf)];
  const at = head.provider.availableAt[0].geo;
  return resources.map((resource) => {
    const { model, make, connectorType, serialNumber, price } = resource.resourceAttributes.attributes;
    return {
      id: resource.id,
      page: { catalog: head, resource, offers },
      words: [...textsOf(resource), ...around].map(({ text }) => text).join('\n'),
      ...{
        catalog: head.id,
        model,
        make,
        connector: connectorType,
        serial: serialNumber,
        price,
        at: at.coordinates,
      },
      place: pointText(at),
    };
  });
}

export function questionsOf(stations) {
  const known = new Set(stations.map((station) => street(station).toLowerCase()));
  return distinct({
    equality: stations.flatMap(({ resources }) => resources.map(equality)),
    'unique fact': stations.map(uniqueFact),
    'condition on the catalog': stations.map(conditionOnCatalog),
    radius: stations.map((station) => near(station)),
    'radius + range': stations.map((station) => near(station, { from: lowPrice(station) })),
    'range + equality': stations.map(rangeAndEquality),
    'text + radius + filter': stations.map(textAndRadiusAndFilter),
    'rare word': stations.map((station) => text(street(station))),
    'common words': fromWords([cities, amenities, sites], ([city, amenity, site]) =>
      text(`fast charger in ${city} with ${amenity} ${site}`),
    ),
    'typing error': stations.map((station) => {
      const word = misspell(street(station).toLowerCase(), known);
      return { ...text(word), sql: misspeltSql(table, word) };
    }),
    'word half typed': stations.map((station, index) => halfTyped(street(station), 3 + (index % 3))),
    sentence: fromWords([sites, cities, connectors, amenities], ([site, city, connector, amenity]) =>
      text(`where can I charge my car with ${connector} at a ${site} in ${city} that has ${amenity}`),
    ),
    'word of many offers': ['night', 'tariff', ...offerWords].map((word) => text(word)),
    'sentence with it': fromWords([offerWords, cities, connectors], ([word, city, connector]) =>
      text(`is there a ${word} at a fast ${connector} charger in ${city}`),
    ),
    'no limit': stations.map((station) => rangeAndEquality(station, { size: 1_000, span: 60 })),
  });
}

/** More than are ever asked. */
const most = 3_000;

function fromWords(lists, make) {
  const questions = [];
  for (const words of combinations(...lists)) {
    questions.push(make(words));
    if (questions.length === most) break;
  }
  return questions;
}

const attributes = '@.resourceAttributes.attributes';

function equality(resource) {
  const { model } = resource.resourceAttributes.attributes;
  return {
    message: { intent: filter(`${attributes}.model == '${model}'`), limit },
    body: pageBody({ filters: [{ term: { model } }] }),
    sql: pageSql(table, 'model = $1', [model]),
    matches: ({ resource }) => resource.resourceAttributes.attributes.model === model,
  };
}

function uniqueFact(station) {
  const serial = first(station).serialNumber;
  return {
    message: { intent: filter(`${attributes}.serialNumber == '${serial}'`), limit },
    body: pageBody({ filters: [{ term: { serial } }] }),
    sql: pageSql(table, 'serial = $1', [serial]),
    matches: ({ resource }) => resource.resourceAttributes.attributes.serialNumber === serial,
  };
}

function conditionOnCatalog({ id }) {
  const expression = `$.catalogs[?@.id == '${id}'].resources[*]`;
  return {
    message: { intent: { filters: { type: 'jsonpath', expression } }, limit },
    body: pageBody({ filters: [{ term: { catalog: id } }] }),
    sql: pageSql(table, 'catalog = $1', [id]),
    matches: ({ catalog }) => catalog.id === id,
  };
}

function rangeAndEquality(station, { size = limit, span = 10 } = {}) {
  const { make } = first(station);
  const [low, high] = [lowPrice(station), lowPrice(station) + span];
  const isWhole = size > limit;
  return {
    message: {
      intent: filter(
        `${attributes}.make == '${make}' && ${attributes}.price >= ${low} && ${attributes}.price < ${high}`,
      ),
      ...(!isWhole && { limit }),
    },
    body: pageBody({ filters: [{ term: { make } }, { range: { price: { gte: low, lt: high } } }], size }),
    sql: pageSql(table, 'make = $1 and price >= $2 and price < $3', [make, low, high], { size }),
    matches: ({ resource }) => {
      const found = resource.resourceAttributes.attributes;
      return found.make === make && found.price >= low && found.price < high;
    },
  };
}

const radiusMeters = 3_000;
/** Half the edge of a cube: the straight line through the earth. */
const chord = 2 * Math.sin(radiusMeters / earthRadiusMeters / 2);
const nearest = 'place <-> $2::cube';
const isNear = `place && $1::cube and ${nearest} <= ${chord}`;

function near(station, { from } = {}) {
  const place = placeOf(station);
  const distanceFrom = prepareDistance(place);
  const price = from === undefined ? [] : [{ range: { price: { gte: from } } }];
  return {
    message: {
      intent: { ...within(place), ...(from !== undefined && filter(`${attributes}.price >= ${from}`)) },
      limit,
    },
    body: pageBody({
      filters: [...price, inCircle(place)],
      sort: [{ _geo_distance: { at: place.coordinates, order: 'asc' } }],
    }),
    sql: pageSql(
      table,
      `${isNear}${from === undefined ? '' : ' and price >= $3'}`,
      [...boxes(place), ...(from === undefined ? [] : [from])],
      { order: nearest },
    ),
    distance: (page) => distanceFrom(placeOf(page.catalog)),
    matches: (page) =>
      distanceFrom(placeOf(page.catalog)) <= radiusMeters &&
      (from === undefined || page.resource.resourceAttributes.attributes.price >= from),
  };
}

function textAndRadiusAndFilter(station) {
  const place = placeOf(station);
  const { connectorType: connector } = first(station);
  const words = ['charger', street(station)];
  return {
    message: {
      intent: {
        textSearch: words.join(' '),
        ...within(place),
        ...filter(`${attributes}.connectorType == '${connector}'`),
      },
      limit,
    },
    body: pageBody({
      text: words.join(' '),
      filters: [{ term: { connector } }, inCircle(place)],
      sort: ['_score', { _geo_distance: { at: place.coordinates, order: 'asc' } }],
    }),
    sql: textSql(table, words, {
      condition: `${isNear} and connector = $3`,
      values: [...boxes(place), connector],
      tie: `, ${nearest}`,
    }),
  };
}

function text(words) {
  return {
    message: { intent: { textSearch: words }, limit },
    body: pageBody({ text: words }),
    sql: textSql(table, words.split(' ')),
  };
}

function halfTyped(word, letters) {
  const begun = word.slice(0, letters).toLowerCase();
  return {
    message: { intent: { textSearch: begun }, limit },
    body: pageBody({ filters: [{ match_bool_prefix: { words: begun } }] }),
    sql: textSql(table, [`${begun}:*`]),
  };
}

function within(geometry) {
  const targets = '$.catalogs[*].provider.availableAt[*].geo';
  return { spatial: [{ op: 'S_DWITHIN', targets, distanceMeters: radiusMeters, geometry }] };
}

function inCircle({ coordinates }) {
  return { geo_distance: { distance: `${radiusMeters}m`, at: coordinates } };
}

function boxes(place) {
  const { low, high } = queryBoxAround('S_DWITHIN', sphereBox(place), radiusMeters);
  return [`(${low}),(${high})`, pointText(place)];
}

function pointText({ coordinates }) {
  return `(${toVector(...coordinates)})`;
}

function first(station) {
  return station.resources[0].resourceAttributes.attributes;
}

function lowPrice(station) {
  return Math.max(0, first(station).price - 5);
}

function street(station) {
  return station.descriptor.name.split(' ')[0];
}

function placeOf({ provider }) {
  return provider.availableAt[0].geo;
}

/** New prices of a station, which discover finds by the given mark. */
export function changed(station, mark) {
  const { offers: _, ...catalog } = structuredClone(station);
  for (const { resourceAttributes } of catalog.resources)
    resourceAttributes.attributes.price = Number.parseInt(mark.slice(0, 4), 16) / 1_000;
  first(catalog).serialNumber = mark;
  return { catalog, intent: filter(`${attributes}.serialNumber == '${mark}'`) };
}
