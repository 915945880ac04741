import { sphereBox } from '../../rules/geometry/sphere-box.ts';
import { indexKeys } from '../../rules/text/typing-errors.ts';
import type { Transaction } from '../../storage/database.ts';
import { kindOf } from '../documents/keys.ts';
import type { ListRemovals } from '../lists/remove.ts';
import {
  addToLists,
  everyResource,
  factList,
  type ListEntries,
  numberList,
  offerList,
  wordList,
} from '../lists/runs.ts';
import { addObjectPaths, type GeometryRow, replaceGeometries } from '../spatial/write-geometries.ts';
import { numberWords, writeDocumentWords } from '../text/dictionary.ts';
import { hash53 } from './attribute-entries.ts';
import type { DocumentEntries } from './document-entries.ts';

/** Gathers what differs between old and new documents in the index, and writes it in a few statements. */
export interface IndexChanges {
  /** Undefined: there was, or will be, no document. */
  add(key: number, before: DocumentEntries | undefined, after: DocumentEntries | undefined): void;
  /** Gives every word its number; returns the words of each document, as they are kept with it. */
  numberWords(tx: Transaction): Promise<Map<number, Buffer>>;
  /** To be called when the words have numbers. What goes out of lists is left to the end of the transaction. */
  write(tx: Transaction, removals: ListRemovals): Promise<void>;
}

export function createIndexChanges(): IndexChanges {
  const lists = { added: createListChanges(), removed: createListChanges() };
  const words = { added: createWordChanges(), removed: createWordChanges() };
  const documentWords = new Map<number, Words>();
  const objects = new Set<string>();
  const geometries: { replaced: number[]; rows: GeometryRow[] } = { replaced: [], rows: [] };
  let numberOf = (word: string): number => {
    throw new Error(`the word "${word}" has no number yet`);
  };

  function compareExistence(key: number, before: unknown, after: unknown): void {
    if (kindOf(key) !== 'resource') return;
    if (before === undefined) lists.added.put(everyResource, key);
    if (after === undefined) lists.removed.put(everyResource, key);
  }

  function compareFacts(key: number, before: Facts, after: Facts): void {
    for (const hash of after) if (!before.has(hash)) lists.added.put(factList(hash), key);
    for (const hash of before) if (!after.has(hash)) lists.removed.put(factList(hash), key);
  }

  function compareNumbers(key: number, before: Numbers, after: Numbers): void {
    for (const [path, values] of after)
      for (const value of values)
        if (!before.get(path)?.has(value)) lists.added.put(numberList(path), key, value);
    for (const [path, values] of before)
      for (const value of values)
        if (!after.get(path)?.has(value)) lists.removed.put(numberList(path), key, value);
  }

  function compareWords(key: number, before: Words, after: Words): void {
    for (const [word, weight] of after)
      if (before.get(word) !== weight) words.added.put(word, key, hundredths(weight));
    for (const [word, weight] of before)
      if (after.get(word) !== weight) words.removed.put(word, key, hundredths(weight));
  }

  function compareGeometries(key: number, before: Geometries, after: Geometries): void {
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    if (before.length > 0) geometries.replaced.push(key);
    for (const [position, { path, geometry }] of after.entries()) {
      geometries.rows.push({ key, path, position, shape: geometry, ...sphereBox(geometry) });
    }
  }

  return {
    add(key, before, after) {
      const [was, is] = [before ?? nothing, after ?? nothing];
      compareExistence(key, before, after);
      compareFacts(key, was.facts, is.facts);
      compareNumbers(key, was.numbers, is.numbers);
      for (const path of is.objects) objects.add(path);
      compareWords(key, was.words, is.words);
      documentWords.set(key, is.words);
      compareGeometries(key, was.geometries, is.geometries);
    },

    async numberWords(tx) {
      const used = new Set([...words.added.words(), ...words.removed.words()]);
      for (const each of documentWords.values()) for (const word of each.keys()) used.add(word);
      const numbers = await numberWords(tx, [...used], typingKeys);
      numberOf = (word) => {
        const number = numbers.get(word);
        if (number === undefined) throw new Error(`the word "${word}" has no number`);
        return number;
      };
      return new Map([...documentWords].map(([key, each]) => [key, wordBytes(each, numberOf)]));
    },

    async write(tx, removals) {
      await addToLists(tx, [...lists.added.entries(), ...words.added.entries(numberOf)]);
      await addObjectPaths(tx, [...objects]);
      await replaceGeometries(tx, geometries.replaced, geometries.rows);
      await removals.add(tx, [...lists.removed.entries(), ...words.removed.entries(numberOf)]);
    },
  };
}

type Facts = DocumentEntries['facts'];
type Numbers = DocumentEntries['numbers'];
type Words = DocumentEntries['words'];
type Geometries = DocumentEntries['geometries'];

const nothing: DocumentEntries = {
  facts: new Set(),
  numbers: new Map(),
  objects: new Set(),
  words: new Map(),
  geometries: [],
};

/** Keys by list. */
interface ListChanges {
  put(list: number, key: number, mark?: number): void;
  entries(): Iterable<ListEntries>;
}

function createListChanges(): ListChanges {
  const lists = new Map<number, ListEntries>();
  return {
    put(list, key, mark = 0) {
      const entries = lists.get(list) ?? { list, keys: [], marks: [] };
      entries.keys.push(key);
      entries.marks.push(mark);
      lists.set(list, entries);
    },
    entries: () => lists.values(),
  };
}

/** Keys by word, of which there are two lists: one for offers. */
interface WordChanges {
  put(word: string, key: number, weight: number): void;
  words(): Iterable<string>;
  entries(numberOf: (word: string) => number): Iterable<ListEntries>;
}

function createWordChanges(): WordChanges {
  const documents = new Map<string, { keys: number[]; marks: number[] }>();
  const offers: typeof documents = new Map();
  return {
    put(word, key, weight) {
      const words = kindOf(key) === 'offer' ? offers : documents;
      const places = words.get(word) ?? { keys: [], marks: [] };
      places.keys.push(key);
      places.marks.push(weight);
      words.set(word, places);
    },
    *words() {
      yield* documents.keys();
      yield* offers.keys();
    },
    *entries(numberOf) {
      for (const [word, places] of documents) yield { list: wordList(numberOf(word)), ...places };
      for (const [word, places] of offers) yield { list: offerList(numberOf(word)), ...places };
    },
  };
}

/** What a word counts, as the index keeps it. */
function hundredths(weight: number): number {
  return Math.round(weight * 100);
}

/** Under which a word is found in spite of typing errors. */
function typingKeys(word: string): number[] {
  return [...indexKeys(word)].map(hash53);
}

function wordBytes(words: Words, numberOf: (word: string) => number): Buffer {
  return writeDocumentWords(
    new Map([...words].map(([word, weight]) => [numberOf(word), hundredths(weight)])),
  );
}
