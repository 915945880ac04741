import { isUnspaced } from './words.ts';

/**
 * By how many edits a query word stands for an indexed word: 0 where they are the same, undefined where it does not. Decided:
 * within edit distance 1 for query words of 3 to 5 letters, 2 for longer ones; insertions, deletions and replacements count.
 * Errors are forgiven in words of letters alone: 50 is not 60.
 */
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

/** The edit distance of two words where it is at most `most`, undefined where it is more. */
export function findEditDistance(left: string, right: string, most: number): number | undefined {
  const [a, b] = [[...left], [...right]];
  if (Math.abs(a.length - b.length) > most) return undefined;
  let above = b.map((_, index) => index + 1);
  for (const [row, letter] of a.entries()) {
    let diagonal = row;
    let before = row + 1;
    let least = before;
    above = b.map((other, column) => {
      const up = above[column] ?? 0;
      before = Math.min(up + 1, before + 1, diagonal + (letter === other ? 0 : 1));
      diagonal = up;
      least = Math.min(least, before);
      return before;
    });
    if (least > most) return undefined;
  }
  const distance = above.at(-1) ?? a.length;
  return distance <= most ? distance : undefined;
}

/**
 * The keys under which an index keeps a word, so that every query word that stands for it has one of them in common
 * (`queryKeys`): what is left of the word's beginning after deleting letters. Two words within n edits become equal by deleting
 * up to n letters of each, and so do their beginnings of equal length. The distance itself decides afterwards.
 */
export function indexKeys(word: string): Set<string> {
  const { length } = [...word];
  if (!isOfLetters(word) || length < 2) return new Set();
  // Two edits reach words of four letters from those of six, one edit those of two letters from those of three.
  return deletions(word, length < 4 ? 1 : 2);
}

/** The keys to look up for a query word; none where only the word itself will do. */
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
