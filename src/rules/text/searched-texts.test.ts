import { describe, expect, it } from 'vitest';
import { textsOf, textsOfCatalog } from './searched-texts.ts';

const resource = {
  id: 'ev-charger-001',
  descriptor: {
    name: 'DC Fast Charger',
    shortDesc: 'High speed',
    longDesc: 'With CCS2',
    code: 'FC-60',
    thumbnailImage: 'charger.jpg',
  },
  category: { '@type': 'CategoryCode', name: 'EV Charging' },
  availableAt: [{ geo: { type: 'Point', coordinates: [77, 12] }, address: { addressLocality: 'Bengaluru' } }],
  resourceAttributes: {
    '@context': 'https://schema.example.org/Charger/v1/context.jsonld',
    '@type': 'Charger',
    connectors: [{ type: 'CCS2', power: 60, cable: true }],
    operatorId: 'op-1',
    website: 'https://example.org/hidden',
    batch: '0b6b2f6e-5b86-4a43-8a3c-0b7a6a2c1f01',
    commissioned: '2026-01-31T12:00:00Z',
    paid: 'no',
  },
};

describe('the texts that are searched', () => {
  it('are names, descriptions and text attributes at any depth', () => {
    expect(textsOf(resource)).toEqual([
      { field: 'name', text: 'DC Fast Charger' },
      { field: 'description', text: 'High speed' },
      { field: 'description', text: 'With CCS2' },
      { field: 'attribute', text: 'FC-60' },
      { field: 'attribute', text: 'EV Charging' },
      { field: 'attribute', text: 'Bengaluru' },
      { field: 'attribute', text: 'CCS2' },
      { field: 'attribute', text: 'no' },
    ]);
  });

  it('are those of catalog, provider and offer as well', () => {
    const provider = {
      id: 'p',
      descriptor: { name: 'EcoPower' },
      availableAt: [{ address: { streetAddress: '100 Ft Road' } }],
    };
    expect(textsOf(provider).map(({ text }) => text)).toEqual(['EcoPower', '100 Ft Road']);
    expect(textsOfCatalog({ descriptor: { name: 'Chargers' } })).toEqual([
      { field: 'name', text: 'Chargers' },
    ]);
    const offer = {
      id: 'o',
      descriptor: { name: 'Night rate' },
      resourceIds: ['ev-charger-001'],
      considerations: [
        { id: 'c', considerationAttributes: { '@context': 'urn:x', '@type': 'Price', note: 'cheap' } },
      ],
    };
    expect(textsOf(offer).map(({ text }) => text)).toEqual(['Night rate', 'cheap']);
  });
});
