import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { Recent } from '../../recent.ts';
import type { CatalogState } from '../../rules/discover/served.ts';
import type { Queryable } from '../../storage/database.ts';
import { maxRunLength } from '../lists/runs.ts';
import { PlaceMemory } from './geometry-cache.ts';
import { OfferedWordMemory } from './offer-word-cache.ts';
import { PageMemory } from './page-cache.ts';
import { ProviderMemory } from './provider-cache.ts';
import { VerdictMemory } from './verdict-cache.ts';
import { WordMemory } from './word-cache.ts';

// What a process remembers of the index of one database: lists that it read lately, states of catalogs, which resources they have, documents, which
// of them pass a check, geometries, wide offers of providers, what words stand for, and which lists it found in too many pieces. What has changed is forgotten (invalidation.ts), and
// read again when it is needed.

/** Runs that a list may always have. */
const fewRuns = 16;
/** A list is in pieces when its runs have less than this part of what they may hold. */
const leastFilled = 1 / 20;
/** More are not remembered. */
const maxInPieces = 1_000;
/** An eighth of the memory there is, at most half a gigabyte: the words that most of two million resources have in common fit into that. */
const maxListBytes = Math.min(512 * 2 ** 20, memoryThereIs() / 8);
/** What the entry of a list takes by itself. */
const entryBytes = 500;
/** A catalog takes some forty bytes, as most share their states with others. */
const maxCatalogs = 2_000_000;
/** A state takes up to a kilobyte. */
const maxStates = 100_000;
/** Keys of resources, eight bytes each; a catalog counts as some more. */
const maxMembers = 4_000_000;
const membersOfCatalog = 12;
/** Texts and shapes stand in the heap. */
const maxPageBytes = Math.min(256 * 2 ** 20, getHeapStatistics().heap_size_limit / 8);
const maxPlaceBytes = Math.min(128 * 2 ** 20, getHeapStatistics().heap_size_limit / 16);
/** Enough for a million checks of catalogs with some resources. */
const maxVerdictBytes = Math.min(128 * 2 ** 20, getHeapStatistics().heap_size_limit / 16);
/** Wide offers of providers, some twenty bytes each; and those with a word, as many again. */
const maxWideOffers = 2_000_000;
/** A match takes some hundred bytes. */
const maxMatches = 100_000;

/** Of the machine, or of the container. */
function memoryThereIs(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}

export interface Memory {
  /** Where it stands (invalidation.ts). */
  state: MemoryState;
  /** How often something had to be forgotten: what was read before that may be outdated. */
  times: number;
  lists: Recent<number, { list: unknown; bytes: number }>;
  /** Undefined: there is none. */
  catalogs: Map<number, CatalogState | undefined>;
  /** By their texts. */
  states: Map<string, CatalogState>;
  /** The keys of all resources of catalogs, in order; null: more than are kept. */
  members: Recent<number, readonly number[] | null>;
  pages: PageMemory;
  verdicts: VerdictMemory;
  words: WordMemory;
  places: PlaceMemory;
  providers: ProviderMemory;
  offeredWords: OfferedWordMemory;
  inPieces: Set<number>;
}

export interface MemoryState {
  /** When the database was asked last. Before, nothing is kept. */
  asked?: Moment;
  /** It is being asked. */
  asking?: Promise<void>;
  /** By the clock of this process. */
  askedAt: number;
  /** Nothing had changed then. */
  isQuiet: boolean;
}

/** A moment as a database knows it. */
export interface Moment {
  /** What had been committed, as PostgreSQL writes it. */
  snapshot: string;
  /** Where the changes stand. To another server, or to a database that was restored, the numbers of transactions mean nothing. */
  home: string;
  /** By its clock, in milliseconds. */
  at: number;
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
  /** Which lists were put together; null where something has changed. */
  merged: string | null;
  everything: boolean | null;
}

export function forgetAll(memory: Memory): void {
  memory.times++;
  forgetCatalogs(memory);
  memory.members.clear();
  memory.pages.clear();
  memory.verdicts.clear();
  memory.words.clear();
  memory.places.clear();
  memory.providers.clear();
  memory.offeredWords.clear();
  memory.lists.clear();
}

export function forgetChanged(memory: Memory, changes: readonly Change[]): void {
  for (const { catalogs, lists, owners, everything } of changes) {
    if (everything) forgetAll(memory);
    memory.times++;
    for (const key of JSON.parse(catalogs ?? '[]')) {
      memory.catalogs.delete(key);
      memory.members.forget(key);
      memory.pages.forget(key);
      memory.places.noteChanged(key);
      memory.providers.noteChanged(key);
      memory.verdicts.forget(key);
    }
    for (const owner of JSON.parse(owners ?? '[]')) {
      memory.pages.forgetOwner(owner);
      memory.providers.forgetOwner(owner);
      memory.offeredWords.forgetOwner(owner);
    }
    for (const list of JSON.parse(lists ?? '[]')) memory.lists.forget(list);
  }
  const words: (string[] | null)[] = changes.map((change) => JSON.parse(change.words ?? '[]'));
  const isNamed = words.every((each) => each !== null);
  if (changes.length > 0) memory.words.noteChange(isNamed ? words.flat() : null);
}

/**
 * What is remembered of the keys of a list holds when its runs are put together, but not that they are too many. What is just being read may
 * still be kept as too long: then it is read in parts until it changes.
 */
export function forgetTooLong(memory: Memory, merged: string): void {
  for (const list of JSON.parse(merged))
    if (memory.lists.find(list)?.list === undefined) memory.lists.forget(list);
}

function forgetCatalogs(memory: Memory): void {
  memory.catalogs.clear();
  memory.states.clear();
}

/** Reads something to remember: it may be kept unless something had to be forgotten meanwhile. */
export async function readToKeep<T>(
  queryable: Queryable,
  read: () => Promise<T>,
): Promise<{ found: T; mayKeep: boolean }> {
  const memory = memoryOf(queryable);
  const { times } = memory;
  const found = await read();
  return { found, mayKeep: memory.state.asked !== undefined && memory.times === times };
}

/** How often something had to be forgotten: while that is the same, the index is as it was. */
export function forgottenTimes(queryable: Queryable): number {
  return memoryOf(queryable).times;
}

export function findList<T>(queryable: Queryable, list: number): { list: T } | undefined {
  return memoryOf(queryable).lists.find(list) as { list: T } | undefined;
}

export function keepList(queryable: Queryable, list: number, value: unknown, bytes: number): void {
  memoryOf(queryable).lists.keep(list, { list: value, bytes: bytes + entryBytes });
}

/** The states of catalogs that are known, by their keys; undefined where there is no such catalog. */
export function knownCatalogs(queryable: Queryable): ReadonlyMap<number, CatalogState | undefined> {
  return memoryOf(queryable).catalogs;
}

export function keepCatalogs(
  queryable: Queryable,
  states: ReadonlyMap<number, CatalogState | undefined>,
): void {
  const memory = memoryOf(queryable);
  if (memory.catalogs.size + states.size > maxCatalogs || memory.states.size > maxStates)
    forgetCatalogs(memory);
  for (const [key, state] of states) memory.catalogs.set(key, state);
}

/** The keys of the resources of catalogs, in order, by the catalogs' keys; null where they are many. */
export function memberMemory(queryable: Queryable): Memory['members'] {
  return memoryOf(queryable).members;
}

/** Documents that are known. */
export function pageMemory(queryable: Queryable): PageMemory {
  return memoryOf(queryable).pages;
}

/** Which resources pass which checks, as far as it is known. */
export function verdictMemory(queryable: Queryable): VerdictMemory {
  return memoryOf(queryable).verdicts;
}

/** What words of queries stand for, as far as it is known. */
export function wordMemory(queryable: Queryable): WordMemory {
  return memoryOf(queryable).words;
}

/** Geometries that are known. */
export function placeMemory(queryable: Queryable): PlaceMemory {
  return memoryOf(queryable).places;
}

/** The wide offers of providers that are known. */
export function providerMemory(queryable: Queryable): ProviderMemory {
  return memoryOf(queryable).providers;
}

/** Whose offers words stand in, as far as it is known. */
export function offeredWordMemory(queryable: Queryable): OfferedWordMemory {
  return memoryOf(queryable).offeredWords;
}

/** Most catalogs have the same state as many others: those share one object. */
export function sharedState(queryable: Queryable, text: string, parse: () => CatalogState): CatalogState {
  const { states } = memoryOf(queryable);
  const state = states.get(text) ?? parse();
  states.set(text, state);
  return state;
}

/** Notes a list that was found in pieces: in so many runs, with so many keys. */
export function noteRuns(queryable: Queryable, list: number, runs: number, keys: number): void {
  if (runs <= fewRuns || keys >= runs * maxRunLength(list) * leastFilled) return;
  const { inPieces } = memoryOf(queryable);
  if (inPieces.size < maxInPieces) inPieces.add(list);
}

/** The lists that were found in pieces since this was asked last. */
export function takeListsInPieces(queryable: Queryable): ReadonlySet<number> {
  const memory = memoryOf(queryable);
  const lists = memory.inPieces;
  memory.inPieces = new Set();
  return lists;
}

export function memoryOf(queryable: Queryable): Memory {
  const database = queryable.origin ?? queryable;
  const known = memories.get(database);
  if (known) return known;
  const memory: Memory = {
    state: { askedAt: 0, isQuiet: false },
    times: 0,
    lists: new Recent(maxListBytes, ({ bytes }) => bytes),
    ...{ catalogs: new Map(), states: new Map(), inPieces: new Set() },
    members: new Recent(maxMembers, (members) => (members?.length ?? 0) + membersOfCatalog),
    pages: new PageMemory(maxPageBytes),
    verdicts: new VerdictMemory(maxVerdictBytes),
    words: new WordMemory(maxMatches),
    places: new PlaceMemory(maxPlaceBytes),
    providers: new ProviderMemory(maxWideOffers),
    offeredWords: new OfferedWordMemory(maxWideOffers),
  };
  memories.set(database, memory);
  return memory;
}

const memories = new WeakMap<object, Memory>();
