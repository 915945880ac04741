import type { Catalog } from './catalog.ts';

// The parties of the examples, and the catalog that all examples use.

export const networkId = 'nfh.global/beckn-nodes';
const chargerContext = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';
export const exampleIds = {
  message: '0a6f0d3c-5f0b-4b52-9d64-6e1c6a6f2c11',
  transaction: 'b9f4a7de-23c1-4f0e-8d53-1f6d2a3c7e90',
  subscription: '1b4e28ba-2fa1-41d2-883f-0016d3cca427',
  othersSubscription: '6f1c2a58-7d3e-4e0b-9a41-5b7c8d9e0f12',
  inactiveSubscription: 'c3d2e1f0-1a2b-4c3d-8e5f-60718293a4b5',
  unknownSubscription: '00000000-0000-4000-8000-000000000000',
};
export const provider = { bppId: 'provider.example.org', bppUri: 'https://provider.example.org/beckn' };
export const catalogService = { bppId: 'catalog.example.org', bppUri: 'https://catalog.example.org' };
export const discoveryService = { bapId: 'discovery.example.org', bapUri: 'https://discovery.example.org' };
export const consumer = { bapId: 'consumer.example.org', bapUri: 'https://consumer.example.org/beckn' };

export const catalog: Catalog = {
  id: 'voltpath-indiranagar',
  descriptor: { name: 'Voltpath Indiranagar', shortDesc: 'Fast charging on 100 Feet Road' },
  provider: {
    id: 'voltpath',
    descriptor: { name: 'Voltpath Charging' },
    availableAt: [
      {
        geo: { type: 'Point', coordinates: [77.6408, 12.9719] },
        address: {
          streetAddress: '100 Feet Road, Indiranagar',
          addressLocality: 'Bengaluru',
          addressRegion: 'Karnataka',
          postalCode: '560038',
          addressCountry: 'IN',
        },
      },
    ],
  },
  resources: [
    {
      id: 'voltpath:IND-1',
      descriptor: { name: 'Bay 1: DC fast charger', shortDesc: '60 kW, CCS2' },
      resourceAttributes: {
        '@context': chargerContext,
        '@type': 'EnergyResourceEVCharger',
        id: 'IND-1',
        type: 'EV_CHARGER',
        attributes: { ratedPower: { value: 60, unit: 'kW' }, connectorType: 'CCS2' },
      },
    },
  ],
  offers: [
    {
      id: 'voltpath:day-rate',
      descriptor: { name: 'Day rate' },
      resourceIds: ['voltpath:IND-1'],
      considerations: [
        {
          id: 'per-kwh',
          considerationAttributes: {
            '@context': 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld',
            '@type': 'PriceSpecification',
            value: 18.5,
            currency: 'INR',
          },
        },
      ],
    },
  ],
};
/** A catalog as services forward it: with the node that publishes it. */
export const passedOn = { ...catalog, ...provider };
