import type { Queryable, Transaction } from '../../storage/database.ts';
import { SearchIndexUnavailable } from '../../storage/unavailable.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { formatOf, type IndexFormat, type IndexFormats } from '../entries/index-format.ts';
import { createListRemovals, type ListRemovals } from '../lists/remove.ts';

// Generations of the index. Each has a schema with all tables of the index, so it can be dropped as a whole. Usually there is one. For another version of the code that makes entries, or by hand, a new one is
// built beside it (upkeep/build.ts): searches read the one in use, writers write both. One row names the one in use, so no search reads two.

export interface Generation {
  number: number;
  /** The schema with its tables. */
  index: string;
  format: IndexFormat;
}

/** A generation that a transaction writes. */
export interface WrittenGeneration extends Generation {
  /** Removals from its lists: the last step of the transaction. */
  removals: ListRemovals;
}

export function schemaOf(number: number): string {
  return `index_${number}`;
}

/** Writers hold it shared until their end. Creating, switching or dropping a generation, or deleting unused rows, waits for them. */
const generationsLock = 'generations of the index';

/** The generation that searches read. Throws UnknownIndexVersion. */
export async function findInUse(reader: Omit<IndexReader, 'index'>, formats: IndexFormats) {
  const { caches } = reader;
  const { found, mayKeep } = await readForCache(reader, async () => {
    if (caches.inUse) return caches.inUse;
    const { number, version } = await readInUse(reader);
    return { index: schemaOf(number), version };
  });
  if (mayKeep) caches.inUse = found;
  return { index: found.index, format: formatOf(formats, found.version) };
}

export interface GenerationRow {
  number: number;
  version: number;
}

async function readInUse(queryable: Queryable): Promise<GenerationRow> {
  const inUse = await findByState(queryable, 'in use');
  if (inUse === undefined) throw new SearchIndexUnavailable(undefined, 'is being built');
  return inUse;
}

export function findByState(queryable: Queryable, state: 'in use' | 'building') {
  const select = 'select number, version from discovery.generation where state = $1';
  return queryable.first<GenerationRow>(select, [state], { prepared: true });
}

/** The generations that a transaction writes, the one in use first. None is created, switched or dropped before its end. */
export async function readWritten(tx: Transaction, formats: IndexFormats): Promise<WrittenGeneration[]> {
  await waitForLock(tx, generationsLock, { isShared: true });
  const rows = await tx.rows<GenerationRow>(`select number, version from discovery.generation
    where state in ('in use', 'building') order by number`);
  return rows.map(({ number, version }) => ({
    number,
    index: schemaOf(number),
    format: formatOf(formats, version),
    removals: createListRemovals(schemaOf(number)),
  }));
}

/** Waits for all writers, and blocks others until the end of the transaction. False if they take longer than `withinMs`. */
export function lockGenerations(tx: Transaction, { withinMs }: { withinMs?: number } = {}): Promise<boolean> {
  return waitForLock(tx, generationsLock, { withinMs });
}

/** The existing generations, and the progress of a build. */
export interface BuildState {
  /** None after OpenSearch was used, until a new one is built. */
  inUse?: GenerationRow;
  building?: GenerationRow;
  /** Catalogs that are not in the newest generation yet. */
  left: number;
}

export async function readBuildState(queryable: Queryable): Promise<BuildState> {
  const building = await findByState(queryable, 'building');
  const left = building ? await countLeft(queryable, building.number) : 0;
  const inUse = await findByState(queryable, 'in use');
  return { ...(inUse && { inUse }), ...(building && { building }), left };
}

/** Catalogs that are not in a generation yet. */
export function countLeft(queryable: Queryable, number: number): Promise<number> {
  return queryable.value('select count(*) from discovery.catalog where generation < $1', [number]);
}
