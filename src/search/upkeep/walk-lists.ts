import { setTimeout as delay } from 'node:timers/promises';
import { repeat } from '../../delivery/repeat.ts';
import type { ServiceContext } from '../../delivery/service.ts';
import type { Database } from '../../storage/database.ts';
import { openThreadDatabase, type ThreadDatabase, threadDatabase } from '../../storage/thread-database.ts';
import { createThreadPool } from '../../thread-pool.ts';
import type { IndexFormats } from '../entries/index-format.ts';
import { type Generation, readWritten } from '../generations/in-use.ts';
import { beginning, type CompactionStep, compactFrom } from '../lists/compact.ts';
import type { RunKey } from '../lists/runs.ts';
import { createLease } from './lease.ts';
import { sweepPaths, sweepWords } from './sweep.ts';

// Compaction in the background. When enough runs were added since the last walk, one process walks over all lists in their order. After a step that merged runs, the next one follows soon, so a bulk load is
// compacted in minutes. Other steps use a tenth of a processor. At the end, a walk sweeps a part of the dictionary.
//
// Steps run in a thread with its own connection. On the main thread, a transaction that merges runs would wait for all searches between its statements, and removals would wait for the transaction.

const lookEveryMs = 1_000;
/** Longer than one step takes. */
const leaseMs = 60_000;
const stepDeadlineMs = 5 * 60_000;
/** A smaller share of new runs is not worth a walk: pushes would cause endless walks. PostgreSQL knows the approximate number of runs. */
const fewRuns = 1 / 100;
/** Pause of the walk per millisecond of a step, because other work comes first. */
const restShare = { afterMerge: 1, otherwise: 9 };

type CompactorContext = Pick<ServiceContext, 'config' | 'database' | 'logger'> & { formats: IndexFormats };

export function startCompactor({ config, database, logger, formats }: CompactorContext) {
  // It has the priority of the main thread, because writers wait for its locks.
  const threads = createThreadPool({ size: 1, givesWay: false, logger });
  const thread = threadDatabase(database, logger, config);
  const compact = (index: string, from: RunKey) => {
    const input: ThreadInput = { thread, index, from };
    const task = { module: import.meta.url, name: compactHere.name, input, deadlineMs: stepDeadlineMs };
    return threads.run<CompactionStep>(task);
  };
  const walks = repeat({ what: 'the compaction of lists', everyMs: lookEveryMs, logger }, async (signal) => {
    for (const generation of await database.transaction((tx) => readWritten(tx, formats)))
      await walkLists(database, generation, signal, compact);
  });
  return {
    async close(): Promise<void> {
      await walks.close();
      await threads.close();
    },
  };
}

type ThreadInput = { thread: ThreadDatabase; index: string; from: RunKey };

/** Runs in the thread. */
export async function compactHere({ thread, index, from }: ThreadInput): Promise<CompactionStep> {
  const { database } = await openThreadDatabase(thread);
  return compactFrom(database, index, from);
}

/** One walk, if enough runs were added since the last one and no other process is walking. */
export async function walkLists(
  database: Database,
  generation: Generation,
  signal: AbortSignal,
  compact = (index: string, from: RunKey) => compactFrom(database, index, from),
): Promise<void> {
  const { index } = generation;
  const newest = await findNewest(database, index);
  const lease = createLease(database, { table: `${index}.compaction`, where: 'true' }, leaseMs);
  const mayGoOn = async () => !signal.aborted && (await lease.take());
  if (newest === undefined || !(await mayGoOn())) return;
  let written = 0;
  try {
    for (let from: RunKey | undefined = beginning; from; ) {
      const startedAt = performance.now();
      const step = await compact(index, from);
      written += step.written;
      from = step.rest;
      const share = step.merged > 0 ? restShare.afterMerge : restShare.otherwise;
      const restMs = (performance.now() - startedAt) * share;
      if (from) await delay(restMs, undefined, { signal }).catch(() => undefined);
      if (!(await mayGoOn())) return;
    }
    const note = `update ${index}.compaction set walked_up_to = $1 where lease_token = $2`;
    await database.query(note, [newest + written, lease.token]);
    await sweepPaths(database, index);
    await sweepWords(database, generation);
  } finally {
    await lease.release();
  }
}

/** The number of the newest run; undefined if too few are newer than the last walk. */
function findNewest(database: Database, index: string): Promise<number | undefined> {
  return database.value(
    `select last_value from discovery.run_number, pg_class
     where is_called and pg_class.oid = '${index}.run'::regclass
       and last_value - coalesce((select walked_up_to from ${index}.compaction), 0) not between 0 and greatest(reltuples, 0) * ${fewRuns}`,
  );
}
