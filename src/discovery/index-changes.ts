import { sphereBox } from '../rules/geometry/sphere-box.ts';
import { indexKeys } from '../rules/text/typing-errors.ts';
import type { Transaction } from '../storage/database.ts';
import {
  addFacts,
  addNumbers,
  addObjectPaths,
  type FactRows,
  type GeometryRow,
  type NumberRows,
  removeFacts,
  removeNumbers,
  replaceGeometries,
} from '../storage/discovery-index.ts';
import { kindOf } from '../storage/discovery-keys.ts';
import { addPostings, type PostingRows, removePostings } from '../storage/discovery-words.ts';
import type { DocumentEntries } from './document-entries.ts';
import { hash53 } from './index-entries.ts';

/** Gathers what differs between old and new documents in the index, and writes it in a few statements. */
export interface IndexChanges {
  /** Undefined: there was, or will be, no document. */
  add(key: number, before: DocumentEntries | undefined, after: DocumentEntries | undefined): void;
  write(tx: Transaction): Promise<void>;
}

export function createIndexChanges(): IndexChanges {
  const facts = { added: factRows(), removed: factRows() };
  const numbers = { added: numberRows(), removed: numberRows() };
  const objects = new Set<string>();
  const postings = { added: postingRows(), removed: postingRows() };
  const offerPostings = { added: postingRows(), removed: postingRows() };
  const geometries: { replaced: number[]; rows: GeometryRow[] } = { replaced: [], rows: [] };

  function compareFacts(key: number, before: Facts, after: Facts): void {
    for (const hash of after) if (!before.has(hash)) pushFact(facts.added, hash, key);
    for (const hash of before) if (!after.has(hash)) pushFact(facts.removed, hash, key);
  }

  function compareNumbers(key: number, before: Numbers, after: Numbers): void {
    for (const [path, values] of after)
      for (const value of values)
        if (!before.get(path)?.has(value)) pushNumber(numbers.added, path, value, key);
    for (const [path, values] of before)
      for (const value of values)
        if (!after.get(path)?.has(value)) pushNumber(numbers.removed, path, value, key);
  }

  function compareWords(key: number, before: Words, after: Words): void {
    const { added, removed } = kindOf(key) === 'offer' ? offerPostings : postings;
    for (const [word, weight] of after) if (before.get(word) !== weight) pushWord(added, word, key, weight);
    for (const [word, weight] of before) if (after.get(word) !== weight) pushWord(removed, word, key, weight);
  }

  function compareGeometries(key: number, before: Geometries, after: Geometries): void {
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    if (before.length > 0) geometries.replaced.push(key);
    for (const [position, { path, geometry }] of after.entries()) {
      geometries.rows.push({ key, path, position, shape: geometry, ...sphereBox(geometry) });
    }
  }

  return {
    add(key, before = nothing, after = nothing) {
      compareFacts(key, before.facts, after.facts);
      compareNumbers(key, before.numbers, after.numbers);
      for (const path of after.objects) objects.add(path);
      compareWords(key, before.words, after.words);
      compareGeometries(key, before.geometries, after.geometries);
    },

    async write(tx) {
      await removeFacts(tx, facts.removed);
      await addFacts(tx, facts.added);
      await removeNumbers(tx, numbers.removed);
      await addNumbers(tx, numbers.added);
      await addObjectPaths(tx, [...objects]);
      await removePostings(tx, 'posting', postings.removed);
      await addPostings(tx, 'posting', postings.added, typingKeys);
      await removePostings(tx, 'offer_posting', offerPostings.removed);
      await addPostings(tx, 'offer_posting', offerPostings.added, typingKeys);
      await replaceGeometries(tx, geometries.replaced, geometries.rows);
    },
  };
}

/** Under which a word is found in spite of typing errors. */
function typingKeys(word: string): number[] {
  return [...indexKeys(word)].map(hash53);
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

const factRows = (): FactRows => ({ hash: [], key: [] });
const numberRows = (): NumberRows => ({ path: [], value: [], key: [] });
const postingRows = (): PostingRows => ({ word: [], key: [], weight: [] });

function pushFact(rows: FactRows, hash: number, key: number): void {
  rows.hash.push(hash);
  rows.key.push(key);
}

function pushNumber(rows: NumberRows, path: number, value: number, key: number): void {
  rows.path.push(path);
  rows.value.push(value);
  rows.key.push(key);
}

function pushWord(rows: PostingRows, word: string, key: number, weight: number): void {
  rows.word.push(word);
  rows.key.push(key);
  rows.weight.push(Math.round(weight * 100));
}
