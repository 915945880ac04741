import { describe, expect, it } from 'vitest';
import { schemaAddress, schemaIdentity } from './schema-address.ts';

describe('the identity of a schema', () => {
  const coffee = 'https://schema.nfh.global/Coffee/v1.1/context.jsonld';

  it.each([
    coffee,
    'https://schema.beckn.io/Coffee/v1.1/context.jsonld',
    'https://schema.beckn.io/Coffee/1.1',
    'http://schema.beckn.io/Coffee/v1.1/',
    'https://schema.nfh.global/Coffee/v1.1/attributes.yaml',
    'https://raw.githubusercontent.com/beckn/schemas/main/schema/Coffee/v1.1/context.jsonld',
    'https://raw.githubusercontent.com/beckn/schemas/refs/heads/main/schema/Coffee/v1.1',
    'https://raw.githubusercontent.com/beckn/schemas/refs/heads/feature/new/schema/Coffee/v1.1/attributes.yaml',
  ])('is registry, type and version: %s', (address) => {
    expect(schemaIdentity(address)).toBe(coffee);
    expect(schemaIdentity(`${address}#beckn:Coffee`)).toBe(`${coffee}#Coffee`);
    expect(schemaAddress(address)).toBe('https://schema.nfh.global/Coffee/1.1');
  });

  it.each([
    'https://schema.nfh.global/Coffee/v1.2/context.jsonld',
    'https://schema.nfh.global/coffee/v1.1/context.jsonld',
  ])('is another for another type or version: %s', (address) => {
    expect(schemaIdentity(address)).not.toBe(coffee);
  });

  it.each([
    'https://schema.example/Coffee/v1.1/context.jsonld',
    'https://schema.example/Coffee/v1.1#Coffee',
    'https://schema.nfh.global.example/Coffee/v1.1',
    'https://raw.githubusercontent.com/somebody/schemas/main/schema/Coffee/v1.1',
    'https://raw.githubusercontent.com/beckn/schemas/schema/Coffee/v1.1',
    'urn:coffee',
    '',
  ])('is the text itself elsewhere: %s', (text) => {
    expect(schemaIdentity(text)).toBe(text);
  });
});
