import type { Queryable } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';
import { raw, type Sql, sql } from '../sql.ts';
import { dueIn } from './leases.ts';
import { isParked } from './parked.ts';

// Rows that are deleted by their age alone. What needs more than one condition on a row has a function in the file of its table (src/housekeeping.ts calls both).

interface OldRows {
  table: string;
  /** The columns of the primary key. */
  key?: string;
  /** Condition and order of the rows from before a time. */
  where: (before: Date) => Sql;
  batch?: number;
}

export type RetainedKind = keyof typeof kinds;

const largeBatch = 5_000;

const kinds = {
  requests: {
    table: 'work.request',
    // The clocks of a service's processes may differ: a request that one considers expired, another may accept.
    where: (now) => sql`expires < ${now}::timestamptz - interval '1 minute' and not open order by expires`,
    batch: largeBatch,
  },
  sentRequests: {
    table: 'work.sent_request',
    key: 'role, message_id',
    where: (now) => sql`expires < ${now} order by expires`,
    batch: largeBatch,
  },
  receiverForms: {
    table: 'work.receiver_form',
    key: 'receiver, form',
    where: (now) => sql`until <= ${now} order by until`,
  },
  downloads: {
    table: 'catalog.download',
    // A reader that began in time may finish.
    where: (now) => sql`expires_at < ${now}::timestamptz - interval '15 minutes'`,
    batch: 20,
  },
  submissions: { table: 'catalog.submission', where: (before) => sql`done_at < ${before}` },
  // Should its catalog match a subscription of the receiver again, a push that was deleted begins with the whole catalog.
  withdrawnPushes: {
    table: 'catalog.push',
    where: (before) =>
      sql`state = 'withdrawn' and due_at is null and sent_timestamp < ${before} order by sent_timestamp`,
  },
  /** Of receivers without an ACTIVE subscription. */
  parkedPushes: {
    table: 'catalog.push',
    where: (before) => sql`${isParked.push} and due_at is null
      and coalesce(failing_since, sent_timestamp, '-infinity') < ${before}
      and not exists (select from catalog.subscription where owner = subscriber and status = 'ACTIVE')`,
  },
  crawlLog: { table: 'discovery.crawl_log', where: (before) => sql`at < ${before} order by at` },
  audit: { table: 'console.audit', where: (before) => sql`at < ${before} order by at` },
  minutes: {
    table: 'console.minute',
    key: 'at, process',
    where: (before) => sql`at < ${before} order by at`,
  },
} satisfies Record<string, OldRows>;

export function deleteOld(queryable: Queryable, kind: RetainedKind, before: Date): Promise<number> {
  const { table, key = 'id', where, batch }: OldRows = kinds[kind];
  const statement = (limit: number) => sql`delete from ${raw(table)} where (${raw(key)}) in (
      select ${raw(key)} from ${raw(table)} where ${where(before)} limit ${limit} for update skip locked
    )`;
  return deleteInBatches(queryable, statement, batch);
}

/** Whether this process does the housekeeping now: the one that moves the due time does. A due time too far ahead is from before the clock was set back. */
export async function claimHousekeeping(queryable: Queryable, everyMs: number): Promise<boolean> {
  const next = dueIn(everyMs);
  return queryable.has(sql`update work.housekeeping set due_at = ${next}
    where due_at not between now() and ${next}`);
}
