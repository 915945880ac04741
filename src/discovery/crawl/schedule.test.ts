import { describe, expect, it } from 'vitest';
import { nextAttemptMs, nextNodeAttemptMs, nextPollMs, restMs } from './schedule.ts';

const now = new Date('2026-03-01T12:00:00Z');
const polling = { shortestMs: 30_000, longestMs: 300_000 };
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const seconds = (ms: number) => ms / 1000;
const moment = (random = 0) => ({ now, random });

describe('an index, a manifest, or a node that hosts nothing yet', () => {
  it.each([
    ['at its next_update', 120, 120],
    ['after the interval where that is sooner', 86_400, 300],
    ['after the interval where it announces no update', undefined, 300],
    ['not before half a minute, also when its next_update is over', -5, 30],
    ['not before half a minute, also when its next_update is close', 2, 30],
  ])('is polled again %s', (_when, nextUpdate, expected) => {
    const announced = nextUpdate === undefined ? undefined : at(nextUpdate);
    expect(seconds(nextPollMs(announced, polling, moment()))).toBe(expected);
  });

  it('is polled a little later at random, so that what began together does not stay together', () => {
    expect(seconds(nextPollMs(at(120), polling, moment(1)))).toBeCloseTo(132);
  });
});

describe('what failed', () => {
  it('is tried again after a second, then twice as long, up to six hours', () => {
    const delays = [1, 2, 3, 40].map((failures) => seconds(nextAttemptMs(failures, 1)));
    expect(delays).toEqual([1, 2, 4, 6 * 3600]);
  });

  it('is tried again at random within the upper half', () => {
    expect(seconds(nextAttemptMs(3, 0))).toBe(2);
  });

  it('waits for as long as its host asks, up to an hour', () => {
    expect(seconds(nextAttemptMs(1, 1, 90_000))).toBe(90);
    expect(seconds(nextAttemptMs(1, 1, 86_400_000))).toBe(3600);
  });

  it('leaves its host in peace for five minutes at most', () => {
    expect(seconds(restMs(40, 1))).toBe(300);
    expect(seconds(restMs(1, 1, 3_600_000))).toBe(300);
  });

  it('is, for a node, tried at once only where the trouble may pass, and never later than it would be polled', () => {
    const delays = (passes: boolean) =>
      [1, 2, 40].map((failures) => seconds(nextNodeAttemptMs(failures, passes, polling, 1)));
    expect(delays(true)).toEqual([1, 2, 330]);
    expect(delays(false)).toEqual([30, 60, 330]);
  });
});
