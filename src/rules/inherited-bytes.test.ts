import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchesOf, createInheritanceBudget, describeExcess, type Scope } from './inherited-bytes.ts';

const limits = { resource: 10, catalog: 50, publish: 80, publisher: 100 };
const nothing = { catalog: 0, publish: 0, publisher: 0 };

describe('the budget of what is inherited', () => {
  it.each<[Scope, number, typeof nothing]>([
    ['resource', 11, nothing],
    ['catalog', 10, { catalog: 41, publish: 0, publisher: 41 }],
    ['publish', 10, { catalog: 0, publish: 71, publisher: 0 }],
    ['publisher', 10, { catalog: 0, publish: 0, publisher: 91 }],
  ])('ends at the limit of a %s, and names the size that would pass it', (scope, bytes, used) => {
    const budget = createInheritanceBudget(limits, used);
    const size = scope === 'resource' ? bytes : used[scope] + bytes;
    expect(budget.take(bytes - 1)).toBeUndefined();
    const other = createInheritanceBudget(limits, used);
    const excess = other.take(bytes);
    expect(excess).toEqual({ scope, bytes: size, limit: limits[scope] });
    expect(other.used).toEqual(used);
    expect(describeExcess(excess ?? fail(), { id: 'm' })).toMatch(
      new RegExp(`inherit ${size} bytes.*; at most ${limits[scope]} are allowed$`),
    );
  });

  it('counts what a resource inherited before no more, but for the publish', () => {
    const budget = createInheritanceBudget(limits, { catalog: 50, publish: 0, publisher: 100 });
    expect(budget.take(9, 10)).toBeUndefined();
    expect(budget.used).toEqual({ catalog: 49, publish: 9, publisher: 99 });
  });

  it('lets a resource be replaced that grows by nothing, also beyond a limit that was lowered', () => {
    const budget = createInheritanceBudget(limits, { catalog: 60, publish: 0, publisher: 120 });
    expect(budget.take(10, 9)).toMatchObject({ scope: 'catalog', bytes: 61 });
    expect(budget.take(10, 10)).toBeUndefined();
    expect(budget.take(1, 10)).toBeUndefined();
  });

  it('is never passed, whatever is asked for, and refuses only what would pass it', () => {
    const asked = fc.array(fc.record({ bytes: fc.nat(15), before: fc.nat(10) }), { maxLength: 60 });
    fc.assert(
      fc.property(asked, (resources) => {
        const budget = createInheritanceBudget(limits, { catalog: 20, publish: 5, publisher: 30 });
        for (const { bytes, before } of resources) {
          const { catalog, publish, publisher } = budget.used;
          const growth = bytes - before;
          const fits =
            bytes <= limits.resource &&
            publish + bytes <= limits.publish &&
            (growth <= 0 || (catalog + growth <= limits.catalog && publisher + growth <= limits.publisher));
          expect(budget.take(bytes, before) === undefined).toBe(fits);
          for (const scope of ['catalog', 'publish', 'publisher'] as const)
            expect(budget.used[scope]).toBeLessThanOrEqual(limits[scope]);
        }
      }),
    );
  });
});

function fail(): never {
  throw new Error('there is an excess');
}

describe('what is assembled at a time', () => {
  const mebibyte = 1024 * 1024;

  it('is a mebibyte of templates, or one resource that inherits more', () => {
    const sizes = [0.5, 0.5, 0.25, 2, 0.25, 0.25, 0.25, 0.25, 0.25].map((size) => size * mebibyte);
    const batches = [...batchesOf(sizes, (size) => size)].map((batch) =>
      batch.map((size) => size / mebibyte),
    );
    expect(batches).toEqual([[0.5, 0.5], [0.25], [2], [0.25, 0.25, 0.25, 0.25], [0.25]]);
  });

  it('is everything in order where nothing is inherited', () => {
    const items = Array.from({ length: 10_000 }, (_, index) => index);
    expect([...batchesOf(items, () => 0)]).toEqual([items]);
    expect([...batchesOf([], () => 0)]).toEqual([]);
  });
});
