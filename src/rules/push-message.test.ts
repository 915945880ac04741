import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CatalogState,
  createPartCutter,
  type Documents,
  planPush,
  type ToldState,
} from './push-message.ts';

const inStep: ToldState = {
  acknowledgedVersion: 5,
  needsFull: false,
  inFlight: false,
  withdrawn: false,
  networks: ['old.example/net'],
};
const catalog: CatalogState = {
  networkIds: ['a.example/net', 'b.example/net'],
  schemaTypes: new Set(['https://schema.example.org/Charger']),
  version: 7,
  fullVersion: 3,
  isActive: true,
};
const everything = [{}];
const elsewhere = [{ networkIds: ['c.example/net'] }];

describe('planPush', () => {
  it('merges what changed since the acknowledged version', () => {
    expect(planPush(inStep, catalog, everything)).toEqual({
      kind: 'merge',
      changedAfter: 5,
      visibleTo: ['a.example/net', 'b.example/net'],
    });
  });

  it.each<[string, Partial<ToldState>, Partial<CatalogState>]>([
    ['nothing was acknowledged yet', { acknowledgedVersion: null }, {}],
    ['the last one was refused, answered with 202 or not answered', { needsFull: true }, {}],
    ['nobody knows what became of the last one', { inFlight: true }, {}],
    ['it was withdrawn before', { withdrawn: true }, {}],
    ['something was removed since', {}, { fullVersion: 6 }],
  ])('sends the whole catalog when %s', (_, told, state) => {
    expect(planPush({ ...inStep, ...told }, { ...catalog, ...state }, everything)).toMatchObject({
      kind: 'full',
    });
  });

  it('says nothing when the receiver has the current version, and has no reason to doubt it', () => {
    expect(planPush({ ...inStep, acknowledgedVersion: 7 }, catalog, everything)).toEqual({ kind: 'nothing' });
    expect(
      planPush({ ...inStep, acknowledgedVersion: 7, needsFull: true }, catalog, everything),
    ).toMatchObject({
      kind: 'full',
    });
  });

  it('names only the networks of the matching subscriptions', () => {
    const interests = [
      { networkIds: ['b.example/net'] },
      { networkIds: ['a.example/net'], schemaTypes: ['https://x.example'] },
    ];
    expect(planPush(inStep, catalog, interests)).toMatchObject({ visibleTo: ['b.example/net'] });
  });

  it('withdraws what left the subscriptions, naming the networks that it was told under', () => {
    expect(planPush(inStep, catalog, elsewhere)).toEqual({
      kind: 'withdrawal',
      visibleTo: ['old.example/net'],
      knownVersion: 5,
      isVisible: false,
    });
  });

  it('names the networks that were asked for, never the new ones, where none was told under', () => {
    const lost = { ...inStep, acknowledgedVersion: null, networks: [], inFlight: true };
    expect(planPush(lost, catalog, elsewhere)).toMatchObject({
      kind: 'withdrawal',
      visibleTo: ['c.example/net'],
      knownVersion: 0,
    });
  });

  it('withdraws what was deactivated, naming the networks that it still has', () => {
    expect(planPush(inStep, { ...catalog, isActive: false }, everything)).toEqual({
      kind: 'withdrawal',
      visibleTo: ['a.example/net', 'b.example/net'],
      knownVersion: 5,
      isVisible: true,
    });
  });

  it.each<[string, Partial<ToldState>]>([
    ['was withdrawn already', { withdrawn: true }],
    ['was never acknowledged', { acknowledgedVersion: null, needsFull: true }],
  ])('does not withdraw what %s, unless a push may have arrived since', (_, told) => {
    expect(planPush({ ...inStep, ...told }, catalog, elsewhere)).toEqual({ kind: 'nothing' });
    expect(planPush({ ...inStep, ...told, inFlight: true }, catalog, elsewhere)).toMatchObject({
      kind: 'withdrawal',
    });
  });

  it('tells nothing to whom has no subscription', () => {
    expect(planPush(inStep, catalog, [])).toEqual({ kind: 'nothing' });
  });
});

describe('createPartCutter', () => {
  const documents = fc.array(
    fc.record<Documents>({
      member: fc.constantFrom('resources', 'offers'),
      text: fc.uuid(),
      bytes: fc.integer({ min: 1, max: 50 }),
    }),
  );

  it('loses nothing, keeps the order, fills no part beyond the limit, and cuts no sooner than it must', () => {
    fc.assert(
      fc.property(documents, fc.integer({ min: -10, max: 120 }), (given, limit) => {
        const cutter = createPartCutter(limit);
        const finished = given.map((one) => cutter.add(one));
        const parts = [...finished, cutter.rest()].filter((part) => part !== undefined);
        for (const member of ['resources', 'offers'] as const) {
          expect(parts.flatMap((part) => part[member])).toEqual(
            given.filter((one) => one.member === member).map((one) => one.text),
          );
        }
        const bytesOf = new Map(given.map(({ text, bytes }) => [text, bytes]));
        const sizes = parts.map(({ resources, offers }) =>
          [...resources, ...offers].map((text) => bytesOf.get(text) ?? 0),
        );
        const sum = (bytes: number[]) => bytes.reduce((total, one) => total + one, 0);
        expect(sizes.filter((bytes) => bytes.length > 1 && sum(bytes) > limit)).toEqual([]);
        expect(sizes.filter((bytes) => bytes.length === 0)).toEqual([]);
        // The first document of a part did not fit into the previous part.
        const order = given.map(({ text }) => text);
        const firstOf = parts.map(({ resources, offers }) =>
          order.find((text) => [...resources, ...offers].includes(text)),
        );
        sizes.slice(0, -1).forEach((bytes, index) => {
          expect(sum(bytes) + (bytesOf.get(firstOf[index + 1] ?? '') ?? 0)).toBeGreaterThan(limit);
        });
      }),
    );
  });
});
