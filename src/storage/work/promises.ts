import { AlreadyRemembered, type RequestKey } from '../../protocol/remembered.ts';
import { createBatch } from '../batch.ts';
import type { Database } from '../database.ts';
import { type Freshness, freshCondition, Stale } from '../freshness.ts';
import { sql } from '../sql.ts';
import { DatabaseUnavailable } from '../unavailable.ts';
import { callbackTable, type DueCallback, type NewCallback, receiverOf } from './callbacks.ts';
import type { Claim, Lease } from './due-work.ts';
import { dueIn } from './leases.ts';
import { hashOf, type NewRequest } from './request-memory.ts';

// Promises: requests whose only effect is a callback. One statement stores a request, its answer and the callback, all or nothing; requests that
// arrive meanwhile are stored together, by the next statement.

export interface NewPromise {
  key: RequestKey;
  answer: Omit<NewRequest, 'open'>;
  callback: Omit<NewCallback, 'role' | 'messageId' | 'recipient' | 'requestId'>;
  /** It is stored only if nothing has changed since. */
  freshness?: Freshness;
}

export interface StorePromise {
  /** Returns the claim if the callback was stored with the lease; otherwise it is due at once. Throws AlreadyRemembered if a concurrent request with the same key came first, Stale if the answer is outdated. */
  (promise: NewPromise, lease?: Lease): Promise<Stored>;
  /** How many wait until earlier ones are stored: a measure of overload. */
  waiting(): number;
}

/** Larger callbacks are stored alone: none waits for the bytes of others, and no statement has more than a few megabytes. */
const maxSharedBytes = 256 * 1024;
const maxTogether = 8;
/** After this many, the table is analysed: a statement planned for a nearly empty table reads all callbacks to count those of a receiver. */
const analyzeAfter = 500;

export function createPromiseStore(database: Database): StorePromise {
  const shared = createBatch({ maxItems: maxTogether, gatherMs: 0 }, (rows: Row[]) =>
    storeEach(database, rows),
  );
  let underWay = 0;
  let count = 0;
  async function store(promise: NewPromise, lease?: Lease): Promise<Stored> {
    const { key, callback } = promise;
    // If the analysis fails, everything is still stored.
    if (++count === analyzeAfter)
      database.apart.query(`analyze (skip_locked) ${callbackTable}`).catch(() => undefined);
    const row = { ...promise, lease, hash: hashOf(key), receiver: receiverOf(callback.destination) };
    if (callback.body.length > maxSharedBytes) return storedOf(row, await insert(database, [row]));
    underWay += 1;
    return shared(row).finally(() => {
      underWay -= 1;
    });
  }
  return Object.assign(store, { waiting: () => Math.max(0, underWay - maxTogether) });
}

interface Row extends NewPromise {
  lease: Lease | undefined;
  hash: Buffer;
  receiver: string;
}

/** A row that the database rejects must not fail the others. */
async function storeEach(database: Database, rows: readonly Row[]): Promise<Promise<Stored>[]> {
  // The messageId distinguishes the rows of a statement. A second row with the same one may be the same request, so it comes in a later statement.
  const names = rows.map(({ key }) => key.messageId);
  const together = rows.filter(({ key }, index) => names.indexOf(key.messageId) === index);
  const alone = async (row: Row) => storedOf(row, await insert(database, [row]));
  try {
    const inserted = await insert(database, together);
    return rows.map(async (row) => (together.includes(row) ? storedOf(row, inserted) : await alone(row)));
  } catch (error) {
    if (rows.length === 1 || error instanceof DatabaseUnavailable) throw error;
    return rows.map(alone);
  }
}

type Stored = Claim<DueCallback> | undefined;

function storedOf({ key, callback, receiver }: Row, inserted: Inserted[]): Stored {
  const found = inserted.find(({ message_id }) => message_id === key.messageId);
  if (found === undefined) throw new Error('the database returned no row for a promised callback');
  const { holds, id, request_id, token, at, give_up_at } = found;
  if (!holds) throw new Stale();
  if (id === null) throw new AlreadyRemembered();
  if (token === null) return undefined;
  const { action, destination, body, requestSignature, traceparent = null, truncated = null } = callback;
  const row = {
    ...{ id, request_id, receiver, action, destination, body, give_up_at, traceparent, truncated },
    ...{ message_id: key.messageId, recipient: key.identity, request_signature: requestSignature },
    ...{ created_at: at, last_status: null, last_error: null, form: null, parts: null },
  };
  return { id, token, attempts: 1, at, row };
}

interface Inserted {
  message_id: string;
  holds: boolean;
  id: number | null;
  request_id: number;
  token: string | null;
  at: Date;
  give_up_at: Date;
}

async function insert(database: Database, rows: readonly Row[]): Promise<Inserted[]> {
  // Always in the same order, so that statements with the same requests do not deadlock.
  const ordered = [...rows].sort((one, other) => Buffer.compare(one.hash, other.hash));
  const { rows: inserted } = await database.query<Inserted>(
    statementFor(rows.length),
    ordered.flatMap((row, position) => valuesOf(row, ordered.slice(0, position))),
    { prepared: true },
  );
  if (inserted.some(({ id, token }) => id !== null && token === null)) database.hint(callbackTable);
  return inserted;
}

const columns = {
  ...{ key: 'bytea', role: 'text', identity: 'text', method: 'text', url: 'text' },
  ...{ message_id: 'text', digest: 'text', status: 'integer', answer: 'text', expires: 'timestamptz' },
  ...{ callback: 'text', destination: 'text', receiver: 'text', body: 'bytea', request_signature: 'text' },
  ...{ give_up_after_ms: 'float8', traceparent: 'text', truncated: 'integer' },
  ...{ token: 'uuid', lease_ms: 'integer', per_group: 'integer', snapshot: 'pg_snapshot', server: 'text' },
};

function valuesOf(row: Row, earlier: readonly Row[]): unknown[] {
  const { key, hash, answer, callback, receiver, lease, freshness } = row;
  const taken = earlier.filter((other) => other.lease && other.receiver === receiver).length;
  return [
    ...[hash, key.role, key.identity, key.method, key.url, key.messageId],
    ...[answer.digest, answer.status, answer.body, answer.expires],
    ...[callback.action, callback.destination, receiver, callback.body, callback.requestSignature],
    ...[callback.giveUpAfterMs, callback.traceparent, callback.truncated],
    ...[lease?.token, lease?.ms, lease && lease.perGroup - taken, freshness?.snapshot, freshness?.server],
  ];
}

const statements: string[] = [];

/** Rows of values: arrays would be planned again each time. Two processes at the same moment may both find the last slot of a receiver, which then exceeds its limit by one. */
function statementFor(count: number): string {
  const types = Object.values(columns);
  const rowOf = (row: number) =>
    `(${types.map((type, index) => `$${row * types.length + index + 1}::${type}`).join()}, ${row})`;
  statements[count] ??= `
    with given (${Object.keys(columns).join()}, position) as (
      values ${Array.from({ length: count }, (_, row) => rowOf(row)).join()}
    ), checked as materialized (
      select position, message_id, ${freshCondition('snapshot', 'server')} as holds from given
    ), remembered as (
      insert into work.request
        (key, role, identity, method, url, message_id, digest, status, body, expires, open)
      select key, role, identity, method, url, message_id, digest, status, answer, expires, true
      from given join checked using (position, message_id) where holds order by position
      on conflict (key) do nothing
      returning id as request_id, message_id
    ), lease as materialized (
      select position, token as lease_token, now() + lease_ms * interval '1 millisecond' as leased_until from given
      where per_group > (
        select count(*) from work.callback as busy
        where busy.role = given.role and busy.receiver = given.receiver and busy.leased_until > now()
      )
    ), stored as (
      insert into work.callback
        (role, action, message_id, destination, receiver, body, request_signature, request_id, created_at, give_up_at,
         due_at, lease_token, leased_until, attempts, traceparent, truncated, recipient)
      select role, callback, message_id, destination, receiver, body, request_signature, request_id, now(), ${dueIn(sql`give_up_after_ms`).text},
        coalesce(leased_until, now()), lease_token, leased_until, num_nonnulls(lease_token), traceparent, truncated, identity
      from given join remembered using (message_id) left join lease using (position)
      returning id, message_id, request_id, lease_token as token, give_up_at
    )
    select message_id, holds, id, request_id, token, now() as at, give_up_at from checked left join stored using (message_id)`;
  return statements[count];
}
