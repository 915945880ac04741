import type { Action } from '../../../src/protocol/actions.ts';
import type { Context } from '../../../src/protocol/context.ts';
import type { PublishMessage } from '../../../src/protocol/publish-messages.ts';

/** The moment at which sample messages are written and read. */
export const sampleNow = new Date('2026-03-01T12:00:00Z');

/** A context with everything that any action needs. */
export function sampleContext(
  action: Pick<Action, 'name'>,
): Required<Pick<Context, 'bapId' | 'bapUri' | 'bppId' | 'bppUri'>> & Context {
  return {
    version: '2.0.0',
    action: action.name,
    messageId: '0b6b2f6e-5b86-4a43-8a3c-0b7a6a2c1f01',
    transactionId: '6d0f5f0e-2c2e-4a5e-9d8e-7c3f1b5a9a11',
    timestamp: sampleNow.toISOString(),
    bapId: 'ds.example.org',
    bapUri: 'https://ds.example.org/beckn',
    bppId: 'bpp.example.org',
    bppUri: 'https://bpp.example.org/beckn',
  };
}

/** A publish that uses every member that the schemas know. */
export function samplePublishMessage() {
  return {
    publishDirectives: [
      {
        catalogId: 'catalog-1',
        catalogType: 'REGULAR',
        updateMode: 'MERGE',
        visibleTo: ['nfh.global/beckn-nodes'],
        resourceDirectives: [
          {
            resourceId: 'resource-1',
            extends: { masterResourceId: 'master-1' },
            variant: { type: 'geo', id: 'bangalore', label: 'Bangalore region' },
          },
        ],
      },
    ],
    catalogs: [
      {
        id: 'catalog-1',
        descriptor: { name: 'Chargers', shortDesc: 'Fast ones', longDesc: 'Very fast ones', code: 'C1' },
        provider: {
          id: 'provider-1',
          descriptor: { name: 'Watts & Co', thumbnailImage: 'https://bpp.example.org/logo.png' },
          availableAt: [
            {
              geo: { type: 'Point', coordinates: [-0.129457, 51.507309] },
              address: {
                streetAddress: 'Cockspur Court',
                addressLocality: 'Whitehall',
                addressRegion: 'Greater London',
                postalCode: 'SW1A 2TS',
                addressCountry: 'GB',
              },
            },
          ],
          providerAttributes: {
            '@context': 'https://schema.example.org/Provider/v1/context.jsonld',
            '@type': 'P',
          },
          rating: { ratingValue: 4.5 },
        },
        resources: [
          {
            id: 'resource-1',
            descriptor: {
              name: 'CCS2, 60 kW',
              docs: [],
              mediaFile: [{ uri: 'https://bpp.example.org/1.jpg' }],
            },
            resourceAttributes: {
              '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
              '@type': 'EnergyResourceEVCharger',
              id: 'resource-1',
              type: 'EV_CHARGER',
            },
          },
          { id: 'resource-2' },
        ],
        offers: [
          {
            id: 'offer-1',
            descriptor: { name: 'Per kWh' },
            provider: { id: 'provider-1' },
            resourceIds: ['resource-1'],
            addOns: [{ id: 'add-on-1', descriptor: { name: 'Cable' } }],
            considerations: [
              {
                id: 'consideration-1',
                considerationAttributes: {
                  '@context': 'https://schema.example.org/Price/v1/context.jsonld',
                  '@type': 'Price',
                  value: 0.4,
                  currency: 'GBP',
                },
              },
            ],
            validity: {
              startDate: '2026-01-01',
              endDate: '2026-12-31T23:59:59Z',
              startTime: '22:00',
              endTime: '06:00Z',
            },
            offerAttributes: {
              '@context': 'https://schema.example.org/Offer/v1/context.jsonld',
              '@type': 'Offer',
            },
          },
        ],
        bppId: 'bpp.example.org',
        bppUri: 'https://bpp.example.org/beckn',
        isActive: true,
        validity: { startDate: '2026-01-01T00:00:00+05:30' },
      },
    ],
  } satisfies PublishMessage;
}
