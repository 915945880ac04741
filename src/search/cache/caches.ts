import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { LruCache } from '../../lru-cache.ts';
import type { Meaning } from '../../rules/text/forms.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Position } from '../../storage/freshness.ts';
import { CatalogTable } from './catalog-table.ts';

// The caches of a process (docs/index-format.md, "Caches"), and nothing else is cached: the way to the database and back takes longer than most searches. All are read-through and bounded.

const heapBytes = getHeapStatistics().heap_size_limit;
const memoryBytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());

/** How much each cache may hold, by its name. Typed arrays count against the memory of the machine, objects against the heap. */
const limits = {
  /** Bytes of directories: a list of a million postings has some three thousand runs, 80 kB. */
  lists: Math.min(128 * 2 ** 20, heapBytes / 16),
  /** Bytes of runs: a column of a million numbers takes 16 MB, a word that all of a million resources have 9 MB. */
  runs: Math.min(512 * 2 ** 20, memoryBytes / 8),
  /** Catalogs, eight bytes each. */
  catalogs: Math.min(20_000_000, memoryBytes / 64),
  /** Matches of words, some hundred bytes each: as many as ten megabytes hold. */
  words: Math.ceil(100_000 * Math.min(1, heapBytes / 2 ** 32)),
};

/** Bytes: what an entry of a cache takes beside its content. */
const entryBytes = 300;

export type CacheName = keyof typeof limits;
export const cacheNames = Object.keys(limits) as CacheName[];

/** Entries of a list side by side: keys in ascending order, and what stands beside each: the weight of a word, or a value (lists/codec.ts). */
export interface Run {
  keys: Float64Array;
  marks: Uint8Array | Float64Array;
}

/** Which runs a list has, in the order of their first keys (lists/read-lists.ts): a column for each member of a row, as thousands of them are walked along. */
export interface Directory {
  list: number;
  first: Float64Array;
  last: Float64Array;
  id: Float64Array;
  /** Entries of each run. */
  counts: Int16Array;
  /** Numbers of the facts in shared runs. */
  shared: Float64Array;
  /** Entries in all. */
  count: number;
}

/** An indexed word that a word stands for. */
export interface WordMatch extends Meaning {
  id: number;
  word: string;
}

export type Caches = ReturnType<typeof createCaches>;

/** Makes all caches. `percent`: of its limit, how much each may hold. One that is not used is there and stays empty. */
export function createCaches({ percent = 100, used = cacheNames as readonly CacheName[] } = {}) {
  const limitOf = (name: CacheName) => (used.includes(name) ? (limits[name] * percent) / 100 : 0);
  const state: RefreshState = { askedAt: 0, changedAt: Number.NEGATIVE_INFINITY };
  return {
    /** How far the change feed was read (invalidation.ts). */
    state,
    /** Counts invalidations. What was read before the last one may be stale. */
    generation: 0,
    /** The generation of the index that is in use; undefined: to be read (generations/in-use.ts). */
    inUse: undefined as { index: string; version: number } | undefined,
    /** Directories by the lists' numbers. */
    lists: new LruCache<number, Directory>(limitOf('lists'), ({ first, last, id, counts, shared }) =>
      [first, last, id, counts, shared].reduce((sum, { byteLength }) => sum + byteLength, entryBytes),
    ),
    /** Decoded runs by their numbers. A run never changes, and so nothing is invalidated while the same server answers. */
    runs: new LruCache<number, Run>(
      limitOf('runs'),
      ({ keys, marks }) => entryBytes + keys.byteLength + marks.byteLength,
    ),
    catalogs: new CatalogTable(Math.floor(limitOf('catalogs'))),
    /** The indexed words that a word of a query stands for. Forgotten whenever words are added; one that has been deleted finds nothing, and comes back with another number. */
    words: new LruCache<string, readonly WordMatch[]>(limitOf('words'), (matches) => matches.length + 1),
    /** How many documents the index has, unless it has changed since they were counted. */
    documents: undefined as number | undefined,
  };
}

interface RefreshState {
  /** When the database was asked last. Before, nothing is kept. */
  asked?: Moment;
  /** Where the log of the primary was when something had changed last: a replica must have replayed it up to there, lest what is read from it is older than what the caches know. */
  needed?: Position;
  /** It is being asked. Resolves with whether the caches are as fresh as the answer. */
  asking?: Promise<boolean>;
  /** By the clock of this process. */
  askedAt: number;
  /** When it last reported a change, by the same clock. */
  changedAt: number;
}

/** A moment as a database knows it. */
export interface Moment {
  /** The committed transactions, as PostgreSQL writes them. */
  snapshot: string;
  /** Where the changes stand. To another server, or to a database that was restored, the numbers of transactions mean nothing. */
  server: string;
  /** By its clock, in milliseconds. */
  at: number;
  /** Position in its log; null while it takes no writes. */
  lsn: number | null;
}

/** A connection with the caches of what is read through it. The search service makes it for each search (search.ts). */
export interface IndexReader extends Queryable {
  readonly caches: Caches;
  /** The schema that has the tables of the generation in use (generations/in-use.ts). */
  readonly index: string;
  /** Whether a search may ignore the changes up to a position if it has seen all changes older than `knownMs`: replicas have not replayed them yet. */
  mayMiss?(position: Position, knownMs: number): Promise<boolean>;
}

/** Whether the caches are of the generation that a search reads: not where another one has come into use since it began. */
export function isCached({ caches, index }: Pick<IndexReader, 'caches' | 'index'>): boolean {
  return caches.inUse?.index === index;
}

/** Reads something for a cache. It may be kept unless something was invalidated meanwhile: then it may be stale already, or of another generation. */
export async function readForCache<T>(
  { caches, index = caches.inUse?.index }: Pick<IndexReader, 'caches'> & { index?: string },
  read: () => Promise<T>,
) {
  const { generation } = caches;
  const found = await read();
  const isFresh = caches.state.asked !== undefined && caches.generation === generation;
  return { found, mayKeep: isFresh && caches.inUse?.index === index };
}
