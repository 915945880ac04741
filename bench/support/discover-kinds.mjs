// The kinds of intents that are measured. Each asks about a station of the index; `plain` is SQL on a plain table for a page of the same.
import { boxAround, boxOf, plainPage } from './plain-stations.mjs';

export const limit = 20;
export const attributes = '@.resourceAttributes.attributes';

const places = '$.catalogs[*].provider.availableAt[*].geo';
const radiusMeters = 3_000;
const priceSpan = 5;

export const kinds = {
  equality: {
    ask: (station) => filter(`${attributes}.model == '${first(station).model}'`),
    plain: (station) => plainPage('model = $1', [first(station).model], { limit }),
  },
  'range + equality': {
    ask: (station) =>
      filter(
        `${attributes}.make == '${first(station).make}' && ${attributes}.price >= ${lowPrice(station)} && ${attributes}.price < ${highPrice(station)}`,
      ),
    plain: (station) =>
      plainPage(
        'make = $1 and price >= $2 and price < $3',
        [first(station).make, lowPrice(station), highPrice(station)],
        { order: 'price', limit },
      ),
  },
  radius: {
    ask: (station) => near(station),
    plain: (station) => plainPage(isNear, boxes(station), { order: nearest, limit }),
  },
  'radius + range': {
    ask: (station) => ({ ...near(station), ...filter(`${attributes}.price >= ${lowPrice(station)}`) }),
    plain: (station) =>
      plainPage(`${isNear} and price >= $3`, [...boxes(station), lowPrice(station)], {
        order: nearest,
        limit,
      }),
  },
  'rare word': {
    ask: (station) => ({ textSearch: street(station) }),
    plain: (station) => plainPage(hasWords('$1'), [street(station)], { limit }),
  },
  'common words': {
    ask: (station) => ({ textSearch: `fast charger in ${city(station)} with parking` }),
    plain: (station) =>
      plainPage(hasWords('$1'), [`fast | charger | in | ${city(station)} | with | parking`], {
        order: `ts_rank(words, to_tsquery('simple', $1)) desc`,
        limit,
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
        `${isNear} and connector = $3 and ${hasWords('$4')}`,
        [...boxes(station), first(station).connectorType, `charger | ${street(station)}`],
        { order: `ts_rank(words, to_tsquery('simple', $4)) desc, ${nearest}`, limit },
      ),
  },
};

const isNear = 'place && $1::cube';
const nearest = 'place <-> $2::cube';
const hasWords = (words) => `words @@ to_tsquery('simple', ${words})`;

function boxes(station) {
  const place = placeOf(station);
  return [boxAround(place, radiusMeters), boxOf(place)];
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

function filter(condition) {
  return { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } };
}

function near(station) {
  const within = { op: 'S_DWITHIN', targets: places, distanceMeters: radiusMeters };
  return { spatial: [{ ...within, geometry: placeOf(station) }] };
}
