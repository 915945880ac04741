import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { claimDue } from '../../../tests/support/database/claim-due.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { patienceMs } from '../../../tests/support/patience.ts';
import { until } from '../../../tests/support/time.ts';
import { AlreadyRemembered, type RequestKey } from '../../protocol/remembered.ts';
import type { Database } from '../database.ts';
import { type Freshness, Stale, serverText } from '../freshness.ts';
import { listCallbacks } from './callback-list.ts';
import { callbackTable, type DueCallback, recordDelivered } from './callbacks.ts';
import type { Claim, Lease } from './due-work.ts';
import { createPromiseStore, type NewPromise, type StorePromise } from './promises.ts';
import { findRemembered } from './request-memory.ts';

const now = new Date('2026-01-01T12:00:00Z');
const tomorrow = new Date('2026-01-02T12:00:00Z');
const body = Buffer.from('{"context":{},"message":{"catalogs":[]}}');
let database: Database;
let store: StorePromise;

useDatabase(
  (opened) => {
    database = opened;
    store = createPromiseStore(opened);
  },
  { emptied: 'work.request, work.callback' },
);

describe('a promise', () => {
  it('is a request that is remembered, and a callback that is due, byte for byte, of which others are told', async () => {
    const heard = new Promise<void>((resolve) => void database.listen('work.callback', () => resolve()));
    expect(await store(promise('message-1'))).toBeUndefined();
    await heard;
    const remembered = await findRemembered(database, keyOf('message-1'), { digest: 'd', expires: now });
    expect(remembered).toEqual({ digest: 'd', status: 200, body: '{}' });
    expect(await openRequests()).toBe(1);
    const [claim] = await claimAll();
    expect(claim).toMatchObject({
      attempts: 1,
      row: {
        action: 'on_discover',
        message_id: 'message-1',
        destination: 'https://consumer.example/beckn/on_discover',
        receiver: 'https://consumer.example',
        request_signature: 'c2lnbmF0dXJl',
        created_at: expect.any(Date),
      },
    });
    expect(claim?.row.body.equals(body)).toBe(true);
    expect(claim && claim.row.give_up_at.getTime() - claim.row.created_at.getTime()).toBe(86_400_000);
  });

  it('is made once for a request, also when that comes several times at the same moment', async () => {
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => store(promise('message-1'), lease())));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.map((outcome) => 'reason' in outcome && outcome.reason)).toEqual([
      expect.any(AlreadyRemembered),
      expect.any(AlreadyRemembered),
    ]);
    await expect(store(promise('message-1'))).rejects.toThrow(AlreadyRemembered);
    expect(await list()).toHaveLength(1);
  });

  it('is made to each of two callers that use the same messageId', async () => {
    const other = { ...promise('message-1'), key: { ...keyOf('message-1'), identity: 'another' } };
    const claims = await Promise.all([store(promise('message-1'), lease()), store(other, lease())]);
    expect(new Set(claims.map((claim) => claim?.row.request_id)).size).toBe(2);
    expect(await list()).toHaveLength(2);
  });
});

describe('many promises', () => {
  it('have PostgreSQL count callbacks, so that statements from when there were none are planned anew', async () => {
    const analyzed = async () => {
      const { rows } = await database.query<{ times: number }>(
        `select pg_stat_get_analyze_count($1::regclass) as times`,
        [callbackTable],
      );
      return rows[0]?.times;
    };
    const before = (await analyzed()) ?? 0;
    const storeFirst = createPromiseStore(database);
    const storeMany = (count: number) =>
      Promise.all(Array.from({ length: count }, () => storeFirst(promise(randomUUID()))));
    await storeMany(499);
    expect(await analyzed()).toBe(before);
    await storeMany(1);
    await until(async () => ((await analyzed()) ?? 0) > before);
  });
});

describe('a promise that relies on what a search remembered', () => {
  const change = () => database.query('insert into discovery.change (lists) values (array[1])');
  const freshness = async (): Promise<Freshness | undefined> => {
    const { rows } = await database.query<Freshness>(
      `select pg_current_snapshot()::text as snapshot, ${serverText} as server`,
    );
    return rows[0];
  };

  it('is made when nothing has changed since', async () => {
    expect(await store({ ...promise('message-1'), freshness: await freshness() }, lease())).toBeDefined();
  });

  it('is not made when something has, and others that are made with it are', async () => {
    const outdated = await freshness();
    await change();
    const current = await freshness();
    const made = [
      promise('message-0'),
      { ...promise('message-1'), freshness: outdated },
      promise('message-2'),
    ];
    const outcomes = await Promise.allSettled(
      [...made, { ...promise('message-3'), freshness: current }].map((each) => store(each, lease())),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: expect.any(Stale) });
    expect((await list()).map(({ messageId }) => messageId).sort()).toEqual([
      'message-0',
      'message-2',
      'message-3',
    ]);
    expect(await openRequests()).toBe(3);
    await store(promise('message-1'), lease());
    expect(await openRequests()).toBe(4);
  });
});

describe('promises that are made at the same moment', () => {
  it('are stored together, each as it is', async () => {
    const statements = countStatements();
    const names = Array.from({ length: 20 }, (_, number) => `message-${number}`);
    const claims = await Promise.all(
      names.map((name) => statements.store(promise(name, { body: Buffer.from(name) }), lease())),
    );
    expect(claims.map((claim) => claim?.row.message_id)).toEqual(names);
    expect(statements.count()).toBe(3);
    const { rows } = await database.query<{ message_id: string; text: string }>(
      "select message_id, convert_from(body, 'utf8') as text from work.callback",
    );
    expect(rows.map(({ text }) => text).sort()).toEqual([...names].sort());
    for (const { message_id, text } of rows) expect(text).toBe(message_id);
  });

  it('wait for nobody when nothing is being stored, and large ones for themselves only', async () => {
    const statements = countStatements();
    const large = promise('large', { body: Buffer.alloc(512 * 1024, 'x') });
    await Promise.all([statements.store(large), statements.store(promise('small'))]);
    expect(statements.count()).toBe(2);
    expect((await list()).map(({ bodyBytes }) => bodyBytes).sort()).toEqual([524288, body.length].sort());
  });

  it('do not fail with one that the database refuses', async () => {
    const names = ['message-1', 'message-\u0000', 'message-3'];
    const outcomes = await Promise.allSettled(names.map((name) => store(promise(name), lease())));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await list()).map(({ messageId }) => messageId).sort()).toEqual(['message-1', 'message-3']);
  });

  it('have no more leases than their receiver has slots', async () => {
    const elsewhere = { destination: 'https://elsewhere.example/beckn/on_discover' };
    await store(promise('message-0'), lease(3, patienceMs));
    const claims = await Promise.all([
      ...[1, 2, 3, 4].map((number) => store(promise(`message-${number}`), lease(3, patienceMs))),
      store(promise('message-5', elsewhere), lease(3, patienceMs)),
    ]);
    const leased = claims.flatMap((claim) => claim?.row.message_id ?? []);
    expect(leased).toHaveLength(3);
    expect(leased).toContain('message-5');
    const waiting = (await claimAll()).map(({ row }) => row.message_id);
    expect([...leased, ...waiting].sort()).toEqual([1, 2, 3, 4, 5].map((number) => `message-${number}`));
  });
});

describe('a callback that is stored with a lease', () => {
  it('is claimed by nobody while that lasts, and is then found as it was handed over', async () => {
    const handed = await store(promise('message-1'), lease(1, patienceMs));
    expect(await claimAll()).toEqual([]);
    await database.query('update work.callback set due_at = now(), leased_until = now()');
    const [heir] = await claimAll();
    expect(heir).toMatchObject({ id: handed?.id, attempts: 2, row: handed?.row });
  });

  it('is settled by who has the lease, and closes its request', async () => {
    const claim = await store(promise('message-1'), lease());
    if (claim === undefined) throw new Error('it was not leased');
    expect(await recordDelivered(database, [{ claim, at: now, status: 200, form: 'full' }])).toEqual([true]);
    expect(await list()).toMatchObject([{ state: 'delivered', attempts: 1, dueAt: null, bodyBytes: 0 }]);
    expect(await openRequests()).toBe(0);
  });
});

function promise(messageId: string, callback: Partial<NewPromise['callback']> = {}): NewPromise {
  return {
    key: keyOf(messageId),
    answer: { digest: 'd', status: 200, body: '{}', expires: tomorrow },
    callback: {
      action: 'on_discover',
      destination: 'https://consumer.example/beckn/on_discover',
      body,
      requestSignature: 'c2lnbmF0dXJl',
      giveUpAfterMs: 86_400_000,
      ...callback,
    },
  };
}

function keyOf(messageId: string): RequestKey {
  return { role: 'discovery', identity: 'c', method: 'POST', url: '/', action: 'discover', messageId };
}

function lease(perGroup = 99, ms = 200): Lease {
  return { token: randomUUID(), ms, perGroup };
}

function claimAll(): Promise<Claim<DueCallback>[]> {
  return claimDue<DueCallback>(database, callbackTable, { limit: 99 });
}

function list() {
  return listCallbacks(database, { limit: 100 });
}

async function openRequests(): Promise<number> {
  return (await database.query('select from work.request where open')).rowCount;
}

/** A separate store that counts its statements. */
function countStatements(): { store: StorePromise; count(): number } {
  let count = 0;
  const counted: Database = {
    ...database,
    query: (...args) => {
      count += 1;
      return database.query(...args);
    },
  };
  return { store: createPromiseStore(counted), count: () => count };
}
