import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { LruCache } from '../../lru-cache.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Position } from '../../storage/freshness.ts';
import { parseState } from '../documents/catalog-state.ts';
import type { ListRest, WholeList } from '../lists/posting-list.ts';
import type { RunKey } from '../lists/runs.ts';
import { CatalogTable } from './catalog-table.ts';
import { ProviderCache } from './provider-cache.ts';
import { VersionCache } from './version-cache.ts';
import { WordCache } from './word-cache.ts';

// The caches of a process (docs/index-format.md, "Caches"). All of them are read-through and bounded. A search reads from PostgreSQL what a cache does not have; the caches are there
// because the way to the database and back takes longer than most searches. What has changed in the index is invalidated before it is used again (invalidation.ts).

/** What the entry of a list, or of a run, takes by itself; and a run in the directory of a list. */
const entryBytes = 500;
const runKeyBytes = 60;

const heapBytes = getHeapStatistics().heap_size_limit;
/** Numbers of entries are meant for a heap of four gigabytes, and less of them for a smaller one. */
const scaleToHeap = (count: number) => Math.ceil(count * Math.min(1, heapBytes / 2 ** 32));
/** How much each cache may hold, by its name. Typed arrays count against the memory of the machine, texts and shapes against the heap. */
const limits = {
  /** Half a gigabyte: the words that most of two million resources have in common fit into that. */
  lists: Math.min(512 * 2 ** 20, findMemorySize() / 8),
  /** Six bytes each. */
  catalogs: Math.min(20_000_000, findMemorySize() / 48),
  /** Of a million resources, searches for common words look at the first tenth or so: some twenty megabytes. */
  runs: Math.min(64 * 2 ** 20, findMemorySize() / 32),
  outlines: Math.min(32 * 2 ** 20, heapBytes / 32),
  /** Wide offers of providers, some twenty bytes each. */
  providers: scaleToHeap(2_000_000),
  /** A match of words takes some hundred bytes. */
  words: scaleToHeap(100_000),
};

/** Of the machine, or of the container. */
function findMemorySize(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}

interface CacheOptions {
  /** How much of its limit each cache may hold. */
  percent?: number;
  /** All, unless some are named. */
  used?: readonly CacheName[];
}

export type CacheName = keyof typeof limits;
export const cacheNames = Object.keys(limits) as CacheName[];

/** Makes all caches. A cache that is not used, or may hold nothing, is there and stays empty. */
export function createCaches({ percent = 100, used = cacheNames }: CacheOptions = {}): Caches {
  const limitOf = (name: CacheName) => (used.includes(name) ? (limits[name] * percent) / 100 : 0);
  return {
    state: { askedAt: 0, changedAt: Number.NEGATIVE_INFINITY },
    generation: 0,
    lists: new LruCache(limitOf('lists'), ({ bytes }) => bytes + entryBytes),
    runs: new LruCache(limitOf('runs'), sizeOfList),
    outlines: new LruCache(
      limitOf('outlines'),
      ({ part, directory }) => sizeOfList(part) + (directory?.runs.length ?? 0) * runKeyBytes,
    ),
    catalogs: new CatalogTable(Math.floor(limitOf('catalogs')), parseState),
    words: new WordCache(limitOf('words')),
    providers: new ProviderCache(limitOf('providers')),
    versions: new VersionCache(),
  };
}

function sizeOfList({ heads, others }: WholeList): number {
  return entryBytes + (heads.keys.length + others.keys.length) * bytesOfKey;
}

/** A key and its weight. */
const bytesOfKey = 9;

export interface Caches {
  /** How far the change feed was read (invalidation.ts). */
  state: RefreshState;
  /** Counts invalidations. What was read in an older generation may be stale. */
  generation: number;
  /** By their numbers; undefined instead of a list that is too long to be read whole. */
  lists: LruCache<number, { list: WholeList | undefined; bytes: number }>;
  /** Of the lists of words, by their numbers. */
  outlines: LruCache<number, ListOutline>;
  /** Runs of common words, decoded, by their numbers. A run never changes, and so nothing is invalidated while the same server answers. */
  runs: LruCache<number, WholeList>;
  catalogs: CatalogTable;
  words: WordCache;
  providers: ProviderCache;
  versions: VersionCache;
}

/** What is cached of a list. It is invalidated when the list has changed; that runs of it were merged changes nothing. */
export interface ListOutline {
  /** All of it, or what its first run holds of a long one. */
  part: FirstPart;
  /** How many keys it has, about. */
  count: number;
  directory?: Directory;
}

export interface FirstPart extends WholeList {
  /** Where the next part begins; undefined where this is all. */
  rest?: ListRest;
}

/** The runs of a list that begin up to a key, in the order of their first keys. */
export interface Directory {
  upTo: number;
  runs: readonly RunKey[];
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
  /** When it last told of a change, by the same clock. */
  changedAt: number;
}

/** A moment as a database knows it. */
export interface Moment {
  /** What had been committed, as PostgreSQL writes it. */
  snapshot: string;
  /** Where the changes stand. To another server, or to a database that was restored, the numbers of transactions mean nothing. */
  server: string;
  /** By its clock, in milliseconds. */
  at: number;
  /** Of its log; null while it takes no writes. */
  lsn: number | null;
}

/** What one transaction changed, or part of that. */
export interface Change {
  /** JSON texts. */
  catalogs: string | null;
  lists: string | null;
  /** Whose offers were written. */
  owners: string | null;
  /** Which words were added. */
  words: string | null;
  /** Which lists were compacted; null where something has changed. */
  merged: string | null;
  everything: boolean | null;
}

/** `isOther`: another server answers, or a restored copy, which has other runs under the same numbers. */
export function invalidateAll(caches: Caches, { isOther = false } = {}): void {
  caches.generation++;
  for (const name of cacheNames) if (name !== 'runs' || isOther) caches[name].clear();
  caches.versions.clear();
}

export function invalidateChanged(caches: Caches, changes: readonly Change[]): void {
  for (const { catalogs, lists, owners, everything } of changes) {
    if (everything) invalidateAll(caches);
    caches.generation++;
    for (const key of JSON.parse(catalogs ?? '[]')) {
      caches.catalogs.forget(key);
      caches.providers.noteChanged(key);
      caches.versions.noteChanged(key);
    }
    for (const owner of JSON.parse(owners ?? '[]')) caches.providers.forgetTagged(owner);
    for (const list of JSON.parse(lists ?? '[]')) {
      caches.lists.forget(list);
      caches.outlines.forget(list);
    }
  }
  const words: (string[] | null)[] = changes.map((change) => JSON.parse(change.words ?? '[]'));
  const isNamed = words.every((each) => each !== null);
  if (changes.length > 0) caches.words.noteChange(isNamed ? words.flat() : null);
}

/**
 * Compaction leaves the keys of a list as they were, so that a cached list stays valid. Only the note that a list has too many runs to be cached is
 * invalidated. A read that is under way may still note that: then the list is read in parts until it changes.
 */
export function invalidateTooLong(caches: Caches, merged: string): void {
  for (const list of JSON.parse(merged))
    if (caches.lists.find(list)?.list === undefined) caches.lists.forget(list);
}

/** A connection with the caches of what is read through it. The search service makes it for each search (search.ts). */
export interface IndexReader extends Queryable {
  readonly caches: Caches;
  /** Whether a search may do without the changes up to a position, when it knows all that is older than so many milliseconds: replicas have not replayed them yet. */
  mayMiss?(position: Position, knownMs: number): Promise<boolean>;
}

/** Reads something for a cache. It may be kept unless something was invalidated meanwhile: then it may be stale already. */
export async function readForCache<T>(
  { caches }: Pick<IndexReader, 'caches'>,
  read: () => Promise<T>,
): Promise<{ found: T; mayKeep: boolean }> {
  const { generation } = caches;
  const found = await read();
  return { found, mayKeep: caches.state.asked !== undefined && caches.generation === generation };
}
