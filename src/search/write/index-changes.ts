import { canonicalJson } from '../../protocol/canonical-json.ts';
import type { Json } from '../../protocol/json.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { Transaction } from '../../storage/database.ts';
import { kindOf } from '../documents/keys.ts';
import { addObjectPaths } from '../filter/object-paths.ts';
import type { IndexFormat, TypingKeys } from '../format/index-format.ts';
import type { ListRemovals } from '../lists/remove.ts';
import {
  addToLists,
  everyResource,
  type ListEntries,
  offerList,
  standingList,
  wordList,
} from '../lists/runs.ts';
import type { FoundGeometry } from '../spatial/geometry-paths.ts';
import {
  type GeometryRow,
  readGeometryRows,
  replaceGeometries,
  type StoredGeometryRow,
} from '../spatial/write-geometries.ts';
import { numberWords, writeDocumentWords } from '../text/dictionary.ts';
import type { DocumentEntries } from './document-entries.ts';
import { type EntriesBefore, listAttributes, type StoredEntries } from './stored-entries.ts';

/** Gathers what differs between the entries that documents have and those that they shall have, and writes it in a few statements. */
export interface IndexChanges {
  /** Undefined: there was, or will be, no document. */
  add(
    format: IndexFormat,
    key: number,
    before: EntriesBefore | undefined,
    after: DocumentEntries | undefined,
  ): void;
  /** Returns the words of each document, to be stored beside it. What leaves posting lists is left to the end of the transaction. */
  write(tx: Transaction, removals: ListRemovals): Promise<Map<number, PackedEntries>>;
}

export interface PackedEntries {
  words: Buffer;
  isStanding: boolean;
}

interface Change {
  key: number;
  format: IndexFormat;
  before?: EntriesBefore;
  after?: DocumentEntries;
  /** Computed at once for a new document, otherwise only where they differ. */
  geometries?: GeometryRow[];
}

/** `checksBoxes`: the boxes of geometries that stay may be of another format. */
export function createIndexChanges({ checksBoxes = false } = {}): IndexChanges {
  const changes: Change[] = [];
  return {
    add(format, key, before, after) {
      const geometries = before || !after ? undefined : geometryRows(format, key, after);
      changes.push({ key, format, before, after, geometries });
    },

    async write(tx, removals) {
      const numbers = await numberWords(tx, findTypingKeys(changes));
      const packed = new Map<number, PackedEntries>();
      const [added, removed] = [new Map<number, ListEntries>(), new Map<number, ListEntries>()];
      for (const { key, before, after } of changes) {
        const was = before && numberEntries(before, numbers);
        const is = after && numberEntries(listEntries(after), numbers);
        if (was) visitLists(key, was, is, (list, mark) => addEntry(removed, list, key, mark));
        if (is === undefined) continue;
        visitLists(key, is, was, (list, mark) => addEntry(added, list, key, mark));
        const { isStanding } = is;
        packed.set(key, { words: writeDocumentWords(is.words), isStanding });
      }
      const sharesRuns = changes.every(({ format }) => format.sharesRuns);
      await addToLists(tx, removals.cancel(added.values()), { sharesRuns });
      await addObjectPaths(tx, [...findObjects(changes)]);
      await writeGeometries(tx, changes, checksBoxes);
      await removals.add(tx, removed.values());
      return packed;
    },
  };
}

function findObjects(changes: readonly Change[]): Set<string> {
  const paths = new Set<string>();
  for (const { after } of changes) for (const path of after?.objects ?? []) paths.add(path);
  return paths;
}

/** The typing keys that each word gets; those of the newest format, where several use it. */
function findTypingKeys(changes: readonly Change[]): Map<string, TypingKeys> {
  const words = new Map<string, TypingKeys>();
  for (const { format, before, after } of changes) {
    if (before && 'unnumbered' in before.words) addTypingKeys(words, before.words.unnumbered, format);
    if (after) addTypingKeys(words, after.words, format);
  }
  return words;
}

function addTypingKeys(words: Map<string, TypingKeys>, found: WordWeights, { typing }: IndexFormat): void {
  for (const word of found.keys()) {
    const known = words.get(word);
    if (known === undefined || known.version < typing.version) words.set(word, typing);
  }
}

/** The entries of a document by their lists, its words without their numbers yet. */
export function listEntries(entries: DocumentEntries): EntriesBefore {
  const { words, isStanding } = entries;
  return { ...listAttributes(entries), words: { unnumbered: words }, isStanding };
}

function numberEntries(entries: EntriesBefore, numbers: ReadonlyMap<string, number>): StoredEntries {
  const { words } = entries;
  return { ...entries, words: 'unnumbered' in words ? numberWeights(words.unnumbered, numbers) : words };
}

/** What a word counts, as the index keeps it: in hundredths. */
export function numberWeights(words: WordWeights, numbers: ReadonlyMap<string, number>): Map<number, number> {
  const weights = new Map<number, number>();
  for (const [word, weight] of words) {
    const number = numbers.get(word);
    if (number === undefined) throw new Error(`the word "${word}" has no number`);
    weights.set(number, Math.round(weight * 100));
  }
  return weights;
}

/** Visits every posting list that a document with these entries stands in, and with the other ones, which it had before or will have, does not. */
export function visitLists(
  key: number,
  { facts, numbers, words, isStanding }: StoredEntries,
  other: StoredEntries | undefined,
  visit: (list: number, mark: number) => void,
): void {
  const kind = kindOf(key);
  if (kind === 'resource' && other === undefined) visit(everyResource, 0);
  for (const list of facts) if (!other?.facts.has(list)) visit(list, 0);
  for (const [list, values] of numbers)
    for (const value of values) if (!other?.numbers.get(list)?.has(value)) visit(list, value);
  const listOf = kind !== 'offer' ? wordList : isStanding ? standingList : offerList;
  const others = other?.isStanding === isStanding ? other.words : undefined;
  for (const [word, weight] of words) if (others?.get(word) !== weight) visit(listOf(word), weight);
}

function addEntry(lists: Map<number, ListEntries>, list: number, key: number, mark: number): void {
  const entries = lists.get(list);
  if (entries === undefined) {
    lists.set(list, { list, keys: [key], marks: [mark] });
    return;
  }
  entries.keys.push(key);
  entries.marks.push(mark);
}

function geometryRows(format: IndexFormat, key: number, { geometries }: DocumentEntries): GeometryRow[] {
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
  const isAsSent = ({ path, geometry }: FoundGeometry, index: number) =>
    path === stored[index]?.path && JSON.stringify(geometry) === stored[index]?.shape;
  if (format === undefined && geometries.every(isAsSent)) return true;
  const expected = geometries.map(({ path, geometry }) =>
    textOf(path, geometry as Json, format?.geometries.boxOf(geometry)),
  );
  const found = stored
    .map(({ path, shape, ...box }) => textOf(path, JSON.parse(shape), format && box))
    .sort();
  return expected.sort().every((text, index) => text === found[index]);
}

function textOf(path: string, shape: Json, box?: Pick<StoredGeometryRow, 'low' | 'high'>): string {
  return `${path} ${box?.low} ${box?.high} ${canonicalJson(shape)}`;
}
