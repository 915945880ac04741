import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import { firstSharedList, isSharedText, maxRunLength } from './list-numbers.ts';
import { entriesOf, insertRuns, type RunKey, rewritingLock, runsOf, separateLong, takeRuns } from './runs.ts';

// Compaction of lists. Transactions add runs with few keys; merged runs are read many times as fast. A removal waits for one short step at most.

export interface CompactionStep {
  /** Number of merged runs, and of the runs that replace them. */
  merged: number;
  written: number;
  /** The last run that was examined; undefined when there are no more. */
  rest?: RunKey;
}

/** Runs that one step examines. */
const seenAtOnce = 20_000;
/** Runs of one transaction. */
const mergedAtOnce = 250;
/** A removal of many entries may take longer: then these neighbours wait for the next walk. */
const lockWaitMs = 1_000;
/** Rewriting fewer neighbours is not worth it. */
const minNeighbours = 4;
/** A list is sorted again if this share of its runs overlaps this number of later ones. A transaction's runs in a shared list span all facts. */
const overlap = { shared: { runs: 8, part: 1 / 8 }, own: { runs: 1, part: 1 / 4 } };
/** Number of these runs that are sorted together, in about ten milliseconds. */
const sortedAtOnce = 250;

/** Before all runs. */
export const beginning: RunKey = {
  list: Number.MIN_SAFE_INTEGER,
  first: Number.NEGATIVE_INFINITY,
  last: 0,
  id: 0,
};

/** Merges small runs among the next ones. */
export async function compactFrom(database: Database, index: string, from: RunKey) {
  const { seen, rest } = await readFragmented(database, index, from);
  const step: CompactionStep = { merged: 0, written: 0, rest };
  let groups: SeenRun[][] = [];
  const worthwhile = groupNeighbours(seen).filter(({ length }) => length >= minNeighbours);
  for (const [at, group] of worthwhile.entries()) {
    groups.push(group);
    if (groups.flat().length < mergedAtOnce && at < worthwhile.length - 1) continue;
    const { merged, written } = await database.transaction((tx) => merge(tx, index, groups));
    step.merged += merged;
    step.written += written;
    groups = [];
  }
  return step;
}

type SeenRun = RunKey & { count: number; is_overlapping: boolean };

/** Reads the next runs of lists with several runs that are less than half full on average, or overlap. PostgreSQL counts them in the index alone. */
async function readFragmented(database: Database, index: string, from: RunKey) {
  const rows = await database.rows<SeenRun & { ordinal: number }>(
    `with seen as materialized (
       select *, row_number() over () as ordinal,
         last > lead(first, case when ${isSharedText} then ${overlap.shared.runs} else ${overlap.own.runs} end) over (partition by list order by first, last, id) as is_wide
       from (
         select list, first, last, id, count from ${index}.run
         where (list, first, last, id) > ($1, $2, $3, $4) order by list, first, last, id limit $5
       ) as next
     ), counted as (
       select list, count(*) filter (where is_wide) > count(*) * case when ${isSharedText} then ${overlap.shared.part} else ${overlap.own.part} end as is_overlapping,
         count(*) >= $6 and sum(count) * 2 < count(*) * case when list > ${firstSharedList} then $7::integer when ${isSharedText} then $8::integer else $9::integer end as is_fragmented
       from seen group by list
     )
     select list, first, last, id, count, ordinal, is_overlapping from seen join counted using (list)
     where is_fragmented or is_overlapping or ordinal = $5 order by ordinal`,
    [
      ...[from.list, from.first, from.last, from.id, seenAtOnce, minNeighbours],
      ...[maxRunLength(0), maxRunLength(firstSharedList), maxRunLength(Number.MIN_SAFE_INTEGER)],
    ],
  );
  const end = rows.at(-1);
  return { seen: rows, ...(end?.ordinal === seenAtOnce && { rest: end }) };
}

/** Consecutive runs of one list that fit into one run, or must be sorted together. */
function groupNeighbours(runs: readonly SeenRun[]): SeenRun[][] {
  const groups: SeenRun[][] = [];
  let group: SeenRun[] = [];
  let count = 0;
  for (const run of runs) {
    count += run.count;
    const most = run.is_overlapping ? sortedAtOnce * maxRunLength(run.list) : maxRunLength(run.list);
    if (group[0]?.list === run.list && count <= most) group.push(run);
    else {
      group = [run];
      groups.push(group);
      count = run.count;
    }
  }
  return groups;
}

async function merge(tx: Transaction, index: string, groups: readonly SeenRun[][]) {
  if (!(await waitForLock(tx, rewritingLock, { withinMs: lockWaitMs }))) return { merged: 0, written: 0 };
  const taken = new Map((await takeRuns(tx, index, groups.flat(), '*')).map((run) => [run.id, run]));
  const lists = new Set<number>();
  const written = groups.flatMap((group) => {
    const runs = group.flatMap(({ id }) => taken.get(id) ?? []);
    for (const { list } of runs) lists.add(list);
    return separateLong(runs.flatMap(entriesOf)).flatMap(runsOf);
  });
  await insertRuns(tx, index, written);
  // Processes still know these lists by their old runs. The facts in a shared list are unknown, but a search that misses a run reads its list again.
  if (lists.size > 0)
    await tx.query('insert into discovery.change (merged) values ($1::bigint[])', [bigintArray([...lists])]);
  return { merged: taken.size, written: written.length };
}
