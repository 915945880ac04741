import type { Catalog, Resource } from '../protocol/catalog.ts';
import {
  ccs2,
  charger,
  chargersOf,
  type Hub,
  type Operator,
  perKilowattHour,
  tariffsOf,
} from './chargers.ts';
import { addressOf, areaAround, placeOf, pointNear } from './places.ts';

// Three charging operators: Voltpath publishes through the catalog service, one catalog per hub; Kaveri and Minchu host signed files.

const allDay = 'Mo-Su 00:00-24:00';
const longDay = 'Mo-Su 05:30-23:30';
const shopHours = 'Mo-Su 10:00-22:00';

const voltpath: Operator = {
  ...{ id: 'voltpath', name: 'Voltpath Charging', about: 'Charging hubs across Bengaluru', make: 'Voltpath' },
  rupeesPerKilowattHour: { fast: 18.5, slow: 11, night: 14.5 },
};

const voltpathHubs: readonly Hub[] = [
  { place: 'MGR', arrangement: 'plaza', at: 'car park under the metro station', opens: allDay },
  { place: 'KOR', arrangement: 'street', at: 'service lane opposite the stadium', opens: allDay },
  { place: 'HSR', arrangement: 'street', at: 'behind the BDA complex', opens: longDay },
  { place: 'DOM', arrangement: 'street', at: 'below the flyover', opens: allDay },
  { place: 'MAR', arrangement: 'plaza', at: 'beside the bridge', opens: allDay },
  { place: 'WHI', arrangement: 'mall', at: 'second basement of the mall', opens: shopHours },
  { place: 'ECY', arrangement: 'depot', at: 'bus depot, gate 3', opens: allDay },
  { place: 'HEB', arrangement: 'plaza', at: 'on the way to the airport', opens: allDay },
  { place: 'MAL', arrangement: 'mall', at: 'rooftop car park', opens: shopHours },
];

/** Published through the catalog service. One bay of HSR Layout has a connector that the schema does not know: its catalog is PARTIAL. */
export function voltpathCatalogs(): Catalog[] {
  return [...voltpathHubs.map(hubCatalog), vanCatalog()];
}

function hubCatalog(hub: Hub): Catalog {
  const place = placeOf(hub.place);
  const chargers = chargersOf(voltpath, hub);
  const resources = place.code === 'HSR' ? chargers.map(misspellFirst) : chargers;
  return {
    id: `voltpath-${place.neighbourhood.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    descriptor: {
      name: `Voltpath ${place.neighbourhood}`,
      shortDesc: `Charging in ${place.street}, ${hub.at}`,
    },
    provider: {
      ...providerOf(voltpath),
      availableAt: [{ geo: pointNear(place, 0, 0), address: addressOf(place) }],
    },
    resources,
    offers: tariffsOf(
      voltpath,
      chargers.filter(({ id }) => place.code !== 'HSR' || id !== chargers[0]?.id),
    ),
  };
}

/** A common mistake: the schema spells it CCS2. */
function misspellFirst(one: Resource, index: number): Resource {
  if (index > 0 || !one.resourceAttributes) return one;
  const { attributes, ...rest } = one.resourceAttributes;
  return {
    ...one,
    resourceAttributes: { ...rest, attributes: { ...(attributes as object), connectorType: 'CCS-2' } },
  };
}

/** Chargers on wheels: their location is an area, not a point. */
function vanCatalog(): Catalog {
  const area = areaAround(placeOf('MAR'), [5200, 4800, 4100, 4600, 5400, 4900, 3900, 4700]);
  return {
    id: 'voltpath-vans',
    descriptor: { name: 'Voltpath Vans', shortDesc: 'A charger comes to you, in the east of the city' },
    provider: { ...providerOf(voltpath), availableAt: [{ geo: area }] },
    resources: [1, 2].map((number) => {
      const shown = {
        name: `Van ${number}: mobile DC charger`,
        shortDesc: '30 kW, CCS2; there within the hour',
      };
      const where = { openingHours: longDay, location: { geo: area } };
      return charger(voltpath, `VAN-${number}`, shown, { ...ccs2, kilowatts: 30 }, where);
    }),
    offers: tariffsOf({ ...voltpath, rupeesPerKilowattHour: { fast: 32, slow: 32, night: 38 } }, [
      { id: 'voltpath:VAN-1', descriptor: { name: 'Van 1: DC charger' } },
      { id: 'voltpath:VAN-2', descriptor: { name: 'Van 2: DC charger' } },
    ]).slice(0, 2),
  };
}

const kaveri: Operator = {
  ...{ id: 'kaveri', name: 'Kaveri Charge', make: 'Kaveri' },
  about: 'Chargers in the west and the south of Bengaluru',
  rupeesPerKilowattHour: { fast: 16, slow: 9.5, night: 12.5 },
};

export function kaveriCatalogs(): Catalog[] {
  return [
    cityStationCatalog(),
    hostedCatalog(kaveri, 'kaveri-west', 'Kaveri West', 'Charging in the west of Bengaluru', [
      { place: 'RAJ', arrangement: 'street', at: 'beside the temple tank', opens: allDay },
      { place: 'VIJ', arrangement: 'mall', at: 'metro car park', opens: longDay },
      { place: 'KEN', arrangement: 'plaza', at: 'at the bus terminal', opens: allDay },
    ]),
    hostedCatalog(kaveri, 'kaveri-south', 'Kaveri South', 'Charging in the south of Bengaluru', [
      { place: 'BAN', arrangement: 'street', at: 'below the metro', opens: allDay },
      { place: 'JPN', arrangement: 'mall', at: 'first basement', opens: shopHours },
      { place: 'BTM', arrangement: 'depot', at: 'bus depot', opens: allDay },
    ]),
  ];
}

/** A catalog whose only location is the provider's: three chargers at KSR Bengaluru, the main railway station. */
function cityStationCatalog(): Catalog {
  const station = placeOf('SBC');
  const bays = [
    ['Forecourt, left: DC fast charger', 60, 'CCS2'],
    ['Forecourt, right: DC fast charger', 60, 'CHAdeMO'],
    ['Car park: AC charger', 11, 'Type2'],
  ] as const;
  const resources = bays.map(([name, kilowatts, connectorType], index) => {
    const shown = { name, shortDesc: `${kilowatts} kW, ${connectorType}` };
    return charger(kaveri, `SBC-${index + 1}`, shown, { ...ccs2, kilowatts, connectorType });
  });
  return {
    id: 'kaveri-city-station',
    descriptor: { name: 'Kaveri City Station', shortDesc: 'Charging at KSR Bengaluru railway station' },
    provider: {
      ...providerOf(kaveri),
      availableAt: [{ geo: pointNear(station, 0, 0), address: addressOf(station) }],
    },
    resources,
    offers: [
      {
        id: 'kaveri:per-kwh',
        descriptor: { name: 'By energy' },
        resourceIds: resources.map(({ id }) => id),
        considerations: [perKilowattHour(kaveri.rupeesPerKilowattHour.fast, 'per-kwh')],
      },
    ],
  };
}

const minchu: Operator = {
  ...{ id: 'minchu', name: 'Minchu Charge', make: 'Minchu' },
  about: 'Lightning for the north and the east of Bengaluru',
  rupeesPerKilowattHour: { fast: 17.25, slow: 10, night: 13 },
};

/** Published as signed files of another node. The file of the second catalog is changed after signing. */
export function minchuCatalogs(): [sound: Catalog, tampered: Catalog] {
  return [
    hostedCatalog(minchu, 'minchu-north', 'Minchu North', 'Charging on the way to the airport', [
      { place: 'YEL', arrangement: 'plaza', at: 'beside the lake', opens: allDay },
    ]),
    hostedCatalog(minchu, 'minchu-east', 'Minchu East', 'Charging in the east of Bengaluru', [
      { place: 'KAL', arrangement: 'street', at: 'next to the market', opens: longDay },
      { place: 'KRP', arrangement: 'street', at: 'at the hanging bridge', opens: allDay },
    ]),
  ];
}

/** A catalog of several hubs: each charger has a location, the provider has none. */
function hostedCatalog(operator: Operator, id: string, name: string, about: string, hubs: readonly Hub[]) {
  const chargers = hubs.map((hub) => chargersOf(operator, hub));
  return {
    id,
    descriptor: { name, shortDesc: about },
    provider: providerOf(operator),
    resources: chargers.flat(),
    offers: chargers.flatMap((ofHub) => tariffsOf(operator, ofHub)),
  };
}

function providerOf({ id, name, about }: Operator) {
  return { id, descriptor: { name, shortDesc: about } };
}
