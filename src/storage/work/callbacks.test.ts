import { describe, expect, it } from 'vitest';
import { claimDue } from '../../../tests/support/database/claim-due.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { RequestKey } from '../../protocol/remembered.ts';
import type { Database } from '../database.ts';
import { listCallbacks, replayCallbacks } from './callback-list.ts';
import {
  callbackTable,
  type DueCallback,
  listCallersOwedMore,
  type NewCallback,
  purgeCallbacks,
  purgeUndelivered,
  queueCallback,
  recordDelivered,
  recordGivenUp,
  recordRetry,
} from './callbacks.ts';
import { type Claim, LeaseLost } from './due-work.ts';
import { rememberRequest } from './request-memory.ts';

const now = new Date('2026-01-01T12:00:00Z');
const tomorrow = new Date('2026-01-02T12:00:00Z');
const dayMs = 86_400_000;
const body = Buffer.from('{"context":{},"message":{"results":[]}}');
let database: Database;

useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'work.request, work.callback' },
);

describe('a queued callback', () => {
  it('is due at once, byte for byte, and its listeners are told', async () => {
    const heard = new Promise<void>((resolve) => void database.listen('work.callback', () => resolve()));
    await queue();
    await heard;
    const claim = await claimOne();
    expect(claim.row).toMatchObject({
      action: 'catalog/on_publish',
      message_id: 'message-1',
      destination: 'https://provider.example/beckn/catalog/on_publish',
      receiver: 'https://provider.example',
      request_signature: 'c2lnbmF0dXJl',
    });
    expect(claim.row.body.equals(body)).toBe(true);
  });

  it('is sent by its own role only', async () => {
    await queue();
    expect(await claimDue(database, callbackTable, { limit: 1, where: { role: 'discovery' } })).toEqual([]);
  });
});

describe('the result of an attempt', () => {
  it('closes the callback and the request that it answers when it was delivered', async () => {
    await queue();
    const claim = await claimOne();
    await database.transaction((tx) => recordDelivered(tx, [{ claim, at: now, status: 200, form: 'full' }]));
    expect(await list()).toMatchObject([
      { state: 'delivered', lastStatus: 200, settledAt: now, dueAt: null },
    ]);
    expect(await openRequests()).toBe(0);
  });

  it('closes both when it was refused', async () => {
    await queue();
    const claim = await claimOne();
    await database.transaction((tx) =>
      recordGivenUp(tx, claim, 'refused', { at: now, status: 400, error: 'CTX_INVALID_FIELD', form: 'full' }),
    );
    expect(await list()).toMatchObject([
      { state: 'refused', lastStatus: 400, lastError: 'CTX_INVALID_FIELD', dueAt: null },
    ]);
    expect(await openRequests()).toBe(0);
  });

  it('keeps both open when it is tried again', async () => {
    await queue();
    const claim = await claimOne();
    await database.transaction((tx) =>
      recordRetry(tx, claim, { dueInMs: dayMs, error: 'unreachable', form: 'full' }),
    );
    const [kept] = await list();
    expect(kept).toMatchObject({ state: 'open', lastError: 'unreachable', attempts: 1 });
    expect((kept?.dueAt?.getTime() ?? 0) - claim.at.getTime()).toBeGreaterThanOrEqual(dayMs);
    expect(await openRequests()).toBe(1);
  });

  it('is written for many at once, and only for those whose lease is held', async () => {
    for (const messageId of ['message-1', 'message-2', 'message-3']) await queue(messageId);
    const claims = await claimDue<DueCallback>(database, callbackTable, { limit: 9 });
    await database.query('update work.callback set lease_token = gen_random_uuid() where id = $1', [
      claims[1]?.id,
    ]);
    const delivered = claims.map((claim) => ({ claim, at: now, status: 202, form: 'full' as const }));
    expect(await recordDelivered(database, delivered)).toEqual([true, false, true]);
    expect((await list()).filter(({ state }) => state === 'delivered')).toHaveLength(2);
    expect(await openRequests()).toBe(1);
  });

  it('is written without reading all callbacks, also by a plan from when there were few', async () => {
    await queue();
    await database.query(`insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, give_up_at, state)
      select role, action, message_id || i, destination, receiver, body, request_signature, give_up_at, 'delivered'
      from work.callback, generate_series(1, 500) as i`);
    await database.query('analyze work.callback');
    const claim = await claimOne();
    const scans = await database.transaction(async (tx) => {
      const before = await tx.value<number>(countScans);
      await recordDelivered(tx, [{ claim, at: now, status: 200, form: 'full' }]);
      return (await tx.value<number>(countScans)) - before;
    });
    expect(scans).toBe(0);
  });

  it('is not written by one who lost the lease', async () => {
    await queue();
    const slow = await claimOne();
    await database.query("update work.callback set leased_until = now() - interval '1 s', due_at = now()");
    const heir = await claimOne();
    const late = database.transaction((tx) =>
      recordGivenUp(tx, slow, 'parked', { at: now, error: 'timeout', form: 'full' }),
    );
    await expect(late).rejects.toThrow(LeaseLost);
    expect(await openRequests()).toBe(1);
    await database.transaction((tx) =>
      recordDelivered(tx, [{ claim: heir, at: now, status: 200, form: 'full' }]),
    );
    expect(await list()).toMatchObject([{ state: 'delivered' }]);
  });
});

describe('an operator', () => {
  it('replays a parked callback with the same bytes and a fresh count of attempts', async () => {
    const id = await queue();
    const claim = await claimOne();
    await database.transaction((tx) =>
      recordGivenUp(tx, claim, 'parked', { at: now, status: 503, error: 'unavailable', form: 'full' }),
    );
    expect(await claimDue(database, callbackTable, { limit: 1 })).toEqual([]);

    expect(await replayCallbacks(database, { id, giveUpAfterMs: 2 * dayMs })).toBe(1);
    const again = await claimOne();
    expect(again).toMatchObject({ attempts: 1, row: { message_id: 'message-1' } });
    expect(again.row.give_up_at.getTime() - again.at.getTime()).toBeGreaterThan(dayMs);
    expect(again.row.body.equals(body)).toBe(true);
  });

  it('cannot replay what was delivered, is on its way, or does not exist', async () => {
    const id = await queue();
    expect(await replayCallbacks(database, { id, giveUpAfterMs: dayMs })).toBe(0);
    const claim = await claimOne();
    await database.transaction((tx) => recordDelivered(tx, [{ claim, at: now, status: 200, form: 'full' }]));
    expect(await replayCallbacks(database, { id, giveUpAfterMs: dayMs })).toBe(0);
    expect(await replayCallbacks(database, { id: id + 1, giveUpAfterMs: dayMs })).toBe(0);
  });

  it('lists callbacks by state, the latest first', async () => {
    const [first, second] = [await queue('message-1'), await queue('message-2')];
    expect((await list()).map(({ id }) => id)).toEqual([second, first]);
    expect(await listCallbacks(database, { state: 'parked', limit: 9 })).toEqual([]);
    expect(await listCallbacks(database, { limit: 1, before: second })).toMatchObject([
      { id: first, bodyBytes: body.length },
    ]);
  });

  it('keeps what was not delivered when the delivered ones are purged', async () => {
    await queue('message-1');
    const claim = await claimOne();
    await database.transaction((tx) => recordDelivered(tx, [{ claim, at: now, status: 200, form: 'full' }]));
    await queue('message-2');
    expect(await purgeCallbacks(database, ['delivered', 'skipped'], now)).toBe(0);
    expect(await purgeCallbacks(database, ['delivered', 'skipped'], tomorrow)).toBe(1);
    expect(await list()).toMatchObject([{ messageId: 'message-2' }]);
  });

  it('keeps the latest undelivered ones of each receiver, as many as its share allows', async () => {
    for (const number of [1, 2, 3, 4]) {
      await queue(`message-${number}`);
      const claim = await claimOne();
      await database.transaction((tx) =>
        recordGivenUp(tx, claim, 'parked', { at: now, error: 'nobody is there', form: 'full' }),
      );
    }
    await queue('waiting');
    const kept = async () => (await list()).map(({ messageId }) => messageId);
    const all = { rows: 9, bytes: 9 * body.length };
    expect(await purgeUndelivered(database, all)).toBe(0);
    expect(await purgeUndelivered(database, { ...all, bytes: 3 * body.length })).toBe(1);
    expect(await kept()).toEqual(['waiting', 'message-4', 'message-3', 'message-2']);
    expect(await purgeUndelivered(database, { ...all, rows: 2 })).toBe(1);
    expect(await kept()).toEqual(['waiting', 'message-4', 'message-3']);
  });

  it('tells to whom more is owed than a share, in number or in bytes, until it is delivered', async () => {
    await queue('message-1');
    await queue('message-2');
    const owedMore = (rows: number, bytes: number) =>
      listCallersOwedMore(database, 'catalog', { rows, bytes });
    expect(await owedMore(2, 2 * body.length)).toEqual([]);
    expect(await owedMore(1, 2 * body.length)).toEqual(['p']);
    expect(await owedMore(2, 2 * body.length - 1)).toEqual(['p']);
    expect(await listCallersOwedMore(database, 'discovery', { rows: 0, bytes: 0 })).toEqual([]);
    const claim = await claimOne();
    await database.transaction((tx) => recordDelivered(tx, [{ claim, at: now, status: 200, form: 'full' }]));
    expect(await owedMore(1, 2 * body.length)).toEqual([]);
  });
});

/** Counts scans of all callbacks, by this connection. */
const countScans = "select seq_scan from pg_stat_xact_user_tables where relid = 'work.callback'::regclass";

const answer = { digest: 'd', status: 200, body: '{}', expires: tomorrow, open: true };

function queue(messageId = 'message-1'): Promise<number> {
  return database.transaction(async (tx) => {
    const requestId = await rememberRequest(tx, keyOf(messageId), answer);
    return queueCallback(tx, { ...callback(messageId), requestId });
  });
}

function keyOf(messageId: string): RequestKey {
  return { role: 'catalog', identity: 'p', method: 'POST', url: '/', action: 'catalog/publish', messageId };
}

function callback(messageId: string): NewCallback {
  return {
    role: 'catalog',
    action: 'catalog/on_publish',
    recipient: 'provider.example',
    messageId,
    destination: 'https://provider.example/beckn/catalog/on_publish',
    body,
    requestSignature: 'c2lnbmF0dXJl',
    giveUpAfterMs: dayMs,
  };
}

async function claimOne(): Promise<Claim<DueCallback>> {
  const perGroup = { column: 'receiver', limit: 4 };
  const [claim] = await claimDue<DueCallback>(database, callbackTable, {
    limit: 1,
    where: { role: 'catalog' },
    perGroup,
  });
  if (!claim) throw new Error('nothing is due');
  return claim;
}

function list() {
  return listCallbacks(database, { limit: 100 });
}

async function openRequests(): Promise<number> {
  return (await database.query('select from work.request where open')).rowCount;
}
