import { describe, expect, it } from 'vitest';
import { coffee, faultsOf, typed } from '../../tests/support/catalogs/typed-coffee.ts';
import type { JsonObject } from '../protocol/json.ts';

describe('a template', () => {
  const check = (document: JsonObject, members: JsonObject) =>
    faultsOf([{ ...coffee, document: { $id: coffee.address, ...document } }], typed(members), true);

  it('may miss required members at every depth, also behind references', () => {
    const document = {
      required: ['a'],
      dependentRequired: { b: ['c'] },
      properties: {
        b: { $ref: '#/$defs/B' },
        list: { items: { required: ['x'] } },
        required: { type: 'number' },
      },
      $defs: { B: { required: ['d'], properties: { d: { type: 'number' } } } },
    };
    expect(check(document, { b: {}, list: [{}] })).toEqual([]);
    expect(check(document, { b: { d: 'x' }, required: 'x' })).toEqual(['$.b.d', '$.required']);
  });

  it('keeps the meaning of a question: conditions and negations still look at what is there', () => {
    const document = {
      if: { not: { required: ['decaf'] } },
      else: { required: ['process'], properties: { process: { type: 'string' } } },
      not: { $ref: '#/$defs/HasTea' },
      $defs: { HasTea: { required: ['tea'] } },
    };
    expect(check(document, {})).toEqual([]);
    expect(check(document, { process: 1 })).toEqual([]);
    expect(check(document, { decaf: true })).toEqual([]);
    expect(check(document, { decaf: true, process: 1 })).toEqual(['$.process']);
    expect(check(document, { tea: 1 })).toEqual(['$']);
  });

  it('keeps it also where the document calls itself otherwise than its address', () => {
    const address = 'https://schema.nfh.global/Tea/v1/attributes.yaml';
    const schemas = { Tea: { not: { $ref: '#/components/schemas/Iced' } }, Iced: { required: ['ice'] } };
    const document = { $id: 'https://example.org/tea', components: { schemas } };
    const tea = { '@context': 'https://schema.nfh.global/Tea/v1/context.jsonld', '@type': 'Tea' };
    expect(faultsOf([{ address, document }], tea, true)).toEqual([]);
    expect(faultsOf([{ address, document }], { ...tea, ice: 1 }, true)).toEqual(['$']);
  });

  it('fits alternatives that differ in what they require', () => {
    const document: JsonObject = {
      oneOf: [
        { required: ['beans'], properties: { beans: { type: 'string' } } },
        { required: ['powder'], properties: { powder: { type: 'string' } } },
      ],
      allOf: [{ properties: { grams: { type: 'number' } } }],
    };
    expect(check(document, {})).toEqual([]);
    expect(check(document, { beans: 'arabica' })).toEqual([]);
    expect(check(document, { grams: 'x' })).toEqual(['$.grams']);
  });
});
