import pg from 'pg';
import type { Queryable } from '../database.ts';
import { Parameters } from '../parameters.ts';
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

/** What a row is stored with whose work begins at once, in the process that stores it: nobody has to claim it. */
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
  const parameters = new Parameters();
  const members = Object.entries(set).map(
    ([column, value]) => `${pg.escapeIdentifier(column)} = ${parameters.add(value)}, `,
  );
  const { rowCount } = await queryable.query(
    `update ${tableName(table)}
     set ${members.join('')} due_at = ${dueAfter(dueIn(parameters.add(dueInMs)))}, lease_token = null, leased_until = null
     where id = ${parameters.add(claim.id)} and lease_token = ${parameters.add(claim.token)}`,
    parameters.values,
  );
  if (rowCount === 0) throw new LeaseLost(table, claim.id);
  markSettled(claim);
}

/** SQL for the time this many milliseconds from now; null if they are null. */
export function dueIn(ms: string): string {
  return `now() + ${ms}::float8 * interval '1 millisecond'`;
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
export function dueAfter(due: string): string {
  return `case when due_at is distinct from leased_until then least(due_at, ${due}) else ${due} end`;
}

/** Gives rows back unfinished, due after the delay. Leases that are not held any more are passed over. */
export async function release(
  queryable: Queryable,
  table: string,
  claims: readonly Claim<unknown>[],
  { delayMs, countAttempt }: { delayMs: number; countAttempt: boolean },
): Promise<void> {
  if (claims.length === 0) return;
  await queryable.query(
    `update ${tableName(table)} as work
     set due_at = ${dueAfter(dueIn('$3'))}, lease_token = null, leased_until = null,
         attempts = attempts - $4
     from unnest($1::bigint[], $2::uuid[]) as held (id, token)
     where work.id = held.id and work.lease_token = held.token`,
    [claims.map(({ id }) => id), claims.map(({ token }) => token), delayMs, countAttempt ? 0 : 1],
  );
}

/** Prolongs leases; returns the tokens of those that were. A row that its own handler is just writing is left alone. */
export async function renew(
  queryable: Queryable,
  table: string,
  claims: readonly Claim<unknown>[],
  durationMs: number,
): Promise<Set<string>> {
  const name = tableName(table);
  const { rows } = await queryable.query<{ token: string }>(
    `with kept as materialized (
       select work.id from ${name} as work
       join unnest($1::bigint[], $2::uuid[]) as held (id, token) on work.id = held.id and work.lease_token = held.token
       for no key update of work skip locked
     )
     update ${name} as work
     set leased_until = now() + $3 * interval '1 millisecond',
         due_at = case when due_at = leased_until then now() + $3 * interval '1 millisecond' else due_at end
     from kept where work.id = kept.id
     returning work.lease_token as token`,
    [claims.map(({ id }) => id), claims.map(({ token }) => token), durationMs],
  );
  return new Set(rows.map(({ token }) => token));
}

/** Milliseconds until the next row that is not due yet becomes due; null when there is none. */
export function msUntilNextDue(queryable: Queryable, table: string, where?: Record<string, unknown>) {
  const parameters = new Parameters();
  return queryable.value<number | null>(
    `select (extract(epoch from min(due_at) - now()) * 1000)::float8
     from ${tableName(table)} where due_at > now() ${matching(where, parameters)}`,
    parameters.values,
    { prepared: true },
  );
}

export function matching(where: Record<string, unknown> | undefined, parameters: Parameters): string {
  return Object.entries(where ?? {})
    .map(([column, value]) => `and ${pg.escapeIdentifier(column)} = ${parameters.add(value)}`)
    .join(' ');
}

export function tableName(table: string): string {
  return table.split('.').map(pg.escapeIdentifier).join('.');
}
