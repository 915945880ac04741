import { canonicalJson } from '../../protocol/canonical-json.ts';
import type { Json } from '../../protocol/json.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { Transaction } from '../../storage/database.ts';
import { kindOf } from '../documents/keys.ts';
import { addObjectPaths } from '../filter/object-paths.ts';
import type { IndexFormat, TypingKeys } from '../format/index-format.ts';
import type { ListRemovals } from '../lists/remove.ts';
import { addToLists, everyResource, type ListEntries, offerList, wordList } from '../lists/runs.ts';
import type { FoundGeometry } from '../spatial/geometry-paths.ts';
import {
  type GeometryRow,
  readGeometryRows,
  replaceGeometries,
  type StoredGeometryRow,
} from '../spatial/write-geometries.ts';
import { numberWords, writeDocumentWords } from '../text/dictionary.ts';
import type { DocumentEntries } from './document-entries.ts';
import {
  type EntriesBefore,
  listAttributes,
  noAttributes,
  packAttributes,
  type StoredEntries,
} from './stored-entries.ts';

/** Gathers what differs between the entries that documents have and those that they shall have, and writes it in a few statements. */
export interface IndexChanges {
  /** Undefined: there was, or will be, no document. */
  add(
    format: IndexFormat,
    key: number,
    before: EntriesBefore | undefined,
    after: DocumentEntries | undefined,
  ): void;
  /** Gives every word its number; returns the entries of each document, as they are stored beside it. */
  numberWords(tx: Transaction): Promise<Map<number, PackedEntries>>;
  /** To be called when the words have numbers. What leaves posting lists is left to the end of the transaction. */
  write(tx: Transaction, removals: ListRemovals): Promise<void>;
}

export interface PackedEntries {
  words: Buffer;
  entries: Buffer;
}

interface Change {
  key: number;
  format: IndexFormat;
  before?: EntriesBefore;
  after?: DocumentEntries;
  /** Computed at once for a new document, otherwise only where they differ. */
  geometries?: GeometryRow[];
  /** By lists and numbers of words, once these are known. */
  listed?: StoredEntries;
}

/** `checksBoxes`: the boxes of geometries that stay may be of another format. */
export function createIndexChanges({ checksBoxes = false } = {}): IndexChanges {
  const changes: Change[] = [];
  let numberOf = (word: string): number => {
    throw new Error(`the word "${word}" has no number yet`);
  };

  return {
    add(format, key, before, after) {
      const geometries = before || !after ? undefined : geometryRows(format, key, after);
      changes.push({ key, format, before, after, geometries });
    },

    async numberWords(tx) {
      const numbers = await numberWords(tx, typedWords(changes));
      numberOf = (word) => {
        const number = numbers.get(word);
        if (number === undefined) throw new Error(`the word "${word}" has no number`);
        return number;
      };
      const packed = new Map<number, PackedEntries>();
      for (const change of changes) {
        if (change.after === undefined) continue;
        change.listed = listEntries(change.after, numberOf);
        packed.set(change.key, packEntries(change.listed));
      }
      return packed;
    },

    async write(tx, removals) {
      const [added, removed] = [createListChanges(), createListChanges()];
      for (const change of changes) {
        const { key } = change;
        const [was, is] = [numbered(change.before, numberOf), change.listed];
        if (kindOf(key) === 'resource') {
          if (was === undefined) added.put(everyResource, key);
          if (is === undefined) removed.put(everyResource, key);
        }
        putBeyond(added, key, is ?? nothing, was ?? nothing);
        putBeyond(removed, key, was ?? nothing, is ?? nothing);
      }
      await addToLists(tx, removals.cancel(added.entries()));
      await addObjectPaths(tx, [...new Set(changes.flatMap(({ after }) => [...(after?.objects ?? [])]))]);
      await writeGeometries(tx, changes, checksBoxes);
      await removals.add(tx, removed.entries());
    },
  };
}

/** A word that several formats use gets the keys of the newest one. */
function typedWords(changes: readonly Change[]): Map<string, TypingKeys> {
  const words = new Map<string, TypingKeys>();
  for (const { format, before, after } of changes) {
    const unnumbered = before && 'unnumbered' in before.words ? before.words.unnumbered.keys() : [];
    for (const word of [...unnumbered, ...(after?.words.keys() ?? [])]) {
      const known = words.get(word);
      if (known === undefined || known.version < format.typing.version) words.set(word, format.typing);
    }
  }
  return words;
}

function packEntries(listed: StoredEntries): PackedEntries {
  return { words: writeDocumentWords(listed.words), entries: packAttributes(listed) };
}

/** What a word counts, as the index keeps it: in hundredths. */
export function numberWeights(words: WordWeights, numberOf: (word: string) => number): Map<number, number> {
  return new Map(Array.from(words, ([word, weight]) => [numberOf(word), Math.round(weight * 100)]));
}

function numbered(
  before: EntriesBefore | undefined,
  numberOf: (word: string) => number,
): StoredEntries | undefined {
  if (before === undefined) return undefined;
  const { words } = before;
  return { ...before, words: 'unnumbered' in words ? numberWeights(words.unnumbered, numberOf) : words };
}

function listEntries(after: DocumentEntries, numberOf: (word: string) => number): StoredEntries {
  return { ...listAttributes(after), words: numberWeights(after.words, numberOf) };
}

const nothing: StoredEntries = { ...noAttributes, words: new Map() };

/** Visits every posting list that a document with these entries stands in, apart from that of all resources. */
export function visitLists(
  key: number,
  { facts, numbers, words }: StoredEntries,
  visit: (list: number, mark: number) => void,
): void {
  for (const list of facts) visit(list, 0);
  for (const [list, values] of numbers) for (const value of values) visit(list, value);
  const listOf = kindOf(key) === 'offer' ? offerList : wordList;
  for (const [word, weight] of words) visit(listOf(word), weight);
}

/** What the first has and the second has not. */
function putBeyond(changes: ListChanges, key: number, first: StoredEntries, second: StoredEntries): void {
  const { facts, numbers, words } = second;
  const listOf = kindOf(key) === 'offer' ? offerList : wordList;
  for (const list of first.facts) if (!facts.has(list)) changes.put(list, key);
  for (const [list, values] of first.numbers)
    for (const value of values) if (!numbers.get(list)?.has(value)) changes.put(list, key, value);
  for (const [word, weight] of first.words)
    if (words.get(word) !== weight) changes.put(listOf(word), key, weight);
}

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

export function geometryRows(
  format: IndexFormat,
  key: number,
  { geometries }: DocumentEntries,
): GeometryRow[] {
  return geometries.map(({ path, geometry }, position) => ({
    ...{ key, path, position, shape: geometry },
    ...format.geometries.boxOf(geometry),
  }));
}

/** Geometries that stay are not touched: to put a box into its index is the costliest of all. */
async function writeGeometries(
  tx: Transaction,
  changes: readonly Change[],
  checksBoxes: boolean,
): Promise<void> {
  const known = changes.filter(({ before }) => before);
  const stored = await readGeometryRows(
    tx,
    known.flatMap(({ key, after }) => (after ? key : [])),
  );
  const replaced = known.filter(({ key, after, format }) => {
    if (after === undefined) return true;
    return !sameGeometries(stored.get(key) ?? [], after, checksBoxes ? format : undefined);
  });
  const rows = changes.flatMap(({ geometries }) => geometries ?? []);
  for (const { format, key, after } of replaced) if (after) rows.push(...geometryRows(format, key, after));
  await replaceGeometries(
    tx,
    replaced.map(({ key }) => key),
    rows,
  );
}

/** In whichever order they, and their members, stand: the database does not keep that of documents. Without a format, boxes are not compared. */
export function sameGeometries(
  stored: readonly StoredGeometryRow[],
  { geometries }: Pick<DocumentEntries, 'geometries'>,
  format: IndexFormat | undefined,
): boolean {
  if (stored.length !== geometries.length) return false;
  const isAsSent = ({ path, geometry }: FoundGeometry, place: number) =>
    path === stored[place]?.path && JSON.stringify(geometry) === stored[place]?.shape;
  if (format === undefined && geometries.every(isAsSent)) return true;
  const shall = geometries.map(({ path, geometry }) => {
    const box = format?.geometries.boxOf(geometry);
    return nameOf(path, geometry as Json, box);
  });
  const are = stored.map(({ path, shape, low, high }) =>
    nameOf(path, JSON.parse(shape), format && { low: numbersIn(low), high: numbersIn(high) }),
  );
  are.sort();
  return shall.sort().every((name, index) => name === are[index]);
}

/** Of an array as PostgreSQL writes it. */
function numbersIn(text: string): number[] {
  return text.slice(1, -1).split(',').map(Number);
}

function nameOf(
  path: string,
  shape: Json,
  box?: { low: readonly number[]; high: readonly number[] },
): string {
  return `${path} ${box?.low} ${box?.high} ${canonicalJson(shape)}`;
}
