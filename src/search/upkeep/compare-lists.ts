import { addTo } from '../../group.ts';
import type { Queryable } from '../../storage/database.ts';
import { firstSharedList, isShared, sharedLists } from '../lists/list-numbers.ts';
import { entriesOf, type RunKey, type StoredRun } from '../lists/runs.ts';

/** An entry that a list lacks, or has and should not have, or has once too often. */
export interface ListDifference {
  what: 'list';
  kind: 'missing' | 'surplus';
  list: number;
  key: number;
  /** What stands beside the key: the weight of a word, or the number. */
  mark: number;
}

/** The entries that lists are expected to have of some documents. */
export type ExpectedLists = Map<number, Entry[]>;

interface Entry {
  key: number;
  mark: number;
}

/** Runs that are read at a time. */
const runsAtOnce = 5_000;

/** Compares all lists with the entries that they are expected to have of the documents in a range of keys, or of some of these. */
export async function compareLists(
  queryable: Queryable,
  index: string,
  expected: ExpectedLists,
  range: { from: number; end: number },
  only?: ReadonlySet<number>,
): Promise<ListDifference[]> {
  const found: ExpectedLists = new Map();
  for await (const run of runsOfRange(queryable, index, range)) {
    const { keys, marks } = entriesOf(run.list, [run]);
    for (const [at, key] of keys.entries()) {
      const mark = marks[at] ?? 0;
      const [list, entry] = isShared(run.list) ? [key, { key: mark, mark: 0 }] : [run.list, { key, mark }];
      const isAsked = entry.key >= range.from && entry.key < range.end && (only?.has(entry.key) ?? true);
      if (isAsked) addTo(found, list, entry);
    }
  }
  const differences: ListDifference[] = [];
  for (const list of new Set([...expected.keys(), ...found.keys()]))
    differences.push(...differencesOf(list, expected.get(list) ?? [], found.get(list) ?? []));
  return differences;
}

/** Those that may hold a key of the range: shared ones are in the order of the lists whose entries they hold. */
async function* runsOfRange(
  queryable: Queryable,
  index: string,
  { from, end }: { from: number; end: number },
): AsyncGenerator<StoredRun> {
  for (let after: RunKey | undefined; ; ) {
    const { rows }: { rows: StoredRun[] } = await queryable.query<StoredRun>(
      `select * from ${index}.run
       where ($3::bigint is null or (list, first, last, id) > ($3, $4::float8, $5::float8, $6::bigint))
         and ((list <= ${firstSharedList} and list > ${firstSharedList - sharedLists}) or (first < $2 and last >= $1))
       order by list, first, last, id limit $7`,
      [from, end, after?.list ?? null, after?.first ?? 0, after?.last ?? 0, after?.id ?? 0, runsAtOnce],
    );
    yield* rows;
    after = rows.at(-1);
    if (rows.length < runsAtOnce) return;
  }
}

/** Two sequences in order, walked along together. */
function differencesOf(list: number, wanted: readonly Entry[], stored: readonly Entry[]): ListDifference[] {
  const inOrder = (a: Entry, b: Entry) => a.key - b.key || a.mark - b.mark;
  const [expected, found] = [[...wanted].sort(inOrder), [...stored].sort(inOrder)];
  const differences: ListDifference[] = [];
  const note = (kind: ListDifference['kind'], { key, mark }: Entry) =>
    differences.push({ what: 'list', kind, list, key, mark });
  for (let i = 0, j = 0; i < expected.length || j < found.length; ) {
    const [one, other] = [expected[i], found[j]];
    const order = one === undefined ? 1 : other === undefined ? -1 : inOrder(one, other);
    if (order < 0 && one) note('missing', one);
    if (order > 0 && other) note('surplus', other);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return differences;
}
