import { describe, expect, it } from 'vitest';
import { type CatalogEntry, CatalogTable, maxCounted } from './catalog-table.ts';

const active: CatalogEntry = { state: '["REGULAR",true,[],[],null]', resources: 3 };
const isActive = expect.objectContaining({ isActive: true });
const absent: CatalogEntry = { state: null, resources: 0 };

function keep(table: CatalogTable, entries: Record<number, CatalogEntry>): void {
  for (const [key, entry] of Object.entries(entries)) table.keep(Number(key), entry);
}

describe('the table of catalogs', () => {
  it('tells states and counts, and shares the states that are the same', () => {
    const table = new CatalogTable(10_000);
    keep(table, { 1: active, 2: absent, 5000: active });
    expect([1, 2, 3, 5_000].map((key) => table.find(key))).toEqual([isActive, null, undefined, isActive]);
    expect(table.find(1)).toBe(table.find(5_000));
    expect([1, 2].map((key) => table.findCount(key))).toEqual([3, 0]);
  });

  it('tells counts from resources that were not counted', () => {
    const table = new CatalogTable(100);
    const counts = [maxCounted, 0, undefined];
    keep(table, Object.fromEntries(counts.map((resources, key) => [key, { ...active, resources }])));
    expect(counts.map((_, key) => table.findCount(key))).toEqual(counts);
  });

  it('knows nothing of a catalog that has changed, nor of any when all was forgotten', () => {
    const table = new CatalogTable(100);
    keep(table, { 1: active, 2: active });
    table.forget(1);
    expect([table.find(1), table.find(2)]).toEqual([undefined, isActive]);
    table.clear();
    expect(table.find(2)).toBeUndefined();
  });

  it('forgets all states when there are too many, and does not have all catalogs loaded again for that', () => {
    const table = new CatalogTable(1_000_000);
    const own = (key: number): CatalogEntry => ({
      state: `["REGULAR",true,["${key}"],[],null]`,
      resources: 1,
    });
    table.loadedUpTo = 500_000;
    for (let key = 1; key <= 500_000; key++) table.keep(key, own(key));
    expect([1, 500_000].map((key) => table.find(key))).toEqual([
      undefined,
      expect.objectContaining({ networkIds: ['500000'] }),
    ]);
    expect(table.loadedUpTo).toBe(500_000);
    table.clear();
    expect(table.loadedUpTo).toBe(0);
  });

  it('holds no catalog from its limit on', () => {
    const table = new CatalogTable(3);
    keep(table, { 2: active, 3: active });
    expect([table.find(2), table.find(3)]).toEqual([isActive, undefined]);
  });
});
