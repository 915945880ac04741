import type { MarkBytes } from './codec.ts';

// The numbers of lists, and the marks of their entries (docs/index-format.md, "Lists"). The list of a fact has the hash of the fact as its number.

/** Entries of a word in resources, in heads, and in offers that always apply to all resources of their catalog. */
export function wordList(wordId: number): number {
  return -2 * wordId;
}

/** Entries of a word in other offers. The resources that they cover now are determined at query time. */
export function offerList(wordId: number): number {
  return -2 * wordId - 1;
}

export function columnList(pathHash: number): number {
  return firstColumn - Math.floor(pathHash / 2);
}

const firstColumn = -(2 ** 52);

export const firstSharedList = -(2 ** 51) - 1;
/** Number of lists: more would have shorter runs, fewer would have more runs per list to search by their bounds. */
export const sharedLists = 128;

/** The shared list that may have entries of a list; undefined if none does. */
export function findSharedList(list: number): number | undefined {
  return list >= 0 ? firstSharedList - (list % sharedLists) : undefined;
}

export function isShared(list: number): boolean {
  return list <= firstSharedList && list > firstSharedList - sharedLists;
}

/** The same in SQL. */
export const isSharedText = `(list <= ${firstSharedList} and list > ${firstSharedList - sharedLists})`;

export function markBytesOf(list: number): MarkBytes {
  if (list >= 0) return 0;
  return list <= firstSharedList ? 8 : 1;
}

/** Maximum of entries in a run. Above two kilobytes, PostgreSQL would store it elsewhere. */
export function maxRunLength(list: number): number {
  if (isShared(list)) return 120;
  return list <= firstSharedList ? 170 : 320;
}

export function describeList(list: number): string {
  if (list >= 0) return 'a fact';
  if (isShared(list)) return 'facts of few documents';
  if (list <= firstColumn) return 'numbers';
  return list % 2 === 0 ? `word ${-list / 2}` : `word ${(-list - 1) / 2} in offers`;
}
