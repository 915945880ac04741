import { createRequire } from 'node:module';
import { LruCache } from '../../lru-cache.ts';
import { findEditDistance } from './typing-errors.ts';

// Words of the scripts of India and their spelling in Latin letters, which has no standard: आटा is "atta", "aata" and "ata". Both get a rough phonetic key: the consonants, and whether the
// word begins with a vowel. A word is found by its key only in the other script: within a script, spelling distinguishes words.

interface Sound {
  script: 'latin' | 'indic';
  /** Words that may be equal share one. */
  keys: readonly string[];
  /** Decides how close those words are. */
  spelling: string;
}

/** Undefined for other scripts, and for words too short to distinguish. */
function soundOf(word: string): Sound | undefined {
  const known = kept.find(word);
  if (known !== undefined) return known ?? undefined;
  const sound = readSound(word);
  kept.keep(word, sound ?? null);
  return sound;
}

const kept = new LruCache<string, Sound | null>(10_000);

function readSound(word: string): Sound | undefined {
  const block = indicBlocks.find(([first, last]) => first <= word && word < last);
  if (!block && !/^[a-z]+$/.test(word)) return undefined;
  const latin = block ? romanise(word, block[2]) : word.replace(/c(?=[^h]|$)/g, 'k');
  if (latin.length < minLetters) return undefined;
  const spelling = simplify(latin);
  const key = spelling
    .replace(/^[aeiouy]+/, 'a')
    .replace(/(?<!^)[aeiouyh]/g, '')
    .replace(/[mn]/g, 'n')
    // "saree" and "kapda" have the same letter in Hindi.
    .replace(/d/g, 'r')
    .replace(/(.)\1+/g, '$1');
  const keys = block?.[2] === 'tamil' ? tamilKeys(key) : [key];
  return { script: block ? 'indic' : 'latin', keys, spelling };
}

const minLetters = 3;

/** Tamil writes voiced and unvoiced consonants alike, and the library treats all as voiced: தோசை is "dojai". A "d" is an "r" in keys. */
function tamilKeys(key: string): string[] {
  let keys = [''];
  for (const letter of key)
    keys = keys.flatMap((start) => [...(tamilSounds[letter] ?? letter)].map((sound) => start + sound));
  return keys.slice(0, maxKeys);
}

const tamilSounds: Record<string, string> = { b: 'bp', g: 'gk', j: 'jsc', r: 'rt' };
/** Maximum of keys of one word: four consonants with two sounds each. */
const maxKeys = 16;

/** The blocks of Unicode, each up to the next, and the library's names of their scripts. */
const indicBlocks = [
  ['\u0900', '\u0980', 'devanagari'],
  ['\u0980', '\u0a00', 'bengali'],
  ['\u0a00', '\u0a80', 'gurmukhi'],
  ['\u0a80', '\u0b00', 'gujarati'],
  ['\u0b00', '\u0b80', 'oriya'],
  ['\u0b80', '\u0c00', 'tamil'],
  ['\u0c00', '\u0c80', 'telugu'],
  ['\u0c80', '\u0d00', 'kannada'],
  ['\u0d00', '\u0d80', 'malayalam'],
] as const;

function romanise(word: string, script: string): string {
  const { t } = createRequire(import.meta.url)('@indic-transliteration/sanscript') as {
    t(text: string, from: string, to: string): string;
  };
  // In Latin letters, a nasal vowel is written with a consonant.
  return t(word.replace(/\u0901/g, '\u0902'), script, 'iast')
    .replace(/c/g, 'ch')
    .replace(/jñ/g, 'gy')
    .normalize('NFD')
    .replace(/[^a-z]/g, '');
}

/** Normalizes sounds with several spellings. */
function simplify(word: string): string {
  return word
    .replace(/chh?/g, 'c')
    .replace(/ph/g, 'f')
    .replace(/sh/g, 's')
    .replace(/([bdgjkt])h/g, '$1')
    .replace(/w/g, 'v')
    .replace(/z/g, 'j')
    .replace(/q/g, 'k')
    .replace(/x/g, 'ks')
    .replace(/ee|ii|y$/g, 'i')
    .replace(/oo|uu/g, 'u')
    .replace(/(.)\1+/g, '$1');
}

/** How close two words of different scripts are, up to 1; undefined if they are not the same. */
export function likenessOfSounds(left: string, right: string): number | undefined {
  if (isLatin(left) === isLatin(right)) return undefined;
  const [a, b] = [soundOf(left), soundOf(right)];
  if (!a || !b || !a.keys.some((key) => b.keys.includes(key))) return undefined;
  const longest = Math.max(a.spelling.length, b.spelling.length);
  return 1 - (findEditDistance(a.spelling, b.spelling, longest) ?? longest) / (longest + 1);
}

function isLatin(word: string): boolean {
  return word < firstIndic;
}

const firstIndic = indicBlocks[0][0];

/** The keys under which an index stores a word, and those that find it. */
export function soundKeys(word: string): { index: string[]; query: string[] } {
  const sound = soundOf(word);
  if (!sound) return { index: [], query: [] };
  const other = sound.script === 'latin' ? 'indic' : 'latin';
  const keysIn = (script: string) => sound.keys.map((key) => `${script} ${key}`);
  return { index: keysIn(sound.script), query: keysIn(other) };
}
