import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { catalogKeyOf } from '../documents/keys.ts';

/** How many keys lists have, by their numbers: exact up to some thousand; of more, as many as the first ones let expect. */
export async function countLists(
  queryable: Queryable,
  lists: readonly number[],
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let runs = firstCountedRuns, left = lists; left.length > 0; runs *= countGrowth) {
    const { rows } = await queryable.query<CountedRow>(
      `select wanted.list, counted.*,
         (select first from discovery.run where run.list = wanted.list order by first desc limit 1) as end
       from unnest($1::bigint[]) as wanted (list)
       cross join lateral (
         select coalesce(sum(count), 0) as count, count(*) as runs, min(first) as start, max(first) as reached
         from (select count, first from discovery.run where run.list = wanted.list order by first limit $2) as runs
       ) as counted`,
      [bigintArray(left), runs],
      { prepared: true },
    );
    const isMore = (row: CountedRow) => row.runs === runs;
    for (const row of rows) counts.set(row.list, isMore(row) ? estimateCount(row) : row.count);
    left = rows.filter((row) => isMore(row) && !isTelling(row)).map(({ list }) => list);
  }
  return counts;
}

interface CountedRow {
  list: number;
  /** Of the first so many runs. */
  count: number;
  runs: number;
  /** Where the first and the last of these begin, and the last of all. */
  start: number | null;
  reached: number | null;
  end: number | null;
}

/** Whether the first runs tell something of the others: those of few catalogs do not, as a large one may be full of a word that hardly any other has. */
function isTelling({ count, start, reached }: CountedRow): boolean {
  return count >= minCounted && catalogKeyOf(reached ?? 0) - catalogKeyOf(start ?? 0) >= minCatalogs;
}

/** Words stand about evenly among the keys, which are given in the order of arrival. */
function estimateCount({ count, start, reached, end }: CountedRow): number {
  const [seen, all] = [(reached ?? 0) - (start ?? 0), (end ?? 0) - (start ?? 0)];
  return seen > 0 ? Math.round((count * all) / seen) : count;
}

/** A run has up to 320 keys, but those that are not compacted yet have few. */
const firstCountedRuns = 64;
const countGrowth = 16;
const minCounted = firstCountedRuns * 32;
const minCatalogs = 32;
