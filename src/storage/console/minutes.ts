import type { Queryable } from '../database.ts';
import { deleteBefore } from '../delete-in-batches.ts';
import { countOrEstimate, countUpTo, deliveries } from './counts.ts';

// How processes did, minute by minute. Rows hold counts of the minute alone, so that those of several processes can be added up.

export type Numbers = Record<string, number>;

export interface AboutProcess {
  roles: readonly string[];
  version: string;
}

/** The process of rows about what all processes share. */
const shared = '';
/** Nobody waits for these numbers, and a database that is down must not hold up a process that ends. */
const timeoutMs = 2_000;
/** Counted one by one; of more, an estimate is told: rows of queues are read from wherever they are. */
const countedRows = 10_000;

/** Writes a minute of a process, or what has come to it since. */
export async function writeMinute(
  queryable: Queryable,
  { at, process, about, numbers }: { at: Date; process: string; about?: AboutProcess; numbers: Numbers },
): Promise<void> {
  await queryable.query(
    `insert into console.minute (at, process, about, numbers) values ($1, $2, $3, $4)
     on conflict (at, process) do update set numbers = excluded.numbers`,
    [at, process, about && JSON.stringify(about), JSON.stringify(numbers)],
    { timeoutMs },
  );
}

const count = (rows: string, relation: string) => countOrEstimate(countedRows, rows, relation);

/** Measures what all processes share, unless another process has done so in this minute. */
export async function measureShared(queryable: Queryable, at: Date): Promise<void> {
  const { rowCount } = await queryable.query(
    'select from console.minute where at = $1 and process = $2',
    [at, shared],
    { timeoutMs },
  );
  if (rowCount > 0) return;
  const { rows } = await queryable.query<Numbers>(
    `select ${count(deliveries.waitingCallbacks, 'work.callback_due')} as "waitingCallbacks",
       ${count(deliveries.waitingPushes, 'catalog.push_due')} as "waitingPushes",
       ${count(deliveries.parkedCallbacks, 'work.callback_parked')}
         + ${count(deliveries.parkedPushes, 'catalog.push_parked')} as parked,
       ${countUpTo(countedRows, 'discovery.crawl_host where due_at <= now()')} as "crawlDue",
       pg_database_size(current_database()) as "databaseBytes", ${count('discovery.resource', 'discovery.resource')} as resources`,
    [],
    { timeoutMs },
  );
  if (rows[0]) await writeMinute(queryable, { at, process: shared, numbers: rows[0] });
}

/** The processes that have written since then. */
export async function listProcesses(queryable: Queryable, since: Date) {
  const { rows } = await queryable.query<{ process: string; about: AboutProcess }>(
    `select distinct on (process) process, about from console.minute where at >= $1 and about is not null order by process, at desc`,
    [since],
  );
  return rows.map(({ process, about }) => ({ process, ...about }));
}

export interface MinuteNumber {
  at: Date;
  name: string;
  /** Of all processes together, and the highest of one. */
  sum: number;
  most: number;
}

export function readMinutes(queryable: Queryable, since: Date) {
  return queryable.rows<MinuteNumber>(
    `select at, key as name, sum(value::float8) as sum, max(value::float8) as most
     from console.minute cross join jsonb_each_text(numbers) where at >= $1 group by at, key order by at`,
    [since],
  );
}

/** Forgets rows from before a time; returns how many. */
export const purgeMinutes = deleteBefore(
  `delete from console.minute where (at, process) in (
       select at, process from console.minute where at < $1 order by at limit $2
     )`,
);
