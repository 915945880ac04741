import { addTo } from '../../group.ts';
import type { Queryable } from '../../storage/database.ts';
import { entriesOf, type StoredRun } from '../lists/runs.ts';
import { firstSharedList, isShared } from '../lists/shared-runs.ts';
import { visitLists } from '../write/index-changes.ts';
import type { StoredEntries } from '../write/stored-entries.ts';

/** An entry that a posting list lacks, or has and should not have, or has once too often. */
export interface ListDifference {
  what: 'list';
  kind: 'missing' | 'surplus';
  list: number;
  key: number;
  /** What stands beside the key: the weight of a word, or the number. */
  mark: number;
}

export type Difference =
  | ListDifference
  | {
      /** `stored`: what is stored beside the document is not what posting lists should have of it. */
      what: 'stored' | 'geometry' | 'word' | 'typing key' | 'object path' | 'offer target';
      kind: 'missing' | 'surplus' | 'other';
      key: number;
      name?: string;
    };

/** The entries that posting lists are expected to have of some documents. */
interface ExpectedLists {
  add(key: number, entries: StoredEntries): void;
  put(list: number, key: number, mark: number): void;
  /** Of one list, in order, and not again. */
  take(list: number): Entry[];
  /** All that was not taken. */
  rest(): Iterable<[number, Entry[]]>;
}

interface Entry {
  key: number;
  mark: number;
}

export function createExpectedLists(): ExpectedLists {
  const lists = new Map<number, number[]>();
  const put = (list: number, key: number, mark: number) => {
    const pairs = lists.get(list);
    if (pairs) pairs.push(key, mark);
    else lists.set(list, [key, mark]);
  };
  const entriesIn = (pairs: readonly number[]): Entry[] => {
    const entries: Entry[] = [];
    for (let at = 0; at < pairs.length; at += 2)
      entries.push({ key: pairs[at] as number, mark: pairs[at + 1] as number });
    return entries.sort(inOrder);
  };
  return {
    put,
    add(key, entries) {
      visitLists(key, entries, undefined, (list, mark) => put(list, key, mark));
    },
    take(list) {
      const pairs = lists.get(list) ?? [];
      lists.delete(list);
      return entriesIn(pairs);
    },
    *rest() {
      for (const [list, pairs] of lists) yield [list, entriesIn(pairs)];
    },
  };
}

function inOrder(a: Entry, b: Entry): number {
  return a.key - b.key || a.mark - b.mark;
}

/** Runs that are read at a time. */
const runsAtOnce = 5_000;

/** Compares all posting lists with the entries that they are expected to have of the documents in a range of keys. */
export async function compareLists(
  queryable: Queryable,
  expected: ExpectedLists,
  range: { from: number; end: number },
): Promise<ListDifference[]> {
  const differences: ListDifference[] = [];
  // Shared lists come before those whose entries they hold.
  const shared = new Map<number, Entry[]>();
  const compare = (list: number, own: readonly Entry[]) => {
    const found = [...own, ...(shared.get(list) ?? [])].sort(inOrder);
    shared.delete(list);
    differences.push(...differencesOf(list, expected.take(list), found));
  };
  let list: number | undefined;
  let found: Entry[] = [];
  for await (const run of runsOfRange(queryable, range)) {
    if (list !== undefined && run.list !== list) {
      compare(list, found);
      found = [];
    }
    list = run.list;
    const { keys, marks } = entriesOf(list, [run]);
    for (const [index, key] of keys.entries())
      if (key >= range.from && key < range.end) {
        const mark = marks[index] ?? 0;
        if (isShared(list)) addTo(shared, mark, { key, mark: 0 });
        else found.push({ key, mark });
      }
  }
  if (list !== undefined) compare(list, found);
  for (const number of [...shared.keys()]) compare(number, []);
  for (const [number, entries] of expected.rest()) differences.push(...differencesOf(number, entries, []));
  return differences;
}

/** Those that may hold a key of the range: lists of numbers, and shared ones, are in the order of their values. */
async function* runsOfRange(
  queryable: Queryable,
  { from, end }: { from: number; end: number },
): AsyncGenerator<StoredRun> {
  let after: Pick<StoredRun, 'list' | 'first' | 'last' | 'id'> | undefined;
  for (;;) {
    const { rows }: { rows: StoredRun[] } = await queryable.query<StoredRun>(
      `select * from discovery.run
       where ($3::bigint is null or (list, first, last, id) > ($3, $4::float8, $5::float8, $6::bigint))
         and (list <= ${firstSharedList} or (first < $2 and last >= $1))
       order by list, first, last, id limit $7`,
      [from, end, after?.list ?? null, after?.first ?? 0, after?.last ?? 0, after?.id ?? 0, runsAtOnce],
    );
    yield* rows;
    after = rows.at(-1);
    if (rows.length < runsAtOnce) return;
  }
}

/** Two sequences in order, walked along together. */
function differencesOf(list: number, expected: readonly Entry[], found: readonly Entry[]): ListDifference[] {
  const differences: ListDifference[] = [];
  const note = (kind: ListDifference['kind'], { key, mark }: Entry) =>
    differences.push({ what: 'list', kind, list, key, mark });
  for (let i = 0, j = 0; i < expected.length || j < found.length; ) {
    const [wanted, stored] = [expected[i], found[j]];
    const order = wanted === undefined ? 1 : stored === undefined ? -1 : inOrder(wanted, stored);
    if (order < 0 && wanted) note('missing', wanted);
    if (order > 0 && stored) note('surplus', stored);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return differences;
}
