import { addTo } from '../../group.ts';
import {
  arraysOf,
  bigintArray,
  bytesArray,
  doubleArray,
  smallintArray,
} from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { KeyRange } from '../keys.ts';
import { inBatches } from '../set/sorted.ts';
import { decodeRun, encodeRun } from './codec.ts';
import {
  findSharedList,
  isShared,
  isSharedText,
  markBytesOf,
  maxRunLength,
  sharedLists,
} from './list-numbers.ts';

// The table of lists, one row per run. Additions become new runs, so writers never wait for each other. A run never changes, and its number is never reused.
//
// Shared runs. Most facts of a document are unique: ids, serial numbers. A row for each list takes 150 bytes. So if a transaction adds few entries to each of many lists of facts, these go
// into shared lists. The entries of a list are in its own runs and in shared ones.

/** An entry to add or remove. */
export interface Entry {
  list: number;
  key: number;
  mark: number;
}

function groupByList(entries: Iterable<Entry>): Map<number, Entry[]> {
  const lists = new Map<number, Entry[]>();
  for (const entry of entries) addTo(lists, entry.list, entry);
  return lists;
}

/** The columns of the primary key. */
export type RunKey = Record<'list' | 'first' | 'last' | 'id', number>;

export interface StoredRun extends RunKey {
  count: number;
  bytes: Uint8Array;
}

/** Adds entries, and records the changed lists for the caches of all processes. */
export async function addToLists(tx: Transaction, index: string, entries: readonly Entry[]): Promise<void> {
  const lists = groupByList(entries);
  await insertRuns(tx, index, shareRuns([...lists.values()]).flatMap(runsOf));
  await noteChanged(tx, [...lists.keys()]);
}

/** Maximum of lists in a row of the change feed. More are recorded as everything, with one of them: without lists, it would be about documents, too. */
const maxNamed = 5_000;

export async function noteChanged(tx: Transaction, lists: readonly number[]): Promise<void> {
  if (lists.length === 0) return;
  const isNamed = lists.length <= maxNamed;
  await tx.query('insert into discovery.change (lists, everything) values ($1::bigint[], $2)', [
    bigintArray(isNamed ? lists : lists.slice(0, 1)),
    !isNamed,
  ]);
}

type NewRun = Omit<StoredRun, 'id'>;

/** The minimum number of runs for the entries of one list. */
export function runsOf(entries: readonly Entry[]): NewRun[] {
  const sorted = [...entries].sort((a, b) => a.key - b.key || a.mark - b.mark);
  const list = sorted[0]?.list ?? 0;
  return Array.from(inBatches(sorted, maxRunLength(list)), (some) => {
    const keys = Float64Array.from(some, ({ key }) => key);
    const marks = Float64Array.from(some, ({ mark }) => mark);
    const [first = 0, last = 0] = [keys[0], keys.at(-1)];
    return { list, first, last, count: keys.length, bytes: encodeRun({ keys, marks }, markBytesOf(list)) };
  });
}

export function entriesOf({ list, bytes }: Pick<StoredRun, 'list' | 'bytes'>): Entry[] {
  const { keys, marks } = decodeRun(bytes);
  return Array.from(keys, (key, index) => ({ list, key, mark: marks[index] as number }));
}

/** The entry that an entry of a shared list represents. */
export function unshare(entry: Entry): Entry {
  return isShared(entry.list) ? { list: entry.key, key: entry.mark, mark: 0 } : entry;
}

/** Number of runs that are read at once. */
const readAtOnce = 5_000;

/** The runs of all lists that may contain a key of a range, in batches. Shared runs are in the order of the lists whose entries they contain. */
export async function* readRange(queryable: Queryable, index: string, { from, end }: KeyRange) {
  for (let after: RunKey | undefined; ; ) {
    const rows: StoredRun[] = await queryable.rows(
      `select * from ${index}.run
       where ($3::bigint is null or (list, first, last, id) > ($3, $4::float8, $5::float8, $6::bigint))
         and (${isSharedText} or (first < $2 and last >= $1))
       order by list, first, last, id limit $7`,
      [from, end, after?.list ?? null, after?.first ?? 0, after?.last ?? 0, after?.id ?? 0, readAtOnce],
    );
    yield rows;
    after = rows.at(-1);
    if (rows.length < readAtOnce) return;
  }
}

/** A transaction that replaces runs holds it until its end. */
export const rewritingLock = 'lists of the index';

/** Deletes runs and returns them. */
export function takeRuns(tx: Transaction, index: string, runs: readonly RunKey[], columns: 'id' | '*') {
  return tx.rows<StoredRun>(
    `delete from ${index}.run where ctid = any (array(
       select ctid from ${index}.run
       where (list, first, last, id) in (select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::bigint[]))
     )) returning ${columns}`,
    runKeyArrays(runs),
  );
}

export function runKeyArrays(runs: readonly RunKey[]): Buffer[] {
  return arraysOf(runs, { ...spanArrays, id: bigintArray });
}

export async function insertRuns(tx: Transaction, index: string, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  const sorted = [...runs].sort((a, b) => a.list - b.list || a.first - b.first);
  await tx.query(
    `insert into ${index}.run (list, first, last, count, bytes)
     select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::smallint[], $5::bytea[])`,
    arraysOf(sorted, { ...spanArrays, count: smallintArray, bytes: bytesArray }),
  );
}

const spanArrays = { list: bigintArray, first: doubleArray, last: doubleArray };

/** Number of lists with few entries from which shared runs are worth it. Fewer would not fill them. */
const minShared = 8 * sharedLists;
/** Maximum of entries of a list: more take less space in a separate run. */
const maxOfList = 4;
/** Number of entries of a list in a shared one from which the list gets a separate run. */
const minOfOwn = 32;

/** Moves entries of lists with few entries into shared lists, if there are many of these lists. */
function shareRuns(lists: readonly Entry[][]): readonly Entry[][] {
  const isShareable = (entries: Entry[]) => (entries[0]?.list ?? -1) >= 0 && entries.length <= maxOfList;
  const few = lists.filter(isShareable);
  if (few.length < minShared) return lists;
  const moved = few
    .flat()
    .map(({ list, key }) => ({ list: findSharedList(list) ?? 0, key: list, mark: key }));
  return [...lists.filter((entries) => !isShareable(entries)), ...groupByList(moved).values()];
}

/** Regroups the entries of one list for compaction. A list that has accumulated many entries in a shared one gets separate runs. */
export function separateLong(entries: readonly Entry[]): Entry[][] {
  const counts = new Map<number, number>();
  for (const { list, key } of entries) if (isShared(list)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const separated = entries.map((entry) =>
    (counts.get(entry.key) ?? 0) >= minOfOwn ? unshare(entry) : entry,
  );
  return [...groupByList(separated).values()];
}
