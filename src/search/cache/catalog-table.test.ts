import { describe, expect, it } from 'vitest';
import { type CatalogEntry, CatalogTable, maxCounted } from './catalog-table.ts';

const active: CatalogEntry = { state: '["REGULAR",true,[],[],null]', resources: 3 };
const isActive = expect.objectContaining({ isActive: true });
const absent: CatalogEntry = { state: null, resources: 0 };

async function keep(table: CatalogTable, entries: Record<number, CatalogEntry>): Promise<void> {
  await table.read(async (read) => {
    for (const [key, entry] of Object.entries(entries)) read.keep(Number(key), entry);
  });
}

describe('the table of catalogs', () => {
  it('tells states and counts, and shares the states that are the same', async () => {
    const table = new CatalogTable(10_000);
    await keep(table, { 1: active, 2: absent, 5000: active });
    expect([1, 2, 3, 5_000].map((key) => table.find(key))).toEqual([isActive, null, undefined, isActive]);
    expect(table.find(1)).toBe(table.find(5_000));
    expect([1, 2].map((key) => table.findCount(key))).toEqual([3, 0]);
  });

  it('tells counts from resources that were not counted', async () => {
    const table = new CatalogTable(100);
    const counts = [maxCounted, 0, undefined];
    await keep(table, Object.fromEntries(counts.map((resources, key) => [key, { ...active, resources }])));
    expect(counts.map((_, key) => table.findCount(key))).toEqual(counts);
  });

  it('does not keep what changed while it was read, nor anything when all was forgotten meanwhile', async () => {
    const table = new CatalogTable(100);
    await table.read(async (read) => {
      table.forget(1);
      read.keep(1, active);
      read.keep(2, active);
    });
    expect([table.find(1), table.find(2)]).toEqual([undefined, isActive]);
    expect([...table.unread]).toEqual([1]);
    await table.read(async (read) => {
      table.clear();
      read.keep(1, active);
    });
    expect([1, 2].map((key) => table.find(key))).toEqual([undefined, undefined]);
  });

  it('forgets all states when there are too many, and does not have all catalogs loaded again for that', async () => {
    const table = new CatalogTable(1_000_000);
    const own = (key: number): CatalogEntry => ({
      state: `["REGULAR",true,["${key}"],[],null]`,
      resources: 1,
    });
    table.loadedUpTo = 500_000;
    await table.read(async (read) => {
      for (let key = 1; key <= 500_000; key++) read.keep(key, own(key));
    });
    expect([1, 500_000].map((key) => table.find(key))).toEqual([
      undefined,
      expect.objectContaining({ networkIds: ['500000'] }),
    ]);
    expect(table.loadedUpTo).toBe(500_000);
    table.clear();
    expect(table.loadedUpTo).toBe(0);
  });

  it('holds no catalog from its limit on', async () => {
    const table = new CatalogTable(3);
    await keep(table, { 2: active, 3: active });
    expect([table.find(2), table.find(3)]).toEqual([isActive, undefined]);
  });
});
