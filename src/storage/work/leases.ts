import pg from 'pg';
import type { Queryable } from '../database.ts';
import { assign, join, raw, type Sql, sql } from '../sql.ts';
import { LeaseLost } from './lease-lost.ts';

// Rows of due work and the leases on them. Every such table has
//
//   id bigint identity, due_at timestamptz (null: nothing to do), lease_token uuid, leased_until timestamptz, attempts int not null default 0
//
// and an index on due_at, led by the columns that claims select by. These times are the database's: processes give durations, never times, because
// their clocks may differ and jump. `pullForward` repairs the effects of a jump of the database's own clock. A writer that finds new work for a row
// sets due_at = least(due_at, now()), at any time: a claim moves due_at to the end of its lease, so a row whose process died becomes due again, and
// if due_at differs when the lease is given back, it was set meanwhile, and stays.

/** Dead processes lose their work after this time, and so do stopped ones, whose transactions the server has ended by then (connection.ts). */
export const leaseMs = 20_000;

export interface Claim<Row = Record<string, unknown>> {
  id: number;
  /** Results are written only by the holder of this token. */
  token: string;
  /** How often the row was claimed, including this time, since `attempts` was last set to 0. */
  attempts: number;
  /** When it was claimed, by the database's clock. */
  at: Date;
  row: Row;
}

/** The lease of a row that is processed at once by the process that stores it: no claim is needed. */
export interface Lease {
  token: string;
  ms: number;
  /** If this many rows of its group are in progress anywhere, it is stored without the lease. */
  perGroup: number;
}

export interface Settlement {
  /** After how long the row is due again; null if it is done. Work that was found meanwhile makes it due earlier. */
  dueInMs: number | null;
  set?: Record<string, unknown>;
}

/** Writes a result and gives the row back; throws LeaseLost, which rolls back its transaction, if the lease is no longer held. */
export async function settle(
  queryable: Queryable,
  table: string,
  claim: Claim<unknown>,
  { dueInMs, set = {} }: Settlement,
): Promise<void> {
  const settledRows = await queryable.count(sql`update ${tableName(table)}
    set ${assign({ ...set, due_at: dueAfter(dueIn(dueInMs)), lease_token: null, leased_until: null })}
    where id = ${claim.id} and lease_token = ${claim.token}`);
  if (settledRows === 0) throw new LeaseLost(table, claim.id);
  markSettled(claim);
}

/** The time this many milliseconds from now, a value or a column; null if they are null. */
export function dueIn(ms: number | null | Sql): Sql {
  return sql`now() + ${ms}::float8 * interval '1 millisecond'`;
}

const settled = new WeakMap<Claim<unknown>, { forGood: boolean }>();

/** Callers that give back many rows at once mark each. `forGood`: the row is not due again, and nothing makes it due while it is leased. */
export function markSettled(claim: Claim<unknown>, { forGood = false } = {}): void {
  settled.set(claim, { forGood });
}

export function isSettled(claim: Claim<unknown>): boolean {
  return settled.has(claim);
}

export function isSettledForGood(claim: Claim<unknown>): boolean {
  return settled.get(claim)?.forGood ?? false;
}

/** The due time that a row gets at the end of its lease: `least` ignores nulls. */
export function dueAfter(due: Sql): Sql {
  return sql`case when due_at is distinct from leased_until then least(due_at, ${due}) else ${due} end`;
}

/** Gives rows back unfinished, due after the delay. Skips leases that are no longer held. */
export async function release(
  queryable: Queryable,
  table: string,
  claims: readonly Claim<unknown>[],
  { delayMs, countAttempt }: { delayMs: number; countAttempt: boolean },
): Promise<void> {
  if (claims.length === 0) return;
  await queryable.query(sql`update ${tableName(table)} as work
    set due_at = ${dueAfter(dueIn(delayMs))}, lease_token = null, leased_until = null, attempts = attempts - ${countAttempt ? 0 : 1}
    from ${heldBy(claims)} where work.id = held.id and work.lease_token = held.token`);
}

/** Leases as rows of `held (id, token)`. */
export function heldBy(claims: readonly Pick<Claim, 'id' | 'token'>[]): Sql {
  const tokens = claims.map(({ token }) => token);
  return sql`unnest(${claims.map(({ id }) => id)}::bigint[], ${tokens}::uuid[]) as held (id, token)`;
}

/** Renews leases; returns the tokens of the renewed ones. Skips a row that its own handler is writing. */
export async function renew(
  queryable: Queryable,
  table: string,
  claims: readonly Claim<unknown>[],
  durationMs: number,
): Promise<Set<string>> {
  const name = tableName(table);
  const end = dueIn(durationMs);
  const kept = await queryable.column<string>(sql`with kept as materialized (
      select work.id from ${name} as work join ${heldBy(claims)} on work.id = held.id and work.lease_token = held.token
      for no key update of work skip locked
    )
    update ${name} as work set leased_until = ${end}, due_at = case when due_at = leased_until then ${end} else due_at end
    from kept where work.id = kept.id returning work.lease_token`);
  return new Set(kept);
}

export function msUntilNextDue(queryable: Queryable, table: string, where?: Record<string, unknown>) {
  return queryable.value<number | null>(
    sql`select (extract(epoch from min(due_at) - now()) * 1000)::float8
     from ${tableName(table)} where due_at > now() ${matching(where)}`,
    { prepared: true },
  );
}

// Repairs due times after a jump of the database's clock. While the clock is ahead, rows become due, and are leased, by it; after it is set back,
// they would wait for the length of the jump. The maximum wait of each kind of work is known: a row that is due later is made due at once. A lease
// longer than any can be is cut to the usual length: a living holder renews it, and a dead one loses it.

/** Requires an index on due_at and one on leased_until. */
export async function pullForward(
  queryable: Queryable,
  table: string,
  where: Record<string, unknown> | undefined,
  { longestWaitMs, longestLeaseMs }: { longestWaitMs: number; longestLeaseMs: number },
): Promise<void> {
  const name = tableName(table);
  const [waitsEnd, leasesEnd] = [dueIn(longestWaitMs), dueIn(longestLeaseMs)];
  const match = matching(where);
  // Rows that are being written are checked the next time.
  await queryable.query(
    sql`with far as materialized (
       select id from (
         (select id from ${name} where leased_until > ${leasesEnd} ${match})
         union
         (select id from ${name} where due_at > ${waitsEnd} ${match})
       ) as ahead
     ), held as materialized (
       select work.id from ${name} as work join far using (id) for no key update of work skip locked
     )
     update ${name} as work
     set leased_until = case when leased_until > ${leasesEnd} then ${leasesEnd} else leased_until end,
       due_at = case when due_at = leased_until then least(due_at, ${leasesEnd}) when due_at > ${waitsEnd} then now() else due_at end
     from held where work.id = held.id`,
    { prepared: true },
  );
}

export function matching(where: Record<string, unknown> = {}): Sql {
  const columns = Object.entries(where);
  const conditions = columns.map(([name, value]) => sql`and ${raw(pg.escapeIdentifier(name))} = ${value}`);
  return join(conditions, ' ');
}

export function tableName(table: string): Sql {
  return raw(table.split('.').map(pg.escapeIdentifier).join('.'));
}
