import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { LruCache } from '../../lru-cache.ts';
import type { Meaning } from '../../rules/text/forms.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Position } from '../../storage/freshness.ts';
import { CatalogTable } from './catalog-table.ts';

// The caches of a process (docs/index-format.md, "Caches"). A round trip to the database takes longer than most searches. Nothing else is cached.

const heapBytes = getHeapStatistics().heap_size_limit;
const memoryBytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());

/** The maximum size of each cache. Typed arrays count against the memory of the machine, objects against the heap. */
const limits = {
  /** Bytes of directories: a list of a million postings has about three thousand runs, 80 kB. */
  lists: Math.min(128 * 2 ** 20, heapBytes / 16),
  /** Bytes of runs: a column of a million numbers has 16 MB, a word in all of a million resources 9 MB. */
  runs: Math.min(512 * 2 ** 20, memoryBytes / 8),
  /** Catalogs, eight bytes each. */
  catalogs: Math.min(20_000_000, memoryBytes / 64),
  /** Matches of words, some hundred bytes each: ten megabytes of them. */
  words: Math.ceil(100_000 * Math.min(1, heapBytes / 2 ** 32)),
};

/** Bytes: overhead of a cache entry. */
const entryBytes = 300;

export type CacheName = keyof typeof limits;
export const cacheNames = Object.keys(limits) as CacheName[];

/** Entries of a list in parallel arrays: keys in ascending order, and their marks: the weight of a word, or a value (lists/codec.ts). */
export interface Run {
  keys: Float64Array;
  marks: Uint8Array | Float64Array;
}

/** The runs of a list, in the order of their first keys (lists/read-lists.ts). One array per column, because searches scan thousands of runs. */
export interface Directory {
  list: number;
  first: Float64Array;
  last: Float64Array;
  id: Float64Array;
  /** Number of entries of each run. */
  counts: Int16Array;
  /** Keys of documents from shared runs. */
  shared: Float64Array;
  /** Total number of entries. */
  count: number;
}

/** An indexed word that a word of a query matches. */
export interface WordMatch extends Meaning {
  id: number;
  word: string;
}

export type Caches = ReturnType<typeof createCaches>;

/** Creates all caches. `percent`: the share of its limit that each cache may use. Unused caches exist, but stay empty. */
export function createCaches({ percent = 100, used = cacheNames as readonly CacheName[] } = {}) {
  const limitOf = (name: CacheName) => (used.includes(name) ? (limits[name] * percent) / 100 : 0);
  const state: RefreshState = { askedAt: 0, changedAt: Number.NEGATIVE_INFINITY };
  return {
    /** The position in the change feed (invalidation.ts). */
    state,
    /** Counts invalidations. Data read before the last one may be stale. */
    generation: 0,
    /** The generation of the index in use; undefined: not read yet (generations/in-use.ts). */
    inUse: undefined as { index: string; version: number } | undefined,
    /** Directories by list number. */
    lists: new LruCache<number, Directory>(limitOf('lists'), ({ first, last, id, counts, shared }) =>
      [first, last, id, counts, shared].reduce((sum, { byteLength }) => sum + byteLength, entryBytes),
    ),
    /** Decoded runs by number. Runs never change, so they are not invalidated while the same server answers. */
    runs: new LruCache<number, Run>(
      limitOf('runs'),
      ({ keys, marks }) => entryBytes + keys.byteLength + marks.byteLength,
    ),
    catalogs: new CatalogTable(Math.floor(limitOf('catalogs'))),
    /** The indexed words that a word of a query matches. Cleared when words are added. Deleted words find nothing, and return with another number. */
    words: new LruCache<string, readonly WordMatch[]>(limitOf('words'), (matches) => matches.length + 1),
    /** Number of documents in the index; undefined after a change. */
    documents: undefined as number | undefined,
  };
}

interface RefreshState {
  /** The moment of the last refresh. Before the first one, nothing is cached. */
  asked?: Moment;
  /** Position of the primary's log at the last change. A replica must have replayed the log up to there, or its data may be older than the caches. */
  needed?: Position;
  /** The refresh under way. Resolves with whether the caches are as fresh as its answer. */
  asking?: Promise<boolean>;
  /** By the clock of this process. */
  askedAt: number;
  /** Time of the last reported change, by the same clock. */
  changedAt: number;
}

/** A moment in a database. */
export interface Moment {
  /** The committed transactions, as PostgreSQL writes them. */
  snapshot: string;
  /** Identifies the server. Transaction numbers mean nothing on another server or in a restored database. */
  server: string;
  /** By its clock, in milliseconds. */
  at: number;
  /** Position in its log; null while it accepts no writes. */
  lsn: number | null;
}

/** A connection with the caches for its data. The search service creates one per search (search.ts). */
export interface IndexReader extends Queryable {
  readonly caches: Caches;
  /** The schema with the tables of the generation in use (generations/in-use.ts). */
  readonly index: string;
  /** Whether a search that knows all changes older than `knownMs` may miss those up to a position, which replicas have not replayed. */
  mayMiss?(position: Position, knownMs: number): Promise<boolean>;
}

/** Whether the caches belong to the generation that a search reads: false if another one has come into use since the search began. */
export function isCached({ caches, index }: Pick<IndexReader, 'caches' | 'index'>): boolean {
  return caches.inUse?.index === index;
}

/** Reads data for a cache. It may be cached unless something was invalidated meanwhile: then it may be stale, or belong to another generation. */
export async function readForCache<T>(
  { caches, index = caches.inUse?.index }: Pick<IndexReader, 'caches'> & { index?: string },
  read: () => Promise<T>,
) {
  const { generation } = caches;
  const found = await read();
  const isFresh = caches.state.asked !== undefined && caches.generation === generation;
  return { found, mayKeep: isFresh && caches.inUse?.index === index };
}
