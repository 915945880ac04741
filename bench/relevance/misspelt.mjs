// Words of a collection with one typing error each. No document has the misspelt word.
import { randomNumbers } from './measures.mjs';

const letters = 'abcdefghijklmnopqrstuvwxyz';

const errors = [
  (word, at) => word.slice(0, at) + (word[at + 1] ?? '') + word[at] + word.slice(at + 2),
  (word, at) => word.slice(0, at) + word.slice(at + 1),
  (word, at) => word.slice(0, at + 1) + word.slice(at),
  (word, at, letter) => word.slice(0, at) + letter + word.slice(at + 1),
];

/** `wordsById`: the words of each document. */
export function misspell(wordsById, count, seed = 35) {
  const known = new Set([...wordsById.values()].flatMap((words) => [...words]));
  const pool = [...known].filter((word) => /^[a-z]{5,}$/.test(word)).sort();
  const random = randomNumbers(seed);
  const pick = (values) => values[Math.floor(random() * values.length)];
  const cases = new Map();
  for (let tries = 0; cases.size < Math.min(count, pool.length) && tries < 100 * count; tries += 1) {
    const meant = pick(pool);
    const typed = pick(errors)(meant, Math.floor(random() * meant.length), pick(letters));
    if (!known.has(typed)) cases.set(typed, meant);
  }
  return [...cases].map(([typed, meant]) => ({ typed, meant }));
}
