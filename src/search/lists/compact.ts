import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { firstSharedList, maxRunLength, sharedLists } from './list-numbers.ts';
import {
  entriesOf,
  inSlices,
  insertRuns,
  type RunKey,
  runsOf,
  type StoredRun,
  separateLong,
  takeRuns,
} from './runs.ts';

// Compaction of posting lists. Every transaction adds runs of few keys to many lists; merged, they are read many times as fast. Each step looks at some runs and merges neighbours, in
// short transactions. It skips runs that are locked, so that any number of processes may compact at once, and a removal waits for one short transaction at most.

/** Where in the order of all runs a step begins. */
export type Position = RunKey;

export interface CompactionStep {
  /** Runs that were merged, and those that they became. */
  merged: number;
  written: number;
  /** The last run that was looked at; undefined when there are no more. */
  rest?: Position;
}

/** Runs that one step looks at. */
const seenAtOnce = 20_000;
/** Runs of one transaction. */
const mergedAtOnce = 250;
/** Fewer neighbours are not worth writing again. */
const minNeighbours = 4;
/** Nor is a long run, for what a few short ones add to it. */
const worthwhilePart = 1 / 16;
/** A shared list is sorted again when this part of its runs overlap so many that follow: every transaction adds runs from the lowest to the highest fact. */
const overlap = { runs: 8, part: 1 / 8 };
/** So many of such runs are sorted together, in some ten milliseconds. */
const sortedAtOnce = 250;

/** Merges small runs of a list; returns how many runs there are fewer now. */
export async function mergeRuns(database: Database, index: string, list: number): Promise<number> {
  let saved = 0;
  for (let from: Position | undefined = beginningOf(list); from; ) {
    const step: CompactionStep = await compactFrom(database, index, from, list);
    saved += step.merged - step.written;
    from = step.rest;
  }
  return saved;
}

/** Before all runs of a list, and all of later lists. */
export function beginningOf(list: number): Position {
  return { list, first: Number.NEGATIVE_INFINITY, last: 0, id: 0 };
}

/** Merges small runs among the next ones. */
export async function compactFrom(
  database: Database,
  index: string,
  from: Position,
  lastList: number,
): Promise<CompactionStep> {
  const { seen, rest } = await readFragmented(database, index, from, lastList);
  const step: CompactionStep = { merged: 0, written: 0, rest };
  const worthwhile = groupNeighbours(seen).filter(isWorthwhile);
  for (const groups of inSlices(worthwhile, ({ length }) => length, mergedAtOnce)) {
    const { merged, written } = await database.transaction((tx) => merge(tx, index, groups));
    step.merged += merged;
    step.written += written;
  }
  return step;
}

type SeenRun = RunKey & Pick<StoredRun, 'count'> & { is_overlapping: boolean };

/** Of the next runs, those of lists that are in several less than half full on the average, or overlap: PostgreSQL counts them in the index alone. */
async function readFragmented(
  database: Database,
  index: string,
  from: Position,
  lastList: number,
): Promise<{ seen: SeenRun[]; rest?: Position }> {
  const { rows } = await database.query<SeenRun & { ordinal: number }>(
    `with seen as materialized (
       select *, row_number() over () as ordinal,
         last > lead(first, ${overlap.runs}) over (partition by list order by first, last, id) as is_wide
       from (
         select list, first, last, id, count from ${index}.run
         where (list, first, last, id) > ($1, $2, $3, $4) and list <= $5 order by list, first, last, id limit $6
       ) as next
     ), counted as (
       select list, ${isSharedText} and count(*) filter (where is_wide) > count(*) * ${overlap.part} as is_overlapping,
         count(*) >= $7 and sum(count) * 2 < count(*) * case when list > ${firstSharedList} then $8::integer when ${isSharedText} then $9::integer else $10::integer end as is_fragmented
       from seen group by list
     )
     select list, first, last, id, count, ordinal, is_overlapping from seen join counted using (list)
     where is_fragmented or is_overlapping or ordinal = $6 order by ordinal`,
    [
      ...[from.list, from.first, from.last, from.id, lastList, seenAtOnce, minNeighbours],
      ...[maxRunLength(0), maxRunLength(firstSharedList), maxRunLength(Number.MIN_SAFE_INTEGER)],
    ],
  );
  const end = rows.at(-1);
  return { seen: rows, ...(end?.ordinal === seenAtOnce && { rest: end }) };
}

const isSharedText = `(list <= ${firstSharedList} and list > ${firstSharedList - sharedLists})`;

/** Runs of one list, one after the other, that fit into one run together, or are to be sorted together. */
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

function isWorthwhile(group: readonly SeenRun[]): boolean {
  if (group[0]?.is_overlapping) return group.length >= minNeighbours;
  const counts = group.map(({ count }) => count);
  const longest = Math.max(...counts);
  const others = counts.reduce((sum, count) => sum + count, 0) - longest;
  return group.length >= minNeighbours && others >= longest * worthwhilePart;
}

async function merge(
  tx: Transaction,
  index: string,
  groups: readonly SeenRun[][],
): Promise<{ merged: number; written: number }> {
  // Those that nobody else is just writing anew.
  const taken = await takeRuns(tx, index, groups.flat(), '*', 'for update skip locked');
  const lists = new Set<number>();
  const written = groups.flatMap((group) => {
    const runs = group.flatMap(({ id }) => taken.get(id) ?? []);
    const [first] = runs;
    if (first === undefined) return [];
    lists.add(first.list);
    return separateLong(entriesOf(first.list, runs)).flatMap(runsOf);
  });
  await insertRuns(tx, index, written);
  // Processes know these lists by runs that are gone. The lists of facts in a shared one are unknown here: whoever misses a run reads its list again.
  if (lists.size > 0)
    await tx.query('insert into discovery.change (merged) values ($1::bigint[])', [bigintArray([...lists])]);
  return { merged: taken.size, written: written.length };
}
