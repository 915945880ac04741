import type { Queryable, Transaction } from '../../storage/database.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { formatOf, type IndexFormat, type IndexFormats } from '../entries/index-format.ts';
import { createListRemovals, type ListRemovals } from '../lists/remove.ts';

// Generations of the index. Each has a schema with all tables of the index, so that it is dropped whole. As a rule there is one. For another version of the code that makes entries, or by hand, a new one is built
// beside it (upkeep/build.ts): searches read the one in use, writers write both. One row says which is in use, so that no search reads two.

export interface Generation {
  number: number;
  /** The schema that has its tables. */
  index: string;
  format: IndexFormat;
}

/** One that a transaction writes to. */
export interface WrittenGeneration extends Generation {
  /** From its lists: the last thing that the transaction does. */
  removals: ListRemovals;
}

export function schemaOf(number: number): string {
  return `index_${number}`;
}

/** Writers hold it shared until their end; who makes, switches or drops a generation, or deletes what is unused, waits for them. */
const generationsLock = 'generations of the index';

/** The generation that searches read. Throws UnknownIndexVersion. */
export async function findInUse(
  reader: Omit<IndexReader, 'index'>,
  formats: IndexFormats,
): Promise<{ index: string; format: IndexFormat }> {
  const { caches } = reader;
  if (caches.inUse === undefined) {
    const { found, mayKeep } = await readForCache(reader, () => readInUse(reader));
    if (mayKeep) caches.inUse = found;
    return { index: schemaOf(found.number), format: formatOf(formats, found.version) };
  }
  return { index: schemaOf(caches.inUse.number), format: formatOf(formats, caches.inUse.version) };
}

export async function readInUse(queryable: Queryable): Promise<{ number: number; version: number }> {
  const { rows } = await queryable.query<{ number: number; version: number }>(
    `select number, version from discovery.generation where state = 'in use'`,
    [],
    { prepared: true },
  );
  if (rows[0] === undefined) throw new Error('no generation of the index is in use');
  return rows[0];
}

/** The generations that a transaction writes, the one in use first. None is made, switched or dropped until its end. */
export async function readWritten(tx: Transaction, formats: IndexFormats): Promise<WrittenGeneration[]> {
  await waitForLock(tx, generationsLock, { isShared: true });
  const { rows } = await tx.query<{ number: number; version: number }>(
    `select number, version from discovery.generation where state in ('in use', 'building') order by number`,
  );
  return rows.map(({ number, version }) => ({
    number,
    index: schemaOf(number),
    format: formatOf(formats, version),
    removals: createListRemovals(schemaOf(number)),
  }));
}

/** Waits for all writers, and keeps others waiting until the end of the transaction. False where they take longer than `withinMs`. */
export function lockGenerations(tx: Transaction, { withinMs }: { withinMs?: number } = {}): Promise<boolean> {
  return waitForLock(tx, generationsLock, { withinMs });
}
