import type { Catalog, Resource } from '../protocol/catalog.ts';
import { addressOf, placeOf, pointNear } from './places.ts';

const station = placeOf('SBC');

/** A catalog with one location, that of its provider: three chargers of Kaveri at KSR Bengaluru, the main railway station. */
export const cityStationCatalog: Catalog = {
  id: 'kaveri-city-station',
  descriptor: { name: 'Kaveri City Station', shortDesc: 'Charging at KSR Bengaluru railway station' },
  provider: {
    id: 'kaveri',
    descriptor: { name: 'Kaveri Charge', shortDesc: 'Chargers in the west and the south of Bengaluru' },
    availableAt: [{ geo: pointNear(station, 0, 0), address: addressOf(station) }],
  },
  resources: [
    charger('SBC-1', 'Forecourt, left: DC fast charger', { kilowatts: 60, connectorType: 'CCS2' }),
    charger('SBC-2', 'Forecourt, right: DC fast charger', { kilowatts: 60, connectorType: 'CHAdeMO' }),
    charger('SBC-3', 'Car park: AC charger', { kilowatts: 11, connectorType: 'Type2' }),
  ],
  offers: [
    {
      id: 'kaveri:per-kwh',
      descriptor: { name: 'By energy' },
      resourceIds: ['kaveri:SBC-1', 'kaveri:SBC-2', 'kaveri:SBC-3'],
      considerations: [
        {
          id: 'per-kwh',
          considerationAttributes: {
            '@context': 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld',
            '@type': 'PriceSpecification',
            ...{ type: 'ENERGY', unit: 'kWh', value: 16, currency: 'INR' },
          },
        },
      ],
    },
  ],
};

function charger(
  id: string,
  name: string,
  { kilowatts, connectorType }: { kilowatts: number; connectorType: string },
): Resource {
  return {
    id: `kaveri:${id}`,
    descriptor: { name, shortDesc: `${kilowatts} kW, ${connectorType}` },
    resourceAttributes: {
      '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
      '@type': 'EnergyResourceEVCharger',
      id,
      type: 'EV_CHARGER',
      attributes: {
        make: 'Kaveri',
        ratedPower: { value: kilowatts, unit: 'kW' },
        connectorType,
        controlProtocol: 'OCPP_2.0.1',
      },
    },
  };
}
