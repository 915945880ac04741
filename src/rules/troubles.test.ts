import { describe, expect, it } from 'vitest';
import {
  type FeedState,
  failingMs,
  findTroubles,
  refusedMs,
  spellTrouble,
  unfinishedMs,
} from './troubles.ts';

const now = new Date('2026-01-31T12:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);

function feed(state: Partial<FeedState>): FeedState {
  return {
    ...{ catalogUrl: 'https://catalog.example', networkId: 'a.example/retail', service: null },
    ...{ subscriptionId: null, failures: 0, lastError: null, lastStatus: null, outOfStepSince: null },
    ...state,
  };
}

const found = (state: Partial<FeedState>) => findTroubles({ keys: [], feeds: [feed(state)] }, now);

describe('troubles', () => {
  it('are none where every feed is in step and every key is registered', () => {
    expect(found({})).toEqual([]);
  });

  it('begin with a key that the registry does not have, at once, and say how to register it', () => {
    const key = {
      ...{ role: 'discovery', subscriberId: 'ds.example', recordId: 'key-1', publicKey: 'cHVibGlj' },
      ...{ problem: 'The registry does not know ds.example.', since: now },
    };
    const [trouble] = findTroubles({ keys: [key], feeds: [] }, now);
    expect(trouble).toMatchObject({ kind: 'key-not-registered', role: 'discovery', since: now });
    expect(trouble?.what).toBe(
      'The registry does not know ds.example. Others refuse everything that the discovery role signs.',
    );
    expect(trouble?.next).toContain(
      'run "signpost registry register ds.example --key-id key-1 --public-key cHVibGlj --url …" there.',
    );
  });

  it.each([401, 403])('have a subscription that was answered %s for two minutes', (lastStatus) => {
    const refused = { failures: 3, lastStatus, lastError: 'catalog/subscription was answered with it' };
    expect(found({ ...refused, outOfStepSince: ago(refusedMs - 1) })).toEqual([]);
    expect(found({ ...refused, outOfStepSince: ago(refusedMs) })).toEqual([
      {
        ...{ kind: 'subscription-refused', role: 'discovery', since: ago(refusedMs) },
        what: 'The discovery service is refused by the catalog service at https://catalog.example, network a.example/retail: catalog/subscription was answered with it.',
        next: expect.stringContaining('signpost keys list'),
      },
    ]);
  });

  it('have a feed that has failed for five minutes, and why', () => {
    const failing = { failures: 9, lastError: 'connect ECONNREFUSED' };
    expect(found({ ...failing, outOfStepSince: ago(failingMs - 1) })).toEqual([]);
    expect(found({ ...failing, outOfStepSince: ago(failingMs) })).toMatchObject([
      { kind: 'feed-not-in-step', what: expect.stringContaining(': connect ECONNREFUSED.') },
    ]);
  });

  it('have a feed whose pull has not completed for a quarter of an hour, without a failure', () => {
    expect(found({ outOfStepSince: ago(unfinishedMs - 1) })).toEqual([]);
    expect(found({ outOfStepSince: ago(unfinishedMs) })).toMatchObject([{ kind: 'feed-not-in-step' }]);
  });

  it('are spelled in one line: what, since when, what next', () => {
    const trouble = { kind: 'feed-not-in-step', role: 'discovery', what: 'It fails.', since: now } as const;
    expect(spellTrouble({ ...trouble, next: 'Mend it.' })).toBe(
      'It fails. Since 2026-01-31T12:00:00.000Z. Mend it.',
    );
  });
});
