import pg from 'pg';
import type { Queryable } from '../database.ts';
import { assign, join, raw, type Sql, sql } from '../sql.ts';
import { LeaseLost } from './lease-lost.ts';

// Rows of due work and the leases on them. Every such table has
//
//   id bigint identity, due_at timestamptz (null: nothing to do), lease_token uuid, leased_until timestamptz, attempts int not null default 0
//
// and an index on due_at, led by the columns that claims select by. All these times are the database's: processes say how long a row waits,
// never until when, because their clocks may differ and jump. What a jump of the database's own clock leaves behind, pull-forward.ts mends. Whoever finds new work for a row sets due_at = least(due_at, now()), at
// any time: a claim moves due_at to the end of its lease, so that a row whose process died is due again by itself, and a due_at that
// is no longer there when the lease is given back was set meanwhile, and stays.

/** Dead processes lose their work this soon, and stopped ones, whose transactions the server has ended by then (connection.ts). */
export const leaseMs = 20_000;

export interface Claim<Row = Record<string, unknown>> {
  id: number;
  /** Results are written only by who can show this. */
  token: string;
  /** How often the row was claimed, this time included, since it last had `attempts` set to 0. */
  attempts: number;
  /** When it was claimed, by the database's clock. */
  at: Date;
  row: Row;
}

/** The lease of a row whose work begins at once, in the process that stores it: nobody has to claim it. */
export interface Lease {
  token: string;
  ms: number;
  /** If this many rows of its group are being processed anywhere, it is stored without the lease. */
  perGroup: number;
}

export interface Settlement {
  /** After how long the row is due again; null when it is done. Work that was found meanwhile makes it due earlier. */
  dueInMs: number | null;
  set?: Record<string, unknown>;
}

/** Writes a result and gives the row back; throws LeaseLost, and so undoes its transaction, when the lease is not held any more. */
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

/** Whoever gives many rows back at once tells so of each. `forGood`: the row is not due again, and nobody makes it so while it is leased. */
export function markSettled(claim: Claim<unknown>, { forGood = false } = {}): void {
  settled.set(claim, { forGood });
}

export function isSettled(claim: Claim<unknown>): boolean {
  return settled.has(claim);
}

export function isSettledForGood(claim: Claim<unknown>): boolean {
  return settled.get(claim)?.forGood ?? false;
}

/** The due time that a row gets with the end of its lease: `least` passes over nulls. */
export function dueAfter(due: Sql): Sql {
  return sql`case when due_at is distinct from leased_until then least(due_at, ${due}) else ${due} end`;
}

/** Gives rows back unfinished, due after the delay. Leases that are not held any more are passed over. */
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

/** Prolongs leases; returns the tokens of those that were. A row that its own handler is just writing is left alone. */
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

export function matching(where: Record<string, unknown> = {}): Sql {
  return join(
    Object.entries(where).map(([column, value]) => sql`and ${raw(pg.escapeIdentifier(column))} = ${value}`),
    ' ',
  );
}

export function tableName(table: string): Sql {
  return raw(table.split('.').map(pg.escapeIdentifier).join('.'));
}
