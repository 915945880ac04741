import { describe, expect, it } from 'vitest';
import { networksMeet } from '../extends.ts';
import { boundsOf } from '../time-period.ts';
import { type CatalogState, isSearched, type SearchScope } from './served.ts';

const now = new Date('2026-06-01T12:00:00Z');
const schema = 'https://schema.example.org/Coffee/v1/context.jsonld';
const catalog: CatalogState = {
  type: 'REGULAR',
  networkIds: ['net.example/one', 'net.example/two'],
  schemaTypes: new Set([schema, `${schema}#Coffee`]),
};

describe('isSearched', () => {
  it.each<[string, Partial<CatalogState>, SearchScope, boolean]>([
    ['a plain catalog', {}, {}, true],
    ['a template', { type: 'MASTER' }, {}, false],
    ['an active catalog', { isActive: true }, {}, true],
    ['an inactive catalog', { isActive: false }, {}, false],
    ['a catalog in its validity', { validity: boundsOf({ endDate: '2026-06-01' }) }, {}, true],
    ['a catalog past its validity', { validity: boundsOf({ endDate: '2026-05-31' }) }, {}, false],
    ['a catalog before its validity', { validity: boundsOf({ startDate: '2026-06-02' }) }, {}, false],
    ['a catalog of the network', {}, { networkId: 'net.example/two' }, true],
    ['a catalog of other networks', {}, { networkId: 'net.example/three' }, false],
    ['a catalog for every network', { networkIds: [] }, { networkId: 'net.example/three' }, true],
    ['a catalog of the schema', {}, { schemaContext: ['urn:other', schema] }, true],
    ['a catalog of the type of a schema', {}, { schemaContext: [`${schema}#Coffee`] }, true],
    ['a catalog of other schemas', {}, { schemaContext: ['urn:other'] }, false],
    ['any catalog where no schema is named', {}, { schemaContext: [] }, true],
  ])('decides about %s', (_, state, scope, expected) => {
    expect(isSearched({ ...catalog, ...state }, scope, now)).toBe(expected);
  });
});

describe('networksMeet', () => {
  it('asks for one network of both; none means every one', () => {
    expect(networksMeet(['a', 'b'], ['b', 'c'])).toBe(true);
    expect(networksMeet(['a'], ['b'])).toBe(false);
    expect(networksMeet([], ['b'])).toBe(true);
    expect(networksMeet(['a'], [])).toBe(true);
  });
});
