import { describe, expect, it } from 'vitest';
import { findCloseContext } from './close-context.ts';

const known = [
  'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/schema.json',
  'https://schema.nfh.global/EnergyResourceEVCharger/v1.9/schema.json',
  'https://schema.nfh.global/EnergyResourceEVCharger/v1.10/attributes.yaml',
  'https://schema.nfh.global/Tea/v1/schema.json',
];
const charger = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.10/context.jsonld';

describe('A context that nobody knows', () => {
  it.each([
    [
      'names another version',
      'https://schema.nfh.global/EnergyResourceEVCharger/v1.0/context.jsonld',
      charger,
    ],
    ['names no version', 'https://schema.nfh.global/EnergyResourceEVCharger/context.jsonld', charger],
    ['is misspelt', 'https://schema.beckn.io/EnergyResouceEVChargers/v1.1/context.jsonld', charger],
    ['differs in case', 'https://schema.nfh.global/energyresourceevcharger/2.0', charger],
    ['is something else', 'https://schema.nfh.global/EnergyResource/v1.1/context.jsonld', undefined],
    ['is short, and another word', 'https://schema.nfh.global/Sea/v1/context.jsonld', undefined],
    ['is no address', 'EnergyResourceEVCharger', undefined],
    ['is endless', `https://schema.nfh.global/${'x'.repeat(10_000)}/v1/context.jsonld`, undefined],
    ['is a URN', 'urn:example:EnergyResourceEVCharger', undefined],
    ['is an origin alone', 'https://schema.nfh.global', undefined],
  ])('%s: %s is close to %s', (_, context, close) => {
    expect(findCloseContext(context, known)).toBe(close);
  });
});
