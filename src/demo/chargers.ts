import type { Offer, Resource, TimePeriod } from '../protocol/catalog.ts';
import { addressOf, type Place, placeOf, pointNear } from './places.ts';

// Charging hubs: a hub is a place with one of a few arrangements of bays. The arrangement lists the chargers.

export interface Operator {
  /** The prefix of the ids of its resources and offers. */
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

const rapid: Bay = {
  ...{ kind: 'DC rapid charger', kilowatts: 120, connectorType: 'CCS2', controlProtocol: 'OCPP_2.0.1' },
};
const fast: Bay = {
  ...{ kind: 'DC fast charger', kilowatts: 60, connectorType: 'CCS2', controlProtocol: 'OCPP_2.0.1' },
};
const chademo: Bay = { ...fast, kilowatts: 50, connectorType: 'CHAdeMO', controlProtocol: 'OCPP_1.6' };
const gbt: Bay = { ...fast, kilowatts: 30, connectorType: 'GB_T', controlProtocol: 'OCPP_1.6' };
const bus: Bay = { ...rapid, kind: 'DC bus charger', kilowatts: 240, controlProtocol: 'OCPP_2.1' };
const ac: Bay = {
  ...{ kind: 'AC charger', kilowatts: 22, connectorType: 'Type2', controlProtocol: 'OCPP_2.0.1' },
};
const slow: Bay = { ...ac, kilowatts: 7.4, controlProtocol: 'OCPP_1.6' };
const scooter: Bay = { ...slow, kind: 'Two-wheeler socket', kilowatts: 3.3, connectorType: 'Other' };
const v2g: Bay = {
  ...{ kind: 'Vehicle to grid', kilowatts: 22, connectorType: 'CCS2', controlProtocol: 'ISO_15118_20' },
  isBidirectional: true,
};

const arrangements = {
  plaza: [rapid, rapid, fast, fast, chademo, ac, ac, slow, v2g],
  street: [fast, fast, chademo, ac, slow, slow],
  mall: [fast, fast, ac, ac, ac, slow, scooter, scooter],
  depot: [bus, bus, rapid, rapid, gbt, ac],
} as const;

export interface Hub {
  place: string;
  arrangement: keyof typeof arrangements;
  /** Where the bays are, after the name of the street. */
  at: string;
  opens: string;
}

export function chargersOf(operator: Operator, hub: Hub): Resource[] {
  const place = placeOf(hub.place);
  return arrangements[hub.arrangement].map((bay, index) => chargerAt(operator, hub, place, bay, index));
}

function chargerAt(
  { id: operatorId, make }: Operator,
  { at, opens }: Hub,
  place: Place,
  { kind, kilowatts, connectorType, controlProtocol, isBidirectional = false }: Bay,
  index: number,
): Resource {
  const number = index + 1;
  const id = `${place.code}-${number}`;
  return {
    id: `${operatorId}:${id}`,
    descriptor: {
      name: `${place.neighbourhood}, bay ${number}: ${kind}`,
      shortDesc: `${kilowatts} kW, ${connectorType === 'Other' ? '16 A socket' : connectorType}; ${at}`,
    },
    resourceAttributes: {
      '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
      '@type': 'EnergyResourceEVCharger',
      id,
      type: isBidirectional ? 'EV_V2G' : 'EV_CHARGER',
      attributes: {
        make,
        ratedPower: { value: kilowatts, unit: 'kW' },
        connectorType,
        controlProtocol,
        ...(isBidirectional && { v2xProtocol: 'ISO_15118_20_AC_BPT' }),
        openingHours: opens,
        availability: { status: index % 3 === 2 ? 'CHARGING' : 'AVAILABLE' },
        location: {
          geo: pointNear(place, bayMetres * index, -bayMetres * (index % 2)),
          address: addressOf(place),
        },
      },
    },
  };
}

/** The distance from one bay to the next. */
const bayMetres = 4;

/** Prices by the speed of the charger, and a lower one at night. */
export function tariffsOf(operator: Operator, chargers: readonly Resource[]): Offer[] {
  const isFast = ({ descriptor }: Resource) => /: DC /.test(descriptor?.name ?? '');
  const [quick, gentle] = [chargers.filter(isFast), chargers.filter((charger) => !isFast(charger))];
  const { fast: day, slow: gently, night } = operator.rupeesPerKilowattHour;
  return [
    tariff(operator, 'day', 'Fast charging by day', quick, day, {
      startTime: '06:00:00+05:30',
      endTime: '22:00:00+05:30',
    }),
    tariff(operator, 'night', 'Fast charging by night', quick, night, {
      startTime: '22:00:00+05:30',
      endTime: '06:00:00+05:30',
    }),
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
    considerations: [priceOf(rupees, { type: 'ENERGY', unit: 'kWh' })],
    ...(validity && { validity }),
  };
}

export function priceOf(rupees: number, more: { type?: string; unit?: string } = {}) {
  return {
    id: 'price',
    considerationAttributes: {
      '@context': 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld',
      '@type': 'PriceSpecification',
      ...more,
      value: rupees,
      currency: 'INR',
    },
  };
}
