import { repeat } from '../../delivery/repeat.ts';
import type { ServiceContext } from '../../delivery/service.ts';
import type { Database, Queryable, Transaction } from '../../storage/database.ts';
import { type Caches, takeFragmentedLists } from '../cache/caches.ts';
import {
  deleteRuns,
  entriesOf,
  insertRuns,
  maxRunLength,
  type RunKey,
  runKeyArrays,
  runsOf,
  type StoredRun,
  unnestedRunKeys,
} from './runs.ts';

// Compaction of posting lists. Every indexed document adds runs of few keys to many lists; merged, they are read many times as fast. Each step looks at some runs of one list and
// rewrites those that are worth it, in one short transaction. It skips runs that are locked, so that any number of processes may compact at once, and a removal waits for one
// step at most.

const compactEveryMs = 1_000;

/** Compacts, in the background, the lists that searches of this process found fragmented. */
export function startCompactor({
  database,
  caches,
  logger,
}: Pick<ServiceContext, 'database' | 'logger'> & { caches(): Caches }): { close(): Promise<void> } {
  const stop = new AbortController();
  const work = repeat(
    { what: 'the compaction of posting lists', everyMs: compactEveryMs, logger },
    async () => {
      for (const list of takeFragmentedLists(caches())) await mergeRuns(database, list, stop.signal);
    },
  );
  return {
    async close() {
      stop.abort();
      await work.close();
    },
  };
}

/** Runs that one step looks at. */
const runsAtOnce = 1_000;
/** Fewer neighbours are not worth writing again. */
const minNeighbours = 4;
/** Nor is a long run, for what a few short ones add to it. */
const worthwhilePart = 1 / 16;

/** Merges small runs of a list; returns how many runs there are fewer now. */
export async function mergeRuns(database: Database, list: number, signal?: AbortSignal): Promise<number> {
  let saved = 0;
  for (let from: Start | undefined = beginning; from && !signal?.aborted; ) {
    const seen: SeenRun[] = await readRunKeys(database, list, from);
    const groups = groupNeighbours(seen, maxRunLength(list)).filter(isWorthwhile);
    if (groups.length > 0) saved += await database.transaction((tx) => merge(tx, list, groups));
    from = seen.length < runsAtOnce ? undefined : seen.at(-1);
  }
  // Processes may have noted that the list is too long to be read whole.
  if (saved > 0)
    await database.query('insert into discovery.change (merged) values (array[$1::bigint])', [list]);
  return saved;
}

type Start = Omit<RunKey, 'list'>;
type SeenRun = RunKey & Pick<StoredRun, 'count'>;

/** Before all runs. */
const beginning: Start = { first: Number.NEGATIVE_INFINITY, last: 0, id: 0 };

async function readRunKeys(queryable: Queryable, list: number, from: Start): Promise<SeenRun[]> {
  const { rows } = await queryable.query<SeenRun>(
    `select list, first, last, id, count from discovery.run
     where list = $1 and (first, last, id) > ($2, $3, $4) order by first, last, id limit $5`,
    [list, from.first, from.last, from.id, runsAtOnce],
  );
  return rows;
}

/** Runs one after the other that fit into one run together. */
function groupNeighbours(runs: readonly SeenRun[], maxCount: number): SeenRun[][] {
  const groups: SeenRun[][] = [];
  let count = Number.POSITIVE_INFINITY;
  for (const run of runs) {
    count += run.count;
    if (count <= maxCount) groups.at(-1)?.push(run);
    else {
      groups.push([run]);
      count = run.count;
    }
  }
  return groups;
}

function isWorthwhile(group: readonly SeenRun[]): boolean {
  const counts = group.map(({ count }) => count);
  const longest = Math.max(...counts);
  const others = counts.reduce((sum, count) => sum + count, 0) - longest;
  return group.length >= minNeighbours && others >= longest * worthwhilePart;
}

async function merge(tx: Transaction, list: number, groups: readonly SeenRun[][]): Promise<number> {
  const taken = await takeRuns(tx, groups.flat());
  const merged = groups.flatMap((group) => {
    const runs = group.flatMap(({ id }) => taken.get(id) ?? []);
    return runs.length === 0 ? [] : runsOf(entriesOf(list, runs));
  });
  await insertRuns(tx, merged);
  return taken.size - merged.length;
}

/** Those that nobody else is just writing anew. */
async function takeRuns(tx: Transaction, runs: readonly SeenRun[]): Promise<Map<number, StoredRun>> {
  const { rows } = await tx.query<StoredRun>(
    `select * from discovery.run where (list, first, last, id) in (${unnestedRunKeys}) for update skip locked`,
    runKeyArrays(runs),
  );
  await deleteRuns(tx, rows);
  return new Map(rows.map((run) => [run.id, run]));
}
