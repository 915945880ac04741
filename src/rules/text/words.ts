import { LruCache } from '../../lru-cache.ts';

export interface Tokenizer {
  /** A word as often as it occurs. */
  index(text: string): readonly string[];
  query(text: string): string[];
}

/**
 * The words of a text in any language. Decided: runs of letters, digits and their marks, in one case and without accents. No stop words: a word that occurs everywhere weighs nothing
 * (rank.ts). Scripts without spaces are cut into overlapping pairs of characters; Chinese characters are also indexed singly.
 */
export function indexedWords(text: string): readonly string[] {
  if (text.length > maxKeptLength) return wordsOf(beginningOf(text, maxTextLength), 'index');
  const known = kept.find(text);
  if (known) return known;
  const words = wordsOf(text, 'index');
  kept.keep(text, words);
  return words;
}

/** Most attributes have one of a few short values: a kind, a unit, a make. */
const kept = new LruCache<string, readonly string[]>(5_000);
const maxKeptLength = 40;

/** In the order of the text, without repetitions. Limited, so that a pasted page costs no more than a sentence. */
export function queryWords(text: string): string[] {
  const words = new Set(wordsOf(beginningOf(text, maxQueryLength), 'query'));
  return [...words].slice(0, maxQueryWords);
}

function beginningOf(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const lastSpace = text.lastIndexOf(' ', maxLength);
  return text.slice(0, lastSpace === -1 ? maxLength : lastSpace);
}

/** Limit of one text of a document: books are not indexed. */
const maxTextLength = 250_000;
const maxQueryLength = 10_000;
const maxQueryWords = 100;
/** Longer ones are not words but keys or encoded data. */
const maxWordLength = 64;

/** One case, one form, no accents; vowel signs of the scripts of India and of South East Asia stay. */
export function foldText(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[ßςıøłđðþħæœ]/g, (letter) => plainLetters[letter] ?? letter)
    .normalize('NFD')
    .replace(accents, '')
    .normalize('NFC');
}

/** Letters that Unicode does not decompose. */
const plainLetters: Record<string, string> = {
  ß: 'ss',
  ς: 'σ',
  ı: 'i',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  æ: 'ae',
  œ: 'oe',
};

/** Accents of European scripts, points of Hebrew and Arabic, and characters that only mark line breaks or joined letters. */
const accents =
  /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u200b-\u200d\u2060]|\ufe0f/gu;

function wordsOf(text: string, use: Use): string[] {
  const words: string[] = [];
  const add = (word: string) => {
    if (word.length <= maxWordLength) words.push(word);
  };
  const folded = withoutElisions(foldText(text));
  for (const compound of folded.match(isAscii.test(folded) ? asciiCompounds : compounds) ?? []) {
    const parts = compound.split(hyphens);
    for (const part of parts) for (const word of partsOf(part, use)) add(word);
    // "e-bike" is also written "ebike".
    if (parts.length > 1 && parts.length <= maxParts) add(parts.join(''));
  }
  return words;
}

const maxParts = 3;
const hyphens = /[-\u2010\u2011]/;
const compounds = /[\p{L}\p{N}\p{M}]+(?:[-\u2010\u2011][\p{L}\p{N}\p{M}]+)*/gu;
/** The same, many times faster. */
const asciiCompounds = /[a-z0-9]+(?:-[a-z0-9]+)*/g;

/** The s of "children's" and the l of "l'eau" are not words. */
function withoutElisions(text: string): string {
  if (!/['’]/.test(text)) return text;
  return text
    .replace(/(?<=\p{L})['’]\p{L}(?![\p{L}\p{N}\p{M}])/gu, '')
    .replace(/(?<![\p{L}\p{N}\p{M}])\p{L}['’](?=\p{L})/gu, '');
}

function partsOf(run: string, use: Use): string[] {
  if (!isUnspaced(run)) return spacedWords(run);
  return [...run.matchAll(scriptRuns)].flatMap(([part, unspaced]) =>
    unspaced === undefined ? spacedWords(part) : pairsOf(part, use),
  );
}

/** "60kW" is also written "60 kW"; the letters of "VN566AA" are part of a name, and so are those of "566AA". */
function spacedWords(word: string): string[] {
  if (!/^\p{N}/u.test(word)) return [word];
  const [, number, unit] = /^(\p{N}+)([\p{L}\p{M}]+)$/u.exec(word) ?? [];
  return number && unit && (units.has(unit) || !isAscii.test(unit)) ? [word, number, unit] : [word];
}

/** Names of models have Latin letters: other letters after a number are a unit or a word. */
const units: ReadonlySet<string> = new Set(
  `w kw mw wh kwh mwh v kv a ma ah mah hz khz mhz ghz b kb mb gb tb mbps gbps mm cm dm m km in inch ft mg g gm gms kg lb lbs oz ml cl dl l ltr
   s ms sec min h hr hrs pc pcs px mp dpi fps rpm db lm btu`.split(/\s+/),
);

function pairsOf(run: string, use: Use): string[] {
  const characters = run.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
  if (characters.length === 1) return characters;
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return use === 'query' ? pairs : [...pairs, ...characters.filter((character) => isHan.test(character))];
}

const isHan = /\p{Script=Han}/u;
const unspacedScript =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const scriptRuns = new RegExp(`([${unspacedScript}]+)|[^${unspacedScript}]+`, 'gu');

/** Whether a word is a pair of characters rather than a word with an end. */
export function isUnspaced(word: string): boolean {
  return !isAscii.test(word) && unspaced.test(word);
}

const isAscii = /^[\0-\x7f]*$/;

const unspaced = new RegExp(`[${unspacedScript}]`, 'u');

type Use = 'index' | 'query';
