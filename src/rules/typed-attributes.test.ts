import { describe, expect, it } from 'vitest';
import { coffee, faultsOf, typed } from '../../tests/support/catalogs/typed-coffee.ts';
import type { JsonObject } from '../protocol/json.ts';
import { createAttributeChecker, type DomainSchema } from './typed-attributes.ts';

describe('the schema that a context names', () => {
  it.each([
    'https://schema.nfh.global/Coffee/v1.1/context.jsonld',
    'https://schema.nfh.global/Coffee/1.1/context.jsonld',
    'https://schema.beckn.io/Coffee/v1.1/context.jsonld',
    'https://SCHEMA.beckn.io/Coffee/v1.1/context.jsonld#coffee',
    'https://schema.nfh.global/Coffee/v1.1',
    'https://schema.nfh.global/Coffee/v1.1/',
    'https://schema.nfh.global/Coffee/v1.1/schema.json',
    'https://schema.nfh.global/Coffee/v1.1/attributes.yaml',
    'https://raw.example.com/network/main/schema/Coffee/v1.1/context.jsonld',
  ])('%s is Coffee 1.1', (context) => {
    expect(faultsOf([coffee], typed({}, context))).toEqual(['$.origin']);
  });

  it.each([
    'https://schema.nfh.global/Coffee/v1.10/context.jsonld',
    'https://schema.nfh.global/Coffee/v1/context.jsonld',
    'https://schema.nfh.global/coffee/v1.1/context.jsonld',
    'https://schema.nfh.global/v1.1/context.jsonld',
    'https://schema.nfh.global/',
    'urn:coffee:1.1',
    'not an address',
  ])('%s is not', (context) => {
    expect(faultsOf([coffee], typed({}, context))).toEqual([]);
  });

  it('found by its address stands before one found by type and version', () => {
    const theirs = {
      address: 'https://theirs.example/Coffee/v1.1/schema.json',
      document: { required: ['roast'] },
    };
    const context = 'https://theirs.example/Coffee/v1.1/context.jsonld';
    expect(faultsOf([theirs, coffee], typed({}, context))).toEqual(['$.roast']);
    expect(faultsOf([theirs, coffee], typed({}))).toEqual(['$.origin']);
  });

  it('is the later one of two with the same address', () => {
    const own = {
      address: 'https://schema.beckn.io/Coffee/1.1/schema.json',
      document: { required: ['farm'] },
    };
    expect(faultsOf([coffee, own], typed({}))).toEqual(['$.farm']);
  });

  it('is also found under an address that is not of the usual form', () => {
    const odd = { address: 'https://odd.example/schemas?name=coffee', document: { required: ['farm'] } };
    expect(faultsOf([odd], typed({}, 'https://odd.example/schemas?name=coffee#Coffee'))).toEqual(['$.farm']);
  });
});

describe('the type', () => {
  it.each(['Coffee', 'beckn:Coffee', 'https://schema.nfh.global/Coffee', 'https://x.example/vocab#Coffee'])(
    '%s is Coffee',
    (type) => {
      expect(faultsOf([coffee], { ...typed({}), '@type': type })).toEqual(['$.origin']);
    },
  );

  it('may be the title of the schema', () => {
    const titled = { ...coffee, document: { ...coffee.document, title: 'CoffeeBeans' } };
    expect(faultsOf([titled], { ...typed({}), '@type': 'CoffeeBeans' })).toEqual(['$.origin']);
  });

  it('is refused when the context knows no such type: naming another does not escape the check', () => {
    const [fault] = createAttributeChecker({ schemas: [coffee] }).check({ ...typed({}), '@type': 'Tea' });
    expect(fault).toMatchObject({ code: 'SCH_SCHEMA_VALIDATION_FAILED', details: { path: "$['@type']" } });
  });
});

describe('check', () => {
  it('leaves @context and @type out, at the top level only', () => {
    const schema = (members: JsonObject) => [
      { ...coffee, document: { properties: members, additionalProperties: false } },
    ];
    expect(faultsOf(schema({}), typed({}))).toEqual([]);
    expect(
      faultsOf(schema({ part: { additionalProperties: false } }), typed({ part: { '@type': 'X' } })),
    ).toEqual(["$.part['@type']"]);
  });

  it('puts the place of the attributes before the path of the fault', () => {
    const at = ['message', 'catalogs', 0, 'resources', 3, 'resourceAttributes'];
    expect(createAttributeChecker({ schemas: [coffee] }).check(typed({ origin: 1 }), { at })).toEqual([
      {
        code: 'SCH_SCHEMA_VALIDATION_FAILED',
        message: 'message.catalogs[0].resources[3].resourceAttributes.origin must be a string, not a number',
        details: { path: '$.message.catalogs[0].resources[3].resourceAttributes.origin' },
      },
    ]);
  });

  it('lets attributes without a context pass: nobody says what they should be', () => {
    expect(faultsOf([coffee], { anything: true })).toEqual([]);
  });

  it('asserts formats', () => {
    const schema = { ...coffee, document: { properties: { at: { format: 'date-time' } } } };
    expect(faultsOf([schema], typed({ at: 'soon' }))).toEqual(['$.at']);
  });

  it('reports at most ten faults, and one when the value is huge', () => {
    const schema = { ...coffee, document: { properties: { list: { items: { type: 'string' } } } } };
    expect(faultsOf([schema], typed({ list: Array(100).fill(1) }))).toHaveLength(10);
    expect(faultsOf([schema], typed({ list: Array(100_000).fill(1) }))).toEqual(['$.list[0]']);
  });

  it('says only that there is a fault when asked to be brief', () => {
    const faults = createAttributeChecker({ schemas: [coffee] }).check(typed({}), { brief: true });
    expect(faults).toEqual([
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', message: 'does not conform to its schema' },
    ]);
  });

  it('is not fooled by names that every object inherits', () => {
    const schema = {
      ...coffee,
      document: { required: ['constructor', '__proto__'], properties: { toString: { type: 'string' } } },
    };
    expect(faultsOf([schema], typed({}))).toEqual(['$.constructor', '$.__proto__']);
    expect(faultsOf([schema], typed(JSON.parse('{"constructor":1,"__proto__":1,"toString":"x"}')))).toEqual(
      [],
    );
  });

  it('runs patterns in linear time', () => {
    const schema = { ...coffee, document: { properties: { origin: { pattern: '^(a+)+$' } } } };
    // Backtracking would take longer than the universe has existed; the test would not end.
    expect(faultsOf([schema], typed({ origin: `${'a'.repeat(50_000)}!` }))).toEqual(['$.origin']);
  });

  it.each([
    ['anyOf, by its place, where no branch got further', { origin: true }, '$.origin'],
    ['anyOf, by what is wrong inside the branch that fits', { origin: { farm: 1 } }, '$.origin.farm'],
  ])('names the fault of %s', (_, members, path) => {
    const farm = { type: 'object', properties: { farm: { type: 'string' } } };
    const schema = { ...coffee, document: { properties: { origin: { anyOf: [{ type: 'string' }, farm] } } } };
    expect(faultsOf([schema], typed(members))).toEqual([path]);
  });

  it('names the member that unevaluatedProperties refuses', () => {
    const schema = {
      ...coffee,
      document: { allOf: [{ properties: { origin: {} } }], unevaluatedProperties: false },
    };
    expect(faultsOf([schema], typed({ origin: 1, more: 1 }))).toEqual(['$.more']);
  });

  it('tells an index from a name that looks like one', () => {
    const schema = { ...coffee, document: { additionalProperties: { items: { type: 'string' } } } };
    expect(faultsOf([schema], typed({ 7: ['x', 1] }))).toEqual(["$['7'][1]"]);
  });
});

describe('a context that nobody knows', () => {
  const attributes = { '@context': 'https://unknown.example/Tea/v1/context.jsonld', '@type': 'Tea' };

  it('is accepted by default, and somebody is told', () => {
    const told: string[] = [];
    const checker = createAttributeChecker({
      schemas: [coffee],
      onUnknownContext: (context) => told.push(context),
    });
    expect(checker.check(attributes)).toEqual([]);
    expect(checker.check(attributes)).toEqual([]);
    expect(told).toEqual([attributes['@context'], attributes['@context']]);
  });

  it('is SCH_INVALID_JSONLD_CONTEXT by setting', () => {
    const checker = createAttributeChecker({ schemas: [coffee], unknownContext: 'reject' });
    expect(checker.check(attributes, { at: ['resourceAttributes'] })).toEqual([
      {
        code: 'SCH_INVALID_JSONLD_CONTEXT',
        message: expect.any(String),
        details: { path: "$.resourceAttributes['@context']" },
      },
    ]);
  });
});

describe('an OpenAPI document', () => {
  const openApi: DomainSchema = {
    address: 'https://schema.beckn.io/RetailOffer/v2.1/attributes.yaml',
    document: {
      openapi: '3.1.1',
      info: { title: 'Retail', version: '2.1' },
      components: {
        schemas: {
          RetailOffer: {
            type: 'object',
            required: ['price'],
            properties: { price: { $ref: '#/components/schemas/Price' }, 'x-note': true },
            discriminator: { propertyName: 'kind' },
          },
          Price: {
            type: 'object',
            required: ['value'],
            properties: { value: { type: 'number', format: 'double' } },
          },
        },
      },
    },
  };
  const context = 'https://schema.nfh.global/RetailOffer/2.1/context.jsonld';

  it('defines the types among its components', () => {
    const offer = { '@context': context, '@type': 'RetailOffer' };
    expect(faultsOf([openApi], offer)).toEqual(['$.price']);
    expect(faultsOf([openApi], { ...offer, price: { value: 'free' } })).toEqual(['$.price.value']);
    expect(faultsOf([openApi], { '@context': context, '@type': 'retail:Price', value: 1 })).toEqual([]);
    expect(faultsOf([openApi], { '@context': context, '@type': 'Tea' })).toEqual(["$['@type']"]);
  });

  it('may miss members in a template', () => {
    expect(faultsOf([openApi], { '@context': context, '@type': 'RetailOffer', price: {} }, true)).toEqual([]);
    expect(faultsOf([openApi], { '@context': context, '@type': 'RetailOffer', price: 1 }, true)).toEqual([
      '$.price',
    ]);
  });
});

describe('a schema that cannot be used', () => {
  const other: DomainSchema = {
    address: 'https://schema.nfh.global/Tea/v1/schema.json',
    document: { required: ['leaf'] },
  };
  const tea = { '@context': 'https://schema.nfh.global/Tea/v1/context.jsonld', '@type': 'Tea' };

  it.each<[string, JsonObject]>([
    ['refers to what is not there', { properties: { a: { $ref: 'https://nowhere.example/x.json' } } }],
    ['is no schema', { type: 'coffee' }],
    ['has a pattern that cannot run in linear time', { properties: { a: { pattern: '(?=a)b' } } }],
    ['claims the identity of another', { $id: other.address }],
  ])('because it %s is named, counts as unknown, and leaves the others alone', (_, document) => {
    const checker = createAttributeChecker({
      schemas: [other, { ...coffee, document }],
      unknownContext: 'reject',
    });
    expect(checker.problems.map(({ address, type }) => [address, type])).toEqual([
      [coffee.address, 'Coffee'],
    ]);
    expect(checker.types.map(({ type }) => type)).toEqual(['Tea']);
    expect(checker.check(typed({})).map(({ code }) => code)).toEqual(['SCH_INVALID_JSONLD_CONTEXT']);
    expect(checker.check(tea).map(({ details }) => details?.path)).toEqual(['$.leaf']);
    expect(checker.check({ ...tea, leaf: 1 }, { partial: true })).toEqual([]);
  });

  it('is named with the schema that it refers to, and that does not exist', () => {
    const refers = {
      ...coffee,
      document: { $ref: 'https://schema.beckn.io/Milk/v1/attributes.yaml#/components/schemas/Milk' },
    };
    expect(createAttributeChecker({ schemas: [refers] }).problems).toMatchObject([
      {
        reason:
          'it refers to https://schema.beckn.io/Milk/v1/attributes.yaml, which is not among the known schemas',
      },
    ]);
  });

  it('may refer to itself without end, at the top or inside: it counts as unknown, and nothing overflows', () => {
    const at = (type: string, document: JsonObject): DomainSchema => ({
      address: `https://schema.nfh.global/${type}/v1/schema.json`,
      document,
    });
    const schemas = [
      at('A', { $ref: 'https://schema.nfh.global/B/v1/schema.json' }),
      at('B', { allOf: [{ $ref: 'https://schema.nfh.global/A/v1/schema.json' }] }),
      at('Inside', { properties: { a: { $ref: 'https://schema.nfh.global/A/v1/schema.json' } } }),
      at('Tree', { properties: { children: { items: { $ref: '#' } }, id: { type: 'string' } } }),
    ];
    const checker = createAttributeChecker({ schemas, unknownContext: 'reject' });
    expect(checker.problems.map(({ type, reason }) => [type, reason])).toEqual([
      ['A', 'it refers to itself endlessly'],
      ['B', 'it refers to itself endlessly'],
    ]);
    const pathsOf = (type: string, value: object) =>
      checker
        .check({ '@context': `https://schema.nfh.global/${type}/v1/context.jsonld`, '@type': type, ...value })
        .map(({ details }) => details?.path);
    expect(pathsOf('A', {})).toEqual(["$['@context']"]);
    expect(pathsOf('Inside', { a: 1 })).toEqual(["$['@context']"]);
    expect(pathsOf('Inside', { b: 1 })).toEqual([]);
    expect(pathsOf('Tree', { children: [{ children: [{ id: 1 }] }] })).toEqual([
      '$.children[0].children[0].id',
    ]);
  });

  it('follows references to the other host of the registry', () => {
    const refers = { ...coffee, document: { $ref: 'https://schema.beckn.io/Tea/v1/schema.json' } };
    expect(faultsOf([refers, other], typed({}))).toEqual(['$.leaf']);
    const inRepository =
      'https://raw.githubusercontent.com/beckn/schemas/refs/heads/main/schema/Tea/v1/schema.json';
    expect(faultsOf([{ ...coffee, document: { $ref: inRepository } }, other], typed({}))).toEqual(['$.leaf']);
  });
});
