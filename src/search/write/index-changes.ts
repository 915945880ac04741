import { canonicalJson } from '../../protocol/canonical-json.ts';
import type { Json } from '../../protocol/json.ts';
import type { Transaction } from '../../storage/database.ts';
import { type DocumentEntries, entriesOfDocument } from '../entries/document-entries.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { addObjectPaths } from '../entries/object-paths.ts';
import type { WrittenGeneration } from '../generations/in-use.ts';
import { kindOf } from '../keys.ts';
import { columnList, offerList, wordList } from '../lists/list-numbers.ts';
import { addToLists, type Entry } from '../lists/runs.ts';
import { replaceGeometries } from '../spatial/write-geometries.ts';
import { findWords, numberWords } from '../text/dictionary.ts';

export type IndexChanges = ReturnType<typeof createIndexChanges>;

interface Change {
  key: number;
  before?: DocumentEntries;
  after?: DocumentEntries;
}

/** Collects the differences between entries of old and new documents in a generation, and writes them in a few statements. */
export function createIndexChanges({ index, format, removals }: WrittenGeneration) {
  const changes: Change[] = [];
  return {
    /** Undefined: no document before, or after. Returns its new entries. */
    add(key: number, before?: object, after?: object, options?: { areGeometriesChecked?: boolean }) {
      const level = kindOf(key);
      const change: Change = {
        key,
        // It does not matter whether it had geometries that are too costly: they differ, and are written again.
        ...(before && { before: entriesOfDocument(format, level, before, { areGeometriesChecked: true }) }),
        ...(after && { after: entriesOfDocument(format, level, after, options) }),
      };
      changes.push(change);
      return change.after;
    },

    /** Removals from lists wait for the end of the transaction. */
    async write(tx: Transaction): Promise<void> {
      const wordsOf = (when: 'before' | 'after') => [
        ...new Set(changes.flatMap((change) => [...(change[when]?.words.keys() ?? [])])),
      ];
      const numbers = new Map([
        ...(await findWords(tx, index, wordsOf('before'))),
        ...(await numberWords(tx, index, wordsOf('after'), format)),
      ]);
      const [added, removed]: [Entry[], Entry[]] = [[], []];
      for (const { key, before, after } of changes) {
        const [was, is] = [before && listEntries(before, numbers), after && listEntries(after, numbers)];
        visitLists(was, is, (list, mark) => void removed.push({ list, key, mark }));
        visitLists(is, was, (list, mark) => void added.push({ list, key, mark }));
      }
      await addToLists(tx, index, removals.cancel(added));
      await addObjectPaths(tx, index, [
        ...new Set(changes.flatMap(({ after }) => [...(after?.objects ?? [])])),
      ]);
      // Unchanged geometries are not touched, because inserting a box into its index costs most.
      const replaced = changes.filter(({ before, after }) => textOf(before) !== textOf(after));
      const leaving = replaced.flatMap(({ key, before }) => (before?.geometries.length ? key : []));
      const coming = replaced.flatMap(({ key, after }) => geometryRows(format, key, after));
      await replaceGeometries(tx, index, leaving, coming);
      await removals.add(tx, removed);
    },
  };
}

/** The marks of a document in each of its lists. */
type ListedEntries = ReadonlyMap<number, readonly number[]>;

/** Omits words without a number, because no list has them. */
export function listEntries(
  { facts, numbers: values, words, isCertain }: DocumentEntries,
  numbers: ReadonlyMap<string, number>,
): ListedEntries {
  const lists = new Map<number, readonly number[]>();
  for (const fact of facts) lists.set(fact, unmarked);
  for (const [path, each] of values) {
    const list = columnList(path);
    // Two paths may share a column.
    lists.set(list, [...new Set([...(lists.get(list) ?? []), ...each])]);
  }
  for (const [word, weight] of words) {
    const number = numbers.get(word);
    // Weights of words are stored in hundredths.
    if (number !== undefined)
      lists.set(isCertain ? wordList(number) : offerList(number), [Math.round(weight * 100)]);
  }
  return lists;
}

const unmarked = [0];

/** Visits every entry of a document that the other entries lack. */
function visitLists(
  entries: ListedEntries | undefined,
  others: ListedEntries | undefined,
  visit: (list: number, mark: number) => void,
): void {
  for (const [list, marks] of entries ?? []) {
    const known = others?.get(list) ?? [];
    // A long array of numbers has equally many marks.
    const has = marks.length > 8 ? new Set(known) : { has: (mark: number) => known.includes(mark) };
    for (const mark of marks) if (!has.has(mark)) visit(list, mark);
  }
}

export function geometryRows({ geometries }: IndexFormat, key: number, entries?: DocumentEntries) {
  return (entries?.geometries ?? []).map(({ path, geometry }, position) => ({
    ...{ key, path, position, shape: geometry },
    ...geometries.boxOf(geometry),
  }));
}

/** Independent of the order of geometries and their members, which the database does not keep. */
function textOf(entries: DocumentEntries | undefined): string {
  const texts = (entries?.geometries ?? []).map(
    ({ path, geometry }) => `${path} ${canonicalJson(geometry as Json)}`,
  );
  return texts.sort().join('\n');
}
