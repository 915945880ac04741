// Catalogs of charging stations, the same for the same seed: one station is one catalog with one provider at one place, one to five connectors are
// its resources, and some stations have an offer. Words are as uneven as in real texts: a few occur everywhere, many in a handful of places.

const chargerContext = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';
const connectors = ['CCS2', 'Type2', 'CHAdeMO', 'GB_T', 'Type1', 'NACS'];
const powers = [3.7, 7.4, 11, 22, 43, 50, 60, 100, 120, 150, 180, 240, 350];
const kinds = [
  'Mall',
  'Station',
  'Hotel',
  'Park',
  'Office',
  'Airport',
  'Hospital',
  'Museum',
  'Market',
  'Depot',
];
const amenities = ['cafe', 'toilet', 'wifi', 'parking', 'lounge', 'shop', 'playground', 'shelter'];
const operators = [
  'Volt',
  'Ampere',
  'Tesla',
  'Joule',
  'Ohm',
  'Watt',
  'Faraday',
  'Coulomb',
  'Maxwell',
  'Henry',
];
const offerBeginnings =
  'night week month year home city road park club fleet family green solar wind hydro smart fast late prime guest'.split(
    ' ',
  );
const offerEndings =
  'saver bonus card pass plan pack deal rate point gift credit ticket option discount share reward'.split(
    ' ',
  );
/** Words that occur in many offers: the first in every second one, the last in every thirtieth. */
export const offerWords = offerBeginnings.flatMap((beginning) =>
  offerEndings.map((ending) => beginning + ending),
);
const places = [
  ['Bengaluru', 77.59, 12.97],
  ['Delhi', 77.21, 28.61],
  ['Mumbai', 72.88, 19.08],
  ['London', -0.13, 51.51],
  ['Berlin', 13.4, 52.52],
  ['Paris', 2.35, 48.86],
  ['Chicago', -87.63, 41.88],
  ['Tokyo', 139.69, 35.69],
  ['Sydney', 151.21, -33.87],
  ['Nairobi', 36.82, -1.29],
];

export { amenities, connectors, kinds };
export const cities = places.map(([city]) => city);

/**
 * Yields catalogs until they hold `resources` resources in total: one to five each, or `resourcesPerCatalog`. With `describesOffers`, offers have
 * descriptions of many words.
 */
export function* generateCatalogs({ resources, resourcesPerCatalog, seed = 1, describesOffers = false }) {
  const random = mulberry32(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  for (let station = 1, made = 0; made < resources; station++) {
    const count = Math.min(resourcesPerCatalog ?? 1 + Math.floor(random() * 5), resources - made);
    made += count;
    yield stationCatalog({ station, count, random, pick, describesOffers });
  }
}

function stationCatalog({ station, count, random, pick, describesOffers }) {
  const [city, longitude, latitude] = pick(places);
  const operator = pick(operators);
  // A street name of two of 20,000 syllables: rare, but not unique.
  const street = `${syllables(Math.floor(random() ** 2 * 20_000))} Road`;
  const name = `${street} ${pick(kinds)}`;
  const spread = 0.5;
  const at = [longitude + (random() - 0.5) * spread, latitude + (random() - 0.5) * spread];
  const id = `station-${station}`;
  return {
    id,
    descriptor: { name, shortDesc: `Charging at ${name}, ${city}` },
    provider: {
      id: `provider-${station}`,
      descriptor: { name: `${operator} Charging ${city}` },
      availableAt: [
        {
          geo: { type: 'Point', coordinates: at.map((degrees) => Math.round(degrees * 1e6) / 1e6) },
          address: { streetAddress: `${1 + Math.floor(random() * 200)} ${street}`, addressLocality: city },
        },
      ],
    },
    resources: Array.from({ length: count }, (_, index) => {
      const power = pick(powers);
      const connectorType = pick(connectors);
      return {
        id: `${id}-c${index + 1}`,
        descriptor: {
          name: `${connectorType} ${power} kW ${power >= 50 ? 'fast ' : ''}charger`,
          shortDesc: `Connector ${index + 1} at ${name}`,
        },
        resourceAttributes: {
          '@context': chargerContext,
          '@type': 'EnergyResourceEVCharger',
          id: `${id}-c${index + 1}`,
          type: 'EV_CHARGER',
          attributes: {
            connectorType,
            ratedPower: { value: power, unit: 'kW' },
            serialNumber: `SN-${station}-${index}-${Math.floor(random() * 1e6)}`,
            level: 1 + Math.floor(random() * 3),
            price: Math.round(random() * 10_000) / 100,
            open24h: random() < 0.6,
            amenities: amenities.filter(() => random() < 0.25),
            make: pick(operators),
            model: `M${Math.floor(random() * 500)}`,
          },
        },
      };
    }),
    ...(random() < 0.3 && {
      offers: [
        {
          id: `${id}-night`,
          descriptor: {
            name: `Night tariff of ${operator}`,
            ...(describesOffers && { shortDesc: describeOffer(station) }),
          },
        },
      ],
    }),
  };
}

/** From separate random numbers, so that the stations are the same with and without. */
function describeOffer(station) {
  const random = mulberry32(station);
  return offerWords.filter((_, index) => random() < 0.5 / (1 + index / 20)).join(' ');
}

function syllables(number) {
  const parts = [
    'ba',
    'ce',
    'di',
    'fo',
    'gu',
    'ha',
    'je',
    'ki',
    'lo',
    'mu',
    'na',
    'pe',
    'qui',
    'ro',
    'su',
    'ta',
    've',
    'wi',
    'xo',
    'zu',
  ];
  let text = '';
  for (let rest = number + 1; rest > 0; rest = Math.floor(rest / parts.length))
    text += parts[rest % parts.length];
  return text[0].toUpperCase() + text.slice(1);
}

/** Random numbers from 0 to 1, the same on every machine. */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
