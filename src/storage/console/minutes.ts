import type { Queryable } from '../database.ts';
import { newRow, type Sql, sql } from '../sql.ts';
import { countOrEstimate, countUpTo, deliveries } from './counts.ts';

// The numbers of processes, minute by minute. Rows hold counts of only that minute, so that those of several processes can be added.

export type Numbers = Record<string, number>;

export interface AboutProcess {
  roles: readonly string[];
  version: string;
}

const shared = '';
/** Nothing waits for these numbers, and a database that is down must not delay the end of a process. */
const timeoutMs = 2_000;
/** Up to this number, rows are counted; above it, they are estimated: rows of queues are scattered over the disk. */
const countedRows = 10_000;

export async function writeMinute(
  queryable: Queryable,
  { at, process, about, numbers }: { at: Date; process: string; about?: AboutProcess; numbers: Numbers },
): Promise<void> {
  const texts = { about: about && JSON.stringify(about), numbers: JSON.stringify(numbers) };
  const row = newRow({ at, process, ...texts });
  await queryable.query(
    sql`insert into console.minute ${row}
     on conflict (at, process) do update set numbers = excluded.numbers`,
    { timeoutMs },
  );
}

const count = (rows: Sql, relation: string) => countOrEstimate(countedRows, rows, relation);

/** Measures the state shared by all processes, unless another process has done so in this minute. */
export async function measureShared(queryable: Queryable, at: Date): Promise<void> {
  const measured = sql`select from console.minute where at = ${at} and process = ${shared}`;
  if (await queryable.has(measured, { timeoutMs })) return;
  const numbers = await queryable.one<Numbers>(
    sql`select ${count(deliveries.waitingCallbacks, 'work.callback_due')} as "waitingCallbacks",
       ${count(deliveries.waitingPushes, 'catalog.push_due')} as "waitingPushes",
       ${count(deliveries.parkedCallbacks, 'work.callback_parked')}
         + ${count(deliveries.parkedPushes, 'catalog.push_parked')} as parked,
       ${countUpTo(countedRows, sql`discovery.crawl_host where due_at <= now()`)} as "crawlDue",
       pg_database_size(current_database()) as "databaseBytes", ${count(sql`discovery.resource`, 'discovery.resource')} as resources`,
    { timeoutMs },
  );
  await writeMinute(queryable, { at, process: shared, numbers });
}

export async function listProcesses(queryable: Queryable, since: Date) {
  const rows = await queryable.rows<{ process: string; about: AboutProcess }>(sql`
    select distinct on (process) process, about from console.minute where at >= ${since} and about is not null order by process, at desc`);
  return rows.map(({ process, about }) => ({ process, ...about }));
}

export interface MinuteNumber {
  at: Date;
  name: string;
  /** Sum over all processes, and the highest value of one. */
  sum: number;
  most: number;
}

export function readMinutes(queryable: Queryable, since: Date) {
  return queryable.rows<MinuteNumber>(sql`
    select at, key as name, sum(value::float8) as sum, max(value::float8) as most
    from console.minute cross join jsonb_each_text(numbers) where at >= ${since} group by at, key order by at`);
}
