import { describe, expect, it } from 'vitest';
import {
  otherAddresses,
  type SchemaAliases,
  schemaAddress,
  schemaIdentities,
  schemaIdentity,
} from './schema-address.ts';

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
    'https://schema.nfh.global.example/Coffee/v1.1',
    'https://raw.githubusercontent.com/somebody/schemas/main/schema/Coffee/v1.1',
    'https://raw.githubusercontent.com/beckn/schemas/schema/Coffee/v1.1',
  ])('has a registry of its own elsewhere: %s', (address) => {
    const [folder = ''] = address.split('/v1.1');
    expect(schemaIdentity(address)).toBe(`${folder}/v1.1/context.jsonld`);
    expect(schemaIdentity(`${folder}/1.1#a:Coffee`)).toBe(`${folder}/v1.1/context.jsonld#Coffee`);
  });

  it.each([
    'https://schema.example/Coffee/context.jsonld',
    'https://schema.example/Coffee/v1.1?draft',
    'https://schema.example/v1.1',
    'urn:Coffee/v1.1',
    '',
  ])('is the text itself where it has no type or no version: %s', (text) => {
    expect(schemaIdentity(text)).toBe(text);
  });
});

describe('aliases', () => {
  const aliases: SchemaAliases = [
    ['https://mirror.example/schemas/', 'https://schema.beckn.io/'],
    ['https://mirror.example/schemas/old/', 'https://schemas.example/'],
    ['https://github.example/', 'https://raw.githubusercontent.com/beckn/schemas/main/schema/'],
  ];
  const at = (prefix: string) => `${prefix}Coffee/v1/context.jsonld#Coffee`;
  const [mirror, github] = ['https://mirror.example/schemas/', 'https://github.example/'].map(at);
  const registered = at('https://schema.nfh.global/');

  it.each([
    ['https://mirror.example/schemas/Coffee/1#beckn:Coffee', [mirror, registered, github]],
    ['https://schema.beckn.io/Coffee/v1#Coffee', [registered, mirror, github]],
    [
      at('https://schemas.example/'),
      [at('https://schemas.example/'), at(`https://mirror.example/schemas/old/`)],
    ],
    [at('https://mirror.example/schemas-of-others/'), [at('https://mirror.example/schemas-of-others/')]],
    ['urn:coffee', ['urn:coffee']],
  ])('add names to what is asked for, and the longest prefix counts: %s', (asked, names) => {
    expect(new Set(schemaIdentities([asked], aliases))).toEqual(new Set(names));
  });

  it('make one address of all in lookups, and further ones for references', () => {
    expect(schemaAddress('https://github.example/Coffee/v1/schema.json', aliases)).toBe(
      'https://schema.nfh.global/Coffee/1',
    );
    expect(otherAddresses('https://schema.nfh.global/Coffee/v1/schema.json', aliases)).toEqual(
      [
        ...['mirror.example/schemas', 'github.example', 'schema.beckn.io'],
        ...['main', 'refs/heads/main'].map(
          (branch) => `raw.githubusercontent.com/beckn/schemas/${branch}/schema`,
        ),
      ].map((prefix) => `https://${prefix}/Coffee/v1/schema.json`),
    );
  });

  it('may give the addresses of the public registry another meaning, whichever of them is named', () => {
    const own: SchemaAliases = [['https://schema.beckn.io/', 'https://mirror.example/']];
    const names = [registered, at('https://mirror.example/')];
    for (const prefix of [
      'https://schema.nfh.global/',
      'https://schema.beckn.io/',
      'https://mirror.example/',
    ]) {
      expect(new Set(schemaIdentities([at(prefix)], own))).toEqual(new Set(names));
      expect(schemaAddress(`${prefix}Coffee/v1`, own)).toBe('https://mirror.example/Coffee/1');
    }
    const others = otherAddresses('https://schema.nfh.global/Coffee/v1', own);
    expect(others).toContain('https://mirror.example/Coffee/v1');
    expect(others).toContain('https://schema.beckn.io/Coffee/v1');
  });
});
