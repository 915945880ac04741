import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Interest, matchesInterest, networksFor, schemaTypesOf } from './match.ts';
import { schemaIdentity } from './schema-address.ts';

const charger = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';
const offer = 'https://schema.beckn.io/RetailOffer/v2.1/context.jsonld';
const price = 'https://schema.beckn.io/RetailConsideration/v2.1/context.jsonld';

const catalog = {
  resources: [
    { id: 'r1', resourceAttributes: { '@context': charger, '@type': 'EnergyResourceEVCharger' } },
    { id: 'r2' },
  ],
  offers: [
    {
      id: 'o1',
      offerAttributes: { '@context': offer, '@type': 'RetailOffer' },
      considerations: [
        { id: 'c1', considerationAttributes: { '@context': price, '@type': 'RetailConsideration' } },
        { id: 'c2' },
      ],
    },
    { id: 'o2' },
  ],
};

describe('schemaTypesOf', () => {
  it('has the contexts of resource, offer and consideration attributes, bare and with their type', () => {
    expect([...schemaTypesOf(catalog)].sort()).toEqual(
      [
        charger,
        `${charger}#EnergyResourceEVCharger`,
        ...[offer, `${offer}#RetailOffer`, price, `${price}#RetailConsideration`].map(schemaIdentity),
      ].sort(),
    );
  });

  it('is empty for a catalog without typed attributes', () => {
    expect(schemaTypesOf({ resources: [{ id: 'r' }] }).size).toBe(0);
    expect(schemaTypesOf({}).size).toBe(0);
  });
});

describe('matchesInterest', () => {
  const matchable = {
    networkIds: ['a.example/retail', 'b.example/energy'],
    schemaTypes: schemaTypesOf(catalog),
  };

  it.each([
    ['nothing asked for', {}, true],
    ['empty lists', { networkIds: [], schemaTypes: [] }, true],
    ['a network of the catalog', { networkIds: ['b.example/energy'] }, true],
    ['one network of several', { networkIds: ['c.example/other', 'a.example/retail'] }, true],
    ['another network', { networkIds: ['c.example/other'] }, false],
    ['a network spelled otherwise', { networkIds: ['A.example/retail'] }, false],
    ['a schema of the catalog', { schemaTypes: [price] }, true],
    ['a type of a schema', { schemaTypes: [`${charger}#EnergyResourceEVCharger`] }, true],
    ['another type of that schema', { schemaTypes: [`${charger}#EnergyResource`] }, false],
    [
      'the same schema under another host',
      { schemaTypes: [charger.replace('nfh.global', 'beckn.io')] },
      true,
    ],
    [
      'a type of a schema in the public repository',
      {
        schemaTypes: [
          'https://raw.githubusercontent.com/beckn/schemas/refs/heads/draft/x/schema/RetailOffer/v2.1#RetailOffer',
        ],
      },
      true,
    ],
    ['network and schema', { networkIds: ['a.example/retail'], schemaTypes: [offer] }, true],
    [
      'the network, another schema',
      { networkIds: ['a.example/retail'], schemaTypes: ['https://x.example'] },
      false,
    ],
    ['the schema, another network', { networkIds: ['c.example/other'], schemaTypes: [offer] }, false],
  ])('%s: %j', (_, interest, expected) => {
    const { schemaTypes = [] }: Interest = interest;
    const named = { ...interest, schemaTypes: schemaTypes.map(schemaIdentity) };
    expect(matchesInterest(named, matchable)).toBe(expected);
  });

  it('an untyped catalog matches only those who ask for no schema', () => {
    const untyped = { networkIds: ['a.example/retail'], schemaTypes: new Set<string>() };
    expect(matchesInterest({ networkIds: ['a.example/retail'] }, untyped)).toBe(true);
    expect(matchesInterest({ schemaTypes: [offer] }, untyped)).toBe(false);
  });
});

describe('networksFor', () => {
  const matchable = { networkIds: ['net/a', 'net/b', 'net/c'], schemaTypes: new Set(['s']) };

  it('names the networks of the subscriptions that match, once each', () => {
    const interests = [
      { networkIds: ['net/a', 'net/x'] },
      { networkIds: ['net/a', 'net/b'], schemaTypes: ['s'] },
    ];
    expect(networksFor(interests, matchable)).toEqual(['net/a', 'net/b']);
  });

  it('leaves out the networks of a subscription whose schema types do not match', () => {
    expect(
      networksFor([{ networkIds: ['net/a'] }, { networkIds: ['net/b'], schemaTypes: ['t'] }], matchable),
    ).toEqual(['net/a']);
  });

  it('names all networks to a subscription that names none', () => {
    expect(networksFor([{ schemaTypes: ['s'] }], matchable)).toEqual(['net/a', 'net/b', 'net/c']);
  });

  it('is empty exactly when no subscription matches', () => {
    const text = fc.constantFrom('p', 'q', 'r');
    const texts = fc.array(text, { maxLength: 2 });
    const interest = fc.record({ networkIds: texts, schemaTypes: texts }, { requiredKeys: [] });
    const any = fc.record({
      networkIds: fc.array(text, { minLength: 1, maxLength: 3 }),
      schemaTypes: texts.map((items) => new Set(items)),
    });
    fc.assert(
      fc.property(fc.array(interest, { maxLength: 3 }), any, (interests, subject) => {
        const isFor = interests.some((one) => matchesInterest(one, subject));
        expect(networksFor(interests, subject).length > 0).toBe(isFor);
      }),
    );
  });
});
