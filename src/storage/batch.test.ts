import { describe, expect, it } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import { until } from '../../tests/support/time.ts';
import { createBatch } from './batch.ts';

describe('a batch', () => {
  it('has the calls of one moment, and those that came while the last one was under way', async () => {
    const batches: number[][] = [];
    const written = gate();
    const double = createBatch({ maxItems: 10, gatherMs: 1 }, async (items: number[]) => {
      batches.push(items);
      if (batches.length === 1) await written.passed;
      return items.map((item) => item * 2);
    });
    const first = [double(1), double(2)];
    await until(() => batches.length === 1, 'the first batch');
    const second = [double(3), double(4), double(5)];
    written.open();
    expect(await Promise.all([...first, ...second])).toEqual([2, 4, 6, 8, 10]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it('is no larger than it may be', async () => {
    const sizes: number[] = [];
    const call = createBatch({ maxItems: 2, gatherMs: 0 }, async (items: number[]) => {
      sizes.push(items.length);
      return items;
    });
    await Promise.all([1, 2, 3, 4, 5].map(call));
    expect(sizes).toEqual([2, 2, 1]);
  });

  it('fails for all of its calls, and for none of the next', async () => {
    let fails = true;
    const call = createBatch({ maxItems: 10, gatherMs: 1 }, async (items: number[]) => {
      if (fails) throw new Error('no database');
      return items;
    });
    const outcomes = await Promise.allSettled([call(1), call(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await call(3)).toBe(3);
  });

  it('begins when it is full, or when there is no time to wait', async () => {
    const hurry = new AbortController();
    const sizes: number[] = [];
    const limits = { maxItems: 2, gatherMs: 60_000, hurry: hurry.signal };
    const call = createBatch(limits, async (items: number[]) => {
      sizes.push(items.length);
      return items;
    });
    const calls = [1, 2, 3].map(call);
    await calls[1];
    hurry.abort();
    expect(await Promise.all([...calls, call(4)])).toEqual([1, 2, 3, 4]);
    expect(sizes).toEqual([2, 2]);
  });

  it('begins when nobody else is to be expected', async () => {
    const sizes: number[] = [];
    let expected = 2;
    const limits = { maxItems: 10, gatherMs: 60_000, expected: () => expected };
    const call = createBatch(limits, async (items: number[]) => {
      sizes.push(items.length);
      return items;
    });
    expect(await Promise.all([1, 2].map(call))).toEqual([1, 2]);
    expected = 1;
    expect(await call(3)).toBe(3);
    expect(sizes).toEqual([2, 1]);
  });

  it('may fail for some of its calls', async () => {
    const call = createBatch({ maxItems: 10, gatherMs: 0 }, async (items: number[]) =>
      items.map((item) => (item === 2 ? Promise.reject(new Error('two')) : item)),
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map(call));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
