import { describe, expect, it } from 'vitest';
import { until } from '../../tests/support/time.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { createSharedLimits, type Spent } from './shared-limits.ts';

describe('a rate limit of two workers', () => {
  it('counts for each what the other has taken', async () => {
    const told: Spent[] = [];
    const [one, other] = pair({ perSecond: 0.001, burst: 10 }, told);
    for (let request = 0; request < 4; request += 1) expect(one.take('a', performance.now())).toBe(0);
    one.spend('a', 6, performance.now());
    await until(() => told.length > 0);
    expect(other.take('a', performance.now())).toBeGreaterThan(0);
    expect(other.take('b', performance.now())).toBe(0);
  });

  it('counts nothing that was given back before anybody heard of it', async () => {
    const told: Spent[] = [];
    const [one] = pair({ perSecond: 0.001, burst: 2 }, told);
    one.take('a', 0);
    one.giveBack('a');
    one.take('b', 0);
    await until(() => told.length > 0);
    expect(told).toEqual([['requests', 'b', 1]]);
  });

  it('has what was granted in excess paid back', async () => {
    const [one, other] = pair({ perSecond: 1, burst: 2 });
    const nowMs = performance.now();
    // Both at the same moment: neither has heard from the other.
    for (const limit of [one, other]) for (let n = 0; n < 2; n += 1) expect(limit.take('a', nowMs)).toBe(0);
    const waitOf = (limit: RateLimit) => limit.take('a', nowMs);
    await until(() => waitOf(one) > 2.5 && waitOf(other) > 2.5);
  });
});

/** The same limit in two workers that hear from each other. */
function pair(options: { perSecond: number; burst: number }, told: Spent[] = []): [RateLimit, RateLimit] {
  const listeners: ((spent: readonly Spent[]) => void)[] = [];
  const worker = (index: number) =>
    createSharedLimits({
      tell(spent) {
        told.push(...spent);
        listeners[1 - index]?.(spent);
      },
      onTold(listener) {
        listeners[index] = listener;
      },
    })('requests', createRateLimit(options));
  return [worker(0), worker(1)];
}
