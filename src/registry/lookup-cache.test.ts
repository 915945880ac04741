import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeTime } from '../../tests/support/time.ts';
import { createLookupCache } from './lookup-cache.ts';

describe('the lookup cache', () => {
  it('asks once for many waiters', async () => {
    const { cache } = cacheAt(0);
    let asked = 0;
    const ask = async () => {
      asked += 1;
      await takeTime(5);
      return 'value';
    };
    const found = await Promise.all(Array.from({ length: 50 }, () => cache.find('key', ask)));
    expect(new Set(found)).toEqual(new Set(['value']));
    expect(asked).toBe(1);
  });

  it('keeps what was found for as long as it may, counted from the moment of asking', async () => {
    const { cache, clock } = cacheAt(0);
    await cache.find('key', async () => {
      clock.ms += 400;
      return 'first';
    });
    clock.ms = 999;
    expect(await cache.find('key', async () => 'second')).toBe('first');
    clock.ms = 1_000;
    expect(await cache.find('key', async () => 'second')).toBe('second');
  });

  it('keeps what was not found for its own time', async () => {
    const { cache, clock } = cacheAt(0);
    expect(await cache.find('key', async () => undefined)).toBeUndefined();
    clock.ms = 99;
    expect(await cache.find('key', async () => 'there now')).toBeUndefined();
    clock.ms = 100;
    expect(await cache.find('key', async () => 'there now')).toBe('there now');
  });

  it('keeps no failure, and gives it to everyone who waited', async () => {
    const { cache } = cacheAt(0);
    const failing = () => cache.find('key', () => Promise.reject(new Error('down')));
    expect(await Promise.allSettled([failing(), failing()])).toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    expect(await cache.find('key', async () => 'up')).toBe('up');
  });

  it('does not keep longer when the clock is set back', async () => {
    const { cache, clock } = cacheAt(10_000);
    await cache.find('key', async () => 'before');
    clock.ms = 5_000;
    expect(await cache.find('key', async () => 'after')).toBe('after');
  });

  it('is bounded: what was used longest ago goes first, and made-up keys displace no real ones', async () => {
    const { cache } = cacheAt(0);
    for (const key of ['a', 'b', 'c']) await cache.find(key, async () => key);
    await cache.find('a', async () => 'asked again');
    await cache.find('d', async () => 'd');
    for (let index = 0; index < 100; index += 1) await cache.find(`junk ${index}`, async () => undefined);
    const again = (key: string) => cache.find(key, async () => 'asked again');
    expect([await again('a'), await again('d'), await again('b')]).toEqual(['a', 'd', 'asked again']);
  });

  it('never answers with what the source said longer ago than it may be kept', async () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 700 }),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { cache, clock } = cacheAt(0);
        for (const { waitMs, key } of steps) {
          clock.ms += waitMs;
          const saidAt = Number(await cache.find(key, async () => String(clock.ms)));
          expect(clock.ms - saidAt).toBeLessThan(1_000);
        }
      }),
    );
  });
});

/** Three entries; found values are kept for 1,000 ms, missing ones for 100 ms. */
function cacheAt(startMs: number) {
  const clock = { ms: startMs };
  const cache = createLookupCache<string>({
    maxEntries: 3,
    keepMs: (found) => (found === undefined ? 100 : 1_000),
    now: () => new Date(clock.ms),
  });
  return { cache, clock };
}
