import { describe, expect, it } from 'vitest';
import { catalog } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useProcesses } from '../../../tests/support/processes/processes.ts';
import type { SearchingProcess } from '../../../tests/support/search/index-reader.ts';
import type { Resource } from '../../protocol/catalog.ts';
import type { Database } from '../../storage/database.ts';
import { keyOf } from '../documents/keys.ts';
import { writeIndex } from '../write/write-index.ts';
import { type DocumentCheck, readPassing } from './check-documents.ts';

const now = new Date('2026-06-01T12:00:00Z');

let writer: Database;
let reader: SearchingProcess;
useProcesses(
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

const find = (keys: readonly number[], check: DocumentCheck = isCheap, atMost?: number) =>
  readPassing(reader, { keys, check }, atMost);

describe('a check on documents', () => {
  it('keeps those that pass, in their order, as many as are wanted', async () => {
    const c = await publish('c', [5, 20, 7]);
    const d = await publish('d', [8]);
    const keys = [keyOf(d, 1), keyOf(c, 3), keyOf(c, 2), keyOf(c, 1)];
    expect(await find(keys)).toEqual([keyOf(d, 1), keyOf(c, 3), keyOf(c, 1)]);
    expect(await find(keys, isCheap, 2)).toEqual([keyOf(d, 1), keyOf(c, 3)]);
    expect(await find(keys, { strict: 'strict $."price" > 10' })).toEqual([keyOf(c, 2)]);
  });

  it('looks at all resources of a catalog that is named by its own key, none twice', async () => {
    const c = await publish('c', [5, 20, 7]);
    expect(await find([keyOf(c, 3), keyOf(c, 0)])).toEqual([keyOf(c, 3), keyOf(c, 1)]);
  });

  it('looks at catalogs with very many resources as far as is wanted', async () => {
    const c = await publish(
      'c',
      Array.from({ length: 1_001 }, (_, index) => index),
    );
    expect(await find([keyOf(c, 0)])).toHaveLength(10);
    expect(await find([keyOf(c, 0)], isCheap, 3)).toEqual([1, 2, 3].map((number) => keyOf(c, number)));
  });

  it('sees what has changed', async () => {
    const c = await publish('c', [5, 20]);
    const keys = [keyOf(c, 1), keyOf(c, 2)];
    expect(await find(keys)).toEqual([keyOf(c, 1)]);
    await publish('c', [20, 5]);
    expect(await find(keys)).toEqual([keyOf(c, 2)]);
  });
});
