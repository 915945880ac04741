import type { Queryable } from './database.ts';
import { maxRunLength } from './discovery-lists.ts';

// What a process remembers of the lists of one database: those that it read lately, as they were, and those that it found in too many pieces.
// Runs never change: as long as a list has the same runs, it is the same list. What is forgotten is read again.

/** Runs that a list may always have. */
const fewRuns = 16;
/** A list is in pieces when its runs have less than this part of what they may hold. */
const leastFilled = 1 / 20;
/** More are not remembered. */
const maxInPieces = 1_000;
const maxKeptBytes = 96 * 2 ** 20;
/** What the entry itself takes. */
const entryBytes = 500;

/** A list as it was read. */
export interface KeptList<T> {
  /** What its runs were. */
  version: string;
  list: T;
}

interface Memory {
  kept: Map<number, KeptList<unknown> & { bytes: number }>;
  keptBytes: number;
  inPieces: Set<number>;
}

export function findKept<T>(queryable: Queryable, list: number): KeptList<T> | undefined {
  const { kept } = memoryOf(queryable);
  const found = kept.get(list);
  if (found === undefined) return undefined;
  // The last one is the one that was asked for last.
  kept.delete(list);
  kept.set(list, found);
  return found as KeptList<unknown> as KeptList<T>;
}

/** Those that were not asked for the longest are forgotten first. */
export function keepList<T>(queryable: Queryable, list: number, kept: KeptList<T>, bytes: number): void {
  const memory = memoryOf(queryable);
  forget(memory, list);
  memory.kept.set(list, { ...kept, bytes: bytes + entryBytes });
  memory.keptBytes += bytes + entryBytes;
  for (const oldest of memory.kept.keys()) {
    if (memory.keptBytes <= maxKeptBytes) break;
    forget(memory, oldest);
  }
}

function forget(memory: Memory, list: number): void {
  memory.keptBytes -= memory.kept.get(list)?.bytes ?? 0;
  memory.kept.delete(list);
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

function memoryOf(queryable: Queryable): Memory {
  const database = queryable.origin ?? queryable;
  const memory = memories.get(database) ?? { kept: new Map(), keptBytes: 0, inPieces: new Set() };
  memories.set(database, memory);
  return memory;
}

const memories = new WeakMap<object, Memory>();
