import type { Queryable } from './database.ts';
import { maxRunLength } from './discovery-lists.ts';

// What a process remembers of the lists of the index: those that it found in too many pieces. Only what is searched is put together, soon after
// it was searched first; what a process forgets, the next search finds again.

/** Runs that a list may always have. */
const fewRuns = 16;
/** A list is in pieces when its runs have less than this part of what they may hold. */
const leastFilled = 1 / 20;
/** More are not remembered. */
const maxRemembered = 1_000;

export function noteRuns(queryable: Queryable, list: number, runs: number, keys: number): void {
  if (runs <= fewRuns || keys >= runs * maxRunLength(list) * leastFilled) return;
  const lists = inPieces.get(queryable) ?? new Set<number>();
  inPieces.set(queryable, lists);
  if (lists.size < maxRemembered) lists.add(list);
}

/** The lists that were found in pieces since this was asked last. */
export function takeListsInPieces(queryable: Queryable): ReadonlySet<number> {
  const lists = inPieces.get(queryable) ?? new Set<number>();
  inPieces.delete(queryable);
  return lists;
}

const inPieces = new WeakMap<Queryable, Set<number>>();
