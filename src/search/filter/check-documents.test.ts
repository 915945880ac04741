import { describe, expect, it } from 'vitest';
import type { SearchingProcess } from '../../../tests/support/index-reader.ts';
import { useProcesses } from '../../../tests/support/processes.ts';
import { catalog } from '../../../tests/support/sample-catalogs.ts';
import type { Resource } from '../../protocol/catalog.ts';
import type { Database } from '../../storage/database.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { keyOf } from '../documents/keys.ts';
import { writeIndex } from '../write/write-index.ts';
import { readPassing } from './check-documents.ts';

const now = new Date('2026-06-01T12:00:00Z');

let writer: Database;
/** A process that remembers. */
let reader: SearchingProcess;
const watched = useProcesses(
  (...opened) => {
    [writer, reader] = opened;
  },
  { emptied: 'discovery.run, discovery.catalog, discovery.resource' },
);

type Priced = Resource & { price: number };

/** A catalog with a resource for each price. Returns its key. */
async function publish(id: string, prices: readonly number[]): Promise<number> {
  const resources = prices.map((price, index): Priced => ({ id: `r${index}`, price }));
  const incoming = { source: 'node', owner: 'o', type: 'REGULAR', networks: [], mode: 'FULL' } as const;
  const [applied] = await writer.transaction((tx) =>
    writeIndex(tx, now, ({ apply }) => apply([{ ...incoming, catalog: catalog(id, { resources }) }])),
  );
  return applied?.key ?? 0;
}

const isCheap = { strict: 'strict $."price" < 10' };

/** What a search that begins now finds, and how many statements it takes, apart from catching up. */
async function find(keys: readonly number[], check = isCheap, atMost?: number) {
  await refreshCaches(reader);
  watched.statements = 0;
  const passing = await readPassing(reader, { keys, check }, atMost);
  return { passing, read: watched.statements };
}

describe('what a check says of resources', () => {
  it('is asked once', async () => {
    const c = await publish('c', [5, 20, 7]);
    const d = await publish('d', [8]);
    const keys = [keyOf(d, 1), keyOf(c, 3), keyOf(c, 2), keyOf(c, 1)];
    const passing = [keyOf(d, 1), keyOf(c, 3), keyOf(c, 1)];
    expect(await find(keys)).toEqual({ passing, read: 1 });
    expect(await find(keys)).toEqual({ passing, read: 0 });
    expect(await find(keys, isCheap, 2)).toEqual({ passing: passing.slice(0, 2), read: 0 });
    expect(await find(keys, { strict: 'strict $."price" > 10' })).toEqual({
      passing: [keyOf(c, 2)],
      read: 1,
    });
  });

  it('is asked only of those of which it is not known', async () => {
    const c = await publish('c', [5, 20, 7]);
    await find([keyOf(c, 2), keyOf(c, 1)]);
    expect(await find([keyOf(c, 1), keyOf(c, 3)])).toEqual({ passing: [keyOf(c, 1), keyOf(c, 3)], read: 1 });
    expect(await find([keyOf(c, 3), keyOf(c, 2)])).toEqual({ passing: [keyOf(c, 3)], read: 0 });
  });

  it('is asked of all resources of a catalog that is named by its own key, none twice', async () => {
    const c = await publish('c', [5, 20, 7]);
    const keys = [keyOf(c, 3), keyOf(c, 0)];
    const passing = [keyOf(c, 3), keyOf(c, 1)];
    expect(await find(keys)).toEqual({ passing, read: 2 });
    expect(await find(keys)).toEqual({ passing, read: 0 });
  });

  it('is asked again when they have changed', async () => {
    const c = await publish('c', [5, 20]);
    const d = await publish('d', [8]);
    const [all, heads] = [
      [keyOf(c, 1), keyOf(c, 2), keyOf(d, 1)],
      [keyOf(c, 0), keyOf(d, 0)],
    ];
    await find(heads);
    expect(await find(all)).toEqual({ passing: [keyOf(c, 1), keyOf(d, 1)], read: 0 });
    await publish('c', [20, 5]);
    expect(await find(all)).toEqual({ passing: [keyOf(c, 2), keyOf(d, 1)], read: 1 });
    await publish('c', [5]);
    expect((await find(all)).passing).toEqual([keyOf(c, 1), keyOf(d, 1)]);
    await publish('c', [5, 6, 7]);
    expect((await find(heads)).passing).toHaveLength(4);
  });

  it('is not kept when it was read before something had to be forgotten that came meanwhile', async () => {
    const key = keyOf(await publish('c', [5]), 1);
    await refreshCaches(reader);
    watched.meanwhile = async () => {
      watched.meanwhile = async () => {};
      await publish('c', [20]);
      await refreshCaches(reader);
    };
    expect(await readPassing(reader, { keys: [key], check: isCheap })).toEqual([key]);
    expect(await find([key])).toEqual({ passing: [], read: 1 });
  });

  it('is asked every time of catalogs that have many resources together', async () => {
    const prices = Array.from({ length: 900 }, (_, index) => index);
    const catalogs = [await publish('c', prices), await publish('d', prices), await publish('e', prices)];
    const heads = catalogs.map((key) => keyOf(key, 0));
    const passing = catalogs.flatMap((key) => prices.slice(0, 10).map((price) => keyOf(key, price + 1)));
    expect(await find(heads)).toEqual({ passing, read: 2 });
    expect(await find(heads)).toEqual({ passing, read: 1 });
    expect(await find(heads.slice(0, 2))).toEqual({ passing: passing.slice(0, 20), read: 1 });
    expect(await find(heads.slice(0, 2))).toEqual({ passing: passing.slice(0, 20), read: 0 });
  });

  it('is asked every time of catalogs with many resources, and by long checks', async () => {
    const prices = Array.from({ length: 1_001 }, (_, index) => index);
    const c = await publish('c', prices);
    const passing = prices.slice(0, 10).map((price) => keyOf(c, price + 1));
    expect(await find([keyOf(c, 0)])).toEqual({ passing, read: 2 });
    expect(await find([keyOf(c, 0)])).toEqual({ passing, read: 1 });
    expect(await find([keyOf(c, 0)], isCheap, 3)).toEqual({ passing: passing.slice(0, 3), read: 1 });
    const isCheapAtLength = {
      strict: Array(20).fill('strict $."price" < 10').join(' && ').replaceAll(' strict', ''),
    };
    for (let times = 0; times < 2; times++)
      expect(await find([keyOf(c, 1)], isCheapAtLength)).toEqual({ passing: [keyOf(c, 1)], read: 1 });
  });
});
