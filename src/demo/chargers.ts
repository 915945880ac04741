import type { Offer, Resource, TimePeriod } from '../protocol/catalog.ts';
import { addressOf, type Place, placeOf, pointNear } from './places.ts';

// Charging hubs: a hub is a place with one of a few arrangements of bays, which list the chargers.

export interface Operator {
  id: string;
  name: string;
  about: string;
  make: string;
  rupeesPerKilowattHour: { fast: number; slow: number; night: number };
}

interface Bay {
  kind: string;
  kilowatts: number;
  connectorType: string;
  controlProtocol: string;
  isBidirectional?: boolean;
}

export const ccs2 = { connectorType: 'CCS2', controlProtocol: 'OCPP_2.0.1' };
const rapid: Bay = { ...ccs2, kind: 'DC rapid charger', kilowatts: 120 };
const fast: Bay = { ...ccs2, kind: 'DC fast charger', kilowatts: 60 };
const chademo: Bay = { ...fast, kilowatts: 50, connectorType: 'CHAdeMO', controlProtocol: 'OCPP_1.6' };
const gbt: Bay = { ...fast, kilowatts: 30, connectorType: 'GB_T', controlProtocol: 'OCPP_1.6' };
const bus: Bay = { ...rapid, kind: 'DC bus charger', kilowatts: 240, controlProtocol: 'OCPP_2.1' };
const ac: Bay = { ...ccs2, kind: 'AC charger', kilowatts: 22, connectorType: 'Type2' };
const slow: Bay = { ...ac, kilowatts: 7.4, controlProtocol: 'OCPP_1.6' };
const scooter: Bay = { ...slow, kind: 'Two-wheeler socket', kilowatts: 3.3, connectorType: 'Other' };
const vehicleToGrid = { kind: 'Vehicle to grid', controlProtocol: 'ISO_15118_20', isBidirectional: true };
const v2g: Bay = { ...ac, ...vehicleToGrid, connectorType: 'CCS2' };

const arrangements = {
  plaza: [rapid, rapid, fast, fast, chademo, ac, ac, slow, v2g],
  street: [fast, fast, chademo, ac, slow, slow],
  mall: [fast, fast, ac, ac, ac, slow, scooter, scooter],
  depot: [bus, bus, rapid, rapid, gbt, ac],
} as const;

export interface Hub {
  place: string;
  arrangement: keyof typeof arrangements;
  at: string;
  opens: string;
}

export function chargersOf(operator: Operator, hub: Hub): Resource[] {
  const place = placeOf(hub.place);
  return arrangements[hub.arrangement].map((bay, index) => chargerAt(operator, hub, place, bay, index));
}

function chargerAt(operator: Operator, { at, opens }: Hub, place: Place, bay: Bay, index: number): Resource {
  const { kind, kilowatts, connectorType } = bay;
  const number = index + 1;
  const descriptor = {
    name: `${place.neighbourhood}, bay ${number}: ${kind}`,
    shortDesc: `${kilowatts} kW, ${connectorType === 'Other' ? '16 A socket' : connectorType}; ${at}`,
  };
  const geo = pointNear(place, bayMetres * index, -bayMetres * (index % 2));
  const location = { geo, address: addressOf(place) };
  const availability = { status: index % 3 === 2 ? 'CHARGING' : 'AVAILABLE' };
  const more = { openingHours: opens, availability, location };
  return charger(operator, `${place.code}-${number}`, descriptor, bay, more);
}

export function charger(
  { id: operatorId, make }: Operator,
  id: string,
  descriptor: Resource['descriptor'],
  { kilowatts, connectorType, controlProtocol, isBidirectional = false }: Omit<Bay, 'kind'>,
  more: object = {},
): Resource {
  return {
    id: `${operatorId}:${id}`,
    descriptor,
    resourceAttributes: {
      '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
      '@type': 'EnergyResourceEVCharger',
      id,
      type: isBidirectional ? 'EV_V2G' : 'EV_CHARGER',
      attributes: {
        ...{ make, ratedPower: { value: kilowatts, unit: 'kW' }, connectorType, controlProtocol },
        ...(isBidirectional && { v2xProtocol: 'ISO_15118_20_AC_BPT' }),
        ...more,
      },
    },
  };
}

const bayMetres = 4;

const byDay = { startTime: '06:00:00+05:30', endTime: '22:00:00+05:30' };
const byNight = { startTime: byDay.endTime, endTime: byDay.startTime };

/** Prices by the speed of the charger, lower at night. */
export function tariffsOf(operator: Operator, chargers: readonly Resource[]): Offer[] {
  const isFast = ({ descriptor }: Resource) => /: DC /.test(descriptor?.name ?? '');
  const [quick, gentle] = [chargers.filter(isFast), chargers.filter((charger) => !isFast(charger))];
  const { fast: day, slow: gently, night } = operator.rupeesPerKilowattHour;
  return [
    tariff(operator, 'day', 'Fast charging by day', quick, day, byDay),
    tariff(operator, 'night', 'Fast charging by night', quick, night, byNight),
    tariff(operator, 'slow', 'Slow charging', gentle, gently),
  ];
}

function tariff(
  { id }: Operator,
  kind: string,
  name: string,
  chargers: readonly Resource[],
  rupees: number,
  validity?: TimePeriod,
): Offer {
  const place = chargers[0]?.id.replace(/^.*:|-\d+$/g, '') ?? '';
  return {
    id: `${id}:${place}:${kind}`,
    descriptor: { name, shortDesc: `₹${rupees} per kWh` },
    resourceIds: chargers.map((charger) => charger.id),
    considerations: [perKilowattHour(rupees)],
    ...(validity && { validity }),
  };
}

export const perKilowattHour = (rupees: number, id?: string) =>
  priceOf(rupees, { id, type: 'ENERGY', unit: 'kWh' });

export function priceOf(
  rupees: number,
  { id = 'price', ...more }: { id?: string; type?: string; unit?: string } = {},
) {
  return {
    id,
    considerationAttributes: {
      '@context': 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld',
      '@type': 'PriceSpecification',
      ...more,
      value: rupees,
      currency: 'INR',
    },
  };
}
