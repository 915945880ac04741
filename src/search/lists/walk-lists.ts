import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { repeat } from '../../delivery/repeat.ts';
import type { ServiceContext } from '../../delivery/service.ts';
import type { Database } from '../../storage/database.ts';
import { beginningOf, compactFrom, type Position } from './compact.ts';

// Compaction in the background. While runs were added since the last walk, one process walks over all lists in their order: a list that nobody has searched yet is merged before somebody
// does. Steps that find something to merge follow each other quickly, so that a bulk load is caught up with in minutes; the others take a tenth of a processor.

const lookEveryMs = 1_000;
/** Longer than one step takes. */
const leaseMs = 60_000;
/** How long the walk rests for each millisecond of a step: other work comes first. */
const restShare = { afterMerge: 1, otherwise: 9 };

export function startCompactor({ database, logger }: Pick<ServiceContext, 'database' | 'logger'>): {
  close(): Promise<void>;
} {
  return repeat({ what: 'the compaction of posting lists', everyMs: lookEveryMs, logger }, (signal) =>
    walkLists(database, signal),
  );
}

/** One walk, if runs were added since the last one and no other process walks. */
export async function walkLists(database: Database, signal: AbortSignal): Promise<void> {
  const newest = await findNewest(database);
  const token = randomUUID();
  if (newest === undefined || !(await takeLease(database, token))) return;
  let written = 0;
  try {
    for (let from: Position | undefined = beginningOf(Number.MIN_SAFE_INTEGER); from; ) {
      const startedAt = performance.now();
      const step = await compactFrom(database, from, Number.MAX_SAFE_INTEGER);
      written += step.written;
      from = step.rest;
      const share = step.merged > 0 ? restShare.afterMerge : restShare.otherwise;
      if (from) await rest((performance.now() - startedAt) * share, signal);
      if (signal.aborted || !(await takeLease(database, token))) return;
    }
    await database.query('update discovery.compaction set walked_up_to = $1 where lease_token = $2', [
      newest + written,
      token,
    ]);
  } finally {
    await database.query(
      'update discovery.compaction set lease_token = null, leased_until = null where lease_token = $1',
      [token],
    );
  }
}

/** The number of the newest run; undefined where it is the one of the last walk. */
async function findNewest(database: Database): Promise<number | undefined> {
  const { rows } = await database.query<{ newest: number }>(
    `select last_value as newest from discovery.run_id_seq
     where last_value <> coalesce((select walked_up_to from discovery.compaction), 0)`,
  );
  return rows[0]?.newest;
}

async function takeLease(database: Database, token: string): Promise<boolean> {
  const { rowCount } = await database.query(
    `insert into discovery.compaction (lease_token, leased_until) values ($1, now() + $2 * interval '1 millisecond')
     on conflict (id) do update set lease_token = excluded.lease_token, leased_until = excluded.leased_until
     where compaction.lease_token = $1 or compaction.leased_until is null or compaction.leased_until < now()`,
    [token, leaseMs],
  );
  return rowCount > 0;
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
