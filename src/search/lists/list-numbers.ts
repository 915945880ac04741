import type { MarkBytes } from './codec.ts';

// The numbers of lists, and what the entries of each have as marks (docs/index-format.md, "Lists"). A fact has its hash as the number of its list.

/** Where a word stands in resources, in what is said of catalogs and providers, and in offers that always apply to all resources of their catalog. */
export function wordList(wordId: number): number {
  return -2 * wordId;
}

/** Where a word stands in other offers: which resources they cover now is known at query time. */
export function offerList(wordId: number): number {
  return -2 * wordId - 1;
}

export function columnList(pathHash: number): number {
  return firstColumn - Math.floor(pathHash / 2);
}

const firstColumn = -(2 ** 52);

export const firstSharedList = -(2 ** 51) - 1;
/** Lists: more of them make shorter runs, fewer make more runs in each, to be told apart by their bounds. */
export const sharedLists = 128;

/** The shared list that may hold entries of a list; undefined where none does. */
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

/** Entries of a run: it stays below two kilobytes, beyond which PostgreSQL would put it elsewhere. */
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
