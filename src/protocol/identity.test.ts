import { describe, expect, it } from 'vitest';
import { identityOf, isSubscriberId, namesIdentity, splitIdentity } from './identity.ts';

const registry = 'subscribers.beckn.one';

describe('identityOf', () => {
  it('completes a bare domain with the registry of the network, and leaves a full subscriberId alone', () => {
    expect(identityOf('bpp.example.com', registry)).toBe('bpp.example.com/subscribers.beckn.one');
    expect(identityOf('example.com/other', registry)).toBe('example.com/other');
  });

  it('splits again', () => {
    expect(splitIdentity('example.com/other')).toEqual({ namespace: 'example.com', registryName: 'other' });
    expect(() => splitIdentity('example.com')).toThrow('no registry name');
  });
});

describe('isSubscriberId', () => {
  it.each(['example.com', 'example.com/nodes', 'did:web:example.com/a~b_c-d', 'x', 'a'.repeat(255)])(
    'takes %s',
    (text) => {
      expect(isSubscriberId(text)).toBe(true);
    },
  );

  it.each([
    '',
    '/',
    'a/',
    '/a',
    'a/b/c',
    '.',
    '..',
    'a/..',
    'a b',
    'a%2fb',
    'a?b',
    'a#b',
    'ä',
    'a\n',
    'a'.repeat(256),
  ])('refuses "%s"', (text) => {
    expect(isSubscriberId(text)).toBe(false);
  });
});

describe('namesIdentity', () => {
  const identity = 'example.com/subscribers.beckn.one';

  it.each([
    ['the subscriberId', 'example.com/subscribers.beckn.one', undefined],
    ['the bare domain', 'example.com', undefined],
    ["the record's name, a sub-domain of the namespace", 'bpp.example.com', 'bpp.example.com'],
    ["the record's name, a sub-domain of a sub-domain", 'a.bpp.example.com', 'a.bpp.example.com'],
  ])('is true for %s', (_, contextId, recorded) => {
    expect(namesIdentity(contextId, identity, recorded, registry)).toBe(true);
  });

  it('is true for a record that names the namespace in another registry', () => {
    expect(namesIdentity('example.com', 'example.com/nodes', 'example.com', registry)).toBe(true);
  });

  it.each([
    ['another node', 'other.com', undefined],
    ['a name that only the record claims', 'other.com', 'other.com'],
    ['a name that merely ends like the namespace', 'badexample.com', 'badexample.com'],
    ['a sub-domain that the record does not have', 'bpp.example.com', 'bap.example.com'],
    ['a sub-domain without a record', 'bpp.example.com', undefined],
    ['the namespace in another registry', 'example.com/nodes', undefined],
    ['another case', 'Example.com', undefined],
    ['nothing', '', ''],
  ])('is false for %s', (_, contextId, recorded) => {
    expect(namesIdentity(contextId, identity, recorded, registry)).toBe(false);
  });
});
