import { describe, expect, it } from 'vitest';
import { judgeEntry } from './acceptance.ts';

const identity = 'bpp.example.org/subscribers.beckn.one';
const publisher = { identity, networkMemberships: ['a/net'] };
const policy = {
  networkIds: ['a/net'],
  masterPublishers: ['*'],
  enforceMembership: false,
  registryName: 'subscribers.beckn.one',
};
const entry = { catalogId: 'c', catalogType: 'REGULAR' as const, networkIds: ['a/net', 'b/net'] };

describe('a genuine entry', () => {
  it('is for us when it shares a network with us', () => {
    expect(judgeEntry(entry, publisher, policy)).toEqual({
      kind: 'accepted',
      networkIds: ['a/net', 'b/net'],
    });
    expect(judgeEntry({ ...entry, networkIds: ['b/net'] }, publisher, policy)).toMatchObject({
      kind: 'not-relevant',
    });
  });

  it('is for everybody when it names no network, and for us when we name none', () => {
    expect(judgeEntry({ ...entry, networkIds: undefined }, publisher, policy).kind).toBe('accepted');
    expect(judgeEntry({ ...entry, networkIds: [] }, publisher, policy).kind).toBe('accepted');
    expect(judgeEntry(entry, publisher, { ...policy, networkIds: [] }).kind).toBe('accepted');
  });

  it('names only networks of its publisher, where membership is enforced', () => {
    const enforcing = { ...policy, enforceMembership: true };
    expect(judgeEntry(entry, publisher, enforcing)).toMatchObject({ kind: 'not-a-member' });
    expect(judgeEntry({ ...entry, networkIds: ['a/net'] }, publisher, enforcing).kind).toBe('accepted');
  });

  it('is a MASTER only of those who may publish one', () => {
    const master = { ...entry, catalogType: 'MASTER' as const };
    const limited = (id: string) => ({ ...policy, masterPublishers: [id] });
    expect(judgeEntry(master, publisher, policy).kind).toBe('accepted');
    expect(judgeEntry(master, publisher, limited('bpp.example.org')).kind).toBe('accepted');
    expect(judgeEntry(master, publisher, limited('other.example.org')).kind).toBe('master-not-allowed');
    expect(judgeEntry(entry, publisher, limited('other.example.org')).kind).toBe('accepted');
  });

  it('is a MASTER of a facilitator only in the networks of its own namespace', () => {
    const facilitating = { ...policy, networkIds: [], masterPublishers: ['facilitator'] };
    const judge = (networkIds?: string[], networkMemberships: string[] = []) =>
      judgeEntry(
        { ...entry, catalogType: 'MASTER', networkIds },
        { identity, networkMemberships },
        facilitating,
      );
    expect(judge(['bpp.example.org/retail', 'a/net'])).toEqual({
      kind: 'accepted',
      networkIds: ['bpp.example.org/retail'],
    });
    for (const foreign of ['a/net', 'example.org/retail', 'api.bpp.example.org/retail'])
      expect(judge([foreign]).kind).toBe('master-not-allowed');
    expect(judge(undefined, ['bpp.example.org/retail', 'a/net'])).toEqual({
      kind: 'accepted',
      networkIds: ['bpp.example.org/retail'],
    });
    expect(judge(undefined).kind).toBe('master-not-allowed');
  });
});
