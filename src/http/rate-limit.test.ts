import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

describe('a rate limit', () => {
  it('lets a burst pass, then as many per second as it says', () => {
    const limit = createRateLimit({ perSecond: 10, burst: 20 });
    const granted = (nowMs: number, tries: number) =>
      Array.from({ length: tries }, () => limit.take('a', nowMs)).filter((wait) => wait === 0).length;
    expect(granted(0, 30)).toBe(20);
    expect(granted(1_000, 30)).toBe(10);
    expect(granted(1_050, 30)).toBe(0);
    expect(granted(1_100, 30)).toBe(1);
    expect(granted(60_000, 30)).toBe(20);
  });

  it('says how many seconds to wait', () => {
    const limit = createRateLimit({ perSecond: 2, burst: 1 });
    expect(limit.take('a', 0)).toBe(0);
    expect(limit.take('a', 0)).toBe(0.5);
    expect(limit.take('a', 400)).toBeCloseTo(0.1);
    expect(limit.take('a', 500)).toBe(0);
  });

  it('counts each key by itself', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 });
    expect(limit.take('a', 0)).toBe(0);
    expect(limit.take('b', 0)).toBe(0);
    expect(limit.take('a', 0)).toBeGreaterThan(0);
    expect(limit.take('c', 0)).toBe(0);
  });

  it('gives back what was not owed, never more than a full bucket', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 });
    limit.take('a', 0);
    limit.giveBack('a');
    limit.giveBack('a');
    limit.giveBack('nobody');
    expect(limit.take('a', 0)).toBe(0);
    expect(limit.take('a', 0)).toBeGreaterThan(0);
  });

  it('lets what was spent beyond a full bucket be waited for', () => {
    const limit = createRateLimit({ perSecond: 10, burst: 20 });
    expect(limit.take('a', 0)).toBe(0);
    limit.spend('a', 39, 0);
    expect(limit.take('a', 0)).toBeCloseTo(2.1);
    expect(limit.take('b', 0)).toBe(0);
    expect(limit.take('a', 2_100)).toBe(0);
  });

  it('is lifted by 0', () => {
    const limit = createRateLimit({ perSecond: 0, burst: 0 });
    expect(limit.take('a', 0)).toBe(0);
    expect(limit.take('a', 0)).toBe(0);
  });

  it('forgets full buckets first when there are too many keys', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1, maxKeys: 100 });
    for (let key = 0; key < 99; key += 1) limit.take(`early-${key}`, 0);
    limit.take('busy', 10_000);
    limit.take('newcomer', 10_000);
    expect(limit.take('busy', 10_000)).toBeGreaterThan(0);
  });

  it('never grants more than burst plus what the time gave back, whatever the order of requests', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -50, max: 500 }), { maxLength: 200 }),
        fc.integer({ min: 1, max: 50 }),
        (steps, perSecond) => {
          const limit = createRateLimit({ perSecond, burst: perSecond * 2 });
          let [nowMs, latestMs, granted] = [0, 0, 0];
          let backwardsMs = 0;
          for (const step of steps) {
            nowMs += step;
            if (step < 0) backwardsMs -= step; // a clock that steps back may at most give that time again
            latestMs = Math.max(latestMs, nowMs);
            if (limit.take('a', nowMs) === 0) granted += 1;
          }
          expect(granted).toBeLessThanOrEqual(
            perSecond * 2 + ((latestMs + backwardsMs) / 1000) * perSecond + 1e-6,
          );
        },
      ),
    );
  });
});
