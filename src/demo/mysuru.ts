import type { Catalog, Resource } from '../protocol/catalog.ts';

/** The catalog of Kaveri outside of the city: three chargers at a railway station. */
export const mysuruCatalog: Catalog = {
  id: 'kaveri-mysuru',
  descriptor: { name: 'Kaveri Mysuru', shortDesc: 'Charging at Mysuru railway station' },
  provider: {
    id: 'kaveri',
    descriptor: { name: 'Kaveri Charge', shortDesc: 'Chargers along the road from Bengaluru to Mysuru' },
    availableAt: [
      {
        geo: { type: 'Point', coordinates: [76.6454, 12.3163] },
        address: {
          streetAddress: 'Station Road',
          addressLocality: 'Mysuru',
          addressRegion: 'Karnataka',
          postalCode: '570001',
          addressCountry: 'IN',
        },
      },
    ],
  },
  resources: [
    charger('MYS-1', 'Forecourt, left: DC fast charger', { kilowatts: 60, connectorType: 'CCS2' }),
    charger('MYS-2', 'Forecourt, right: DC fast charger', { kilowatts: 60, connectorType: 'CHAdeMO' }),
    charger('MYS-3', 'Car park: AC charger', { kilowatts: 11, connectorType: 'Type2' }),
  ],
  offers: [
    {
      id: 'kaveri:per-kwh',
      descriptor: { name: 'By energy' },
      resourceIds: ['kaveri:MYS-1', 'kaveri:MYS-2', 'kaveri:MYS-3'],
      considerations: [
        {
          id: 'per-kwh',
          considerationAttributes: {
            '@context': 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld',
            '@type': 'PriceSpecification',
            value: 16,
            currency: 'INR',
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
