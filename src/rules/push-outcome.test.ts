import { describe, expect, it } from 'vitest';
import {
  applyOutcome,
  type FailedPush,
  largerPart,
  type PushOutcome,
  type PushRecord,
  smallerPart,
} from './push-outcome.ts';

const now = new Date('2026-01-01T00:00:00Z');
const maxPartBytes = 10_000;

const before: PushRecord = {
  acknowledgedVersion: 5,
  needsFull: false,
  inFlight: false,
  withdrawn: false,
  networks: ['a.example/net'],
  state: 'pending',
  partBytes: null,
  attempts: 2,
  failingSince: now,
  lastStatus: 503,
  lastError: 'busy',
  form: 'full',
};
const failed: FailedPush = {
  kind: 'failed',
  status: 503,
  reason: 'busy',
  unanswered: false,
  lost: false,
  begun: false,
  failingSince: now,
  dueInMs: 60_000,
};
const said = { version: 7, networks: ['b.example/net'], withdrawn: false };

const outcomeOf = (outcome: PushOutcome, record: Partial<PushRecord> = {}) =>
  applyOutcome({ ...before, ...record }, outcome, { maxPartBytes, at: now });

describe('applyOutcome', () => {
  it('200: acknowledged, with all doubts and failures forgotten', () => {
    const doubtful = { needsFull: true, inFlight: true, withdrawn: true };
    expect(outcomeOf({ kind: 'acknowledged', status: 200, said }, doubtful)).toEqual({
      dueInMs: null,
      record: {
        acknowledgedVersion: 7,
        needsFull: false,
        inFlight: false,
        withdrawn: false,
        networks: ['b.example/net'],
        state: 'acknowledged',
        partBytes: null,
        attempts: 0,
        failingSince: null,
        lastStatus: 200,
        lastError: null,
        form: 'full',
      },
    });
  });

  it('202: acknowledged, and the next one goes whole', () => {
    expect(outcomeOf({ kind: 'acknowledged', status: 202, remark: 'not mine', said }).record).toMatchObject({
      state: 'acknowledged',
      acknowledgedVersion: 7,
      needsFull: true,
      lastError: 'not mine',
    });
  });

  it('an acknowledged withdrawal is remembered, and tells the receiver nothing of the version that it withdraws', () => {
    const { record } = outcomeOf({ kind: 'acknowledged', status: 200, said: { ...said, withdrawn: true } });
    expect(record).toMatchObject({ state: 'withdrawn', withdrawn: true, acknowledgedVersion: 5 });
  });

  it('refused: parked with its attempts and since when they fail, and the next one goes whole', () => {
    expect(outcomeOf({ kind: 'refused', status: 400, reason: 'bad' })).toMatchObject({
      dueInMs: null,
      record: {
        state: 'parked',
        needsFull: true,
        acknowledgedVersion: 5,
        lastStatus: 400,
        lastError: 'bad',
        attempts: 3,
        failingSince: now,
      },
    });
  });

  it('failed with an answer: tried again, and what was known stays known', () => {
    expect(outcomeOf(failed)).toEqual({ dueInMs: 60_000, record: { ...before, attempts: 3 } });
  });

  it('failed without an answer: the next one goes whole; where it may have arrived, that stays open', () => {
    const unanswered = { ...failed, unanswered: true };
    expect(outcomeOf(unanswered).record).toMatchObject({ needsFull: true, inFlight: false });
    expect(outcomeOf({ ...unanswered, lost: true }).record).toMatchObject({
      needsFull: true,
      inFlight: true,
    });
  });

  it('failed after an earlier part was taken: the next one goes whole', () => {
    expect(outcomeOf({ ...failed, begun: true }).record.needsFull).toBe(true);
  });

  it('what was in doubt before stays so, whatever fails', () => {
    expect(outcomeOf(failed, { inFlight: true, needsFull: true }).record).toMatchObject({
      inFlight: true,
      needsFull: true,
    });
  });

  it('failed for too long: parked with its attempts and since when they fail, and the next one goes whole', () => {
    expect(outcomeOf({ ...failed, dueInMs: undefined })).toMatchObject({
      dueInMs: null,
      record: { state: 'parked', needsFull: true, attempts: 3, failingSince: now },
    });
  });

  it('413: at once, in parts of half the size, which does not count as an attempt', () => {
    const tooLarge = { ...failed, status: 413, tooLargeBytes: 8_000 };
    expect(outcomeOf(tooLarge)).toMatchObject({
      dueInMs: 0,
      record: { partBytes: 4_000, attempts: 2, state: 'pending' },
    });
    expect(outcomeOf(tooLarge, { partBytes: 7_000 })).toMatchObject({
      dueInMs: 60_000,
      record: { partBytes: 7_000, attempts: 3 },
    });
  });

  it('nothing to say, or nowhere to say it: at rest', () => {
    expect(outcomeOf({ kind: 'nothing to say' })).toMatchObject({
      dueInMs: null,
      record: { state: 'acknowledged', attempts: 0, failingSince: null },
    });
    expect(outcomeOf({ kind: 'nothing to say' }, { withdrawn: true }).record.state).toBe('withdrawn');
    expect(outcomeOf({ kind: 'no endpoint', reason: 'no url' })).toMatchObject({
      dueInMs: null,
      record: { state: 'no endpoint', lastError: 'no url' },
    });
  });
});

describe('smallerPart', () => {
  it('halves what was too large', () => {
    expect(smallerPart(10_000, 7_000)).toBe(3_500);
    expect(smallerPart(10_000, 10_000)).toBe(5_000);
  });

  it('gives up when the body was above the limit already: it held a single document', () => {
    expect(smallerPart(5_000, 7_000)).toBeUndefined();
  });
});

describe('largerPart', () => {
  it('grows with each push that is taken, up to the usual limit, from however little', () => {
    expect(
      outcomeOf({ kind: 'acknowledged', status: 200, said }, { partBytes: 4_000 }).record.partBytes,
    ).toBe(4_250);
    let [partBytes, pushes]: [number | null, number] = [1, 0];
    for (; partBytes !== null; pushes += 1) {
      const larger = largerPart(partBytes, maxPartBytes);
      expect(larger ?? maxPartBytes).toBeGreaterThan(partBytes);
      partBytes = larger;
    }
    expect(pushes).toBeLessThan(200);
    expect(largerPart(null, maxPartBytes)).toBeNull();
  });
});
