import { isUnspaced } from './words.ts';

/** By how many edits a query word differs from a matching indexed word. Decided: at most 1 for query words of 3 to 5 letters, 2 for longer ones; only words of letters: 50 is not 60. */
export function findEdits(queryWord: string, indexedWord: string): number | undefined {
  if (queryWord === indexedWord) return 0;
  const edits = allowedEdits(queryWord);
  return edits > 0 && isOfLetters(indexedWord) ? findEditDistance(queryWord, indexedWord, edits) : undefined;
}

export function allowedEdits(queryWord: string): number {
  const { length } = [...queryWord];
  return !isOfLetters(queryWord) || length < 3 ? 0 : length <= 5 ? 1 : 2;
}

function isOfLetters(word: string): boolean {
  return /^[\p{L}\p{M}]+$/u.test(word) && !isUnspaced(word);
}

/** The edit distance of two words; undefined above `most`. Two neighbouring letters swapped are one edit (optimal string alignment). */
export function findEditDistance(left: string, right: string, most: number): number | undefined {
  const [a, b] = [[...left], [...right]];
  if (Math.abs(a.length - b.length) > most) return undefined;
  let before: number[] = [];
  let above = [0, ...b.map((_, column) => column + 1)];
  for (const [row, letter] of a.entries()) {
    const edits = [row + 1];
    for (const [column, other] of b.entries()) {
      const isSwapped = letter === b[column - 1] && other === a[row - 1];
      const swapped = isSwapped ? (before[column - 1] as number) + 1 : Number.POSITIVE_INFINITY;
      const replaced = (above[column] as number) + (letter === other ? 0 : 1);
      edits.push(
        Math.min(replaced, (above[column + 1] as number) + 1, (edits[column] as number) + 1, swapped),
      );
    }
    if (Math.min(...edits, ...above) > most) return undefined;
    [before, above] = [above, edits];
  }
  const distance = above.at(-1) as number;
  return distance <= most ? distance : undefined;
}

/** The shared beginning and end of two words as a fraction, up to 1: a mistyped word is mostly the same. Of two letters swapped, one counts; one always does, so that a found word counts something. */
export function likenessOf(left: string, right: string): number {
  const shortest = Math.min(left.length, right.length);
  let [start, end] = [0, 0];
  while (start < shortest && left[start] === right[start]) start++;
  while (end < shortest && left.at(-1 - end) === right.at(-1 - end)) end++;
  const swapped = left[start] === right[start + 1] && left[start + 1] === right[start] ? 1 : 0;
  return Math.min(1, Math.max(1, start + swapped + end) / Math.max(left.length, right.length));
}

/**
 * Deletion neighbourhood: two words within n edits become equal by deleting up to n letters of each, and so do their beginnings of equal length. A
 * query word that matches an indexed word shares one of these keys with it (`queryKeys`); the distance itself decides afterwards.
 */
export function indexKeys(word: string): Set<string> {
  const { length } = [...word];
  if (!isOfLetters(word) || length < 2) return new Set();
  // With two edits, words of six letters match those of four; with one edit, words of three letters match those of two.
  return deletions(word, length < 4 ? 1 : 2);
}

/** The keys to look up for a query word; none if only the word itself matches. */
export function queryKeys(word: string): Set<string> {
  const edits = allowedEdits(word);
  return edits === 0 ? new Set() : deletions(word, edits);
}

/** Keeps the keys of a long word few: 37 instead of hundreds. */
const keptLetters = 8;

function deletions(word: string, edits: number): Set<string> {
  const keys = new Set([[...word].slice(0, keptLetters).join('')]);
  let latest: ReadonlySet<string> = keys;
  for (let edit = 0; edit < edits; edit++) {
    latest = new Set([...latest].flatMap(withOneDeletion));
    for (const key of latest) keys.add(key);
  }
  return keys;
}

function withOneDeletion(word: string): string[] {
  const shorter: string[] = [];
  let at = 0;
  for (const letter of word) {
    shorter.push(word.slice(0, at) + word.slice(at + letter.length));
    at += letter.length;
  }
  return shorter;
}
