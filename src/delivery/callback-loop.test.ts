import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import { takeTime, until, watchFor } from '../../tests/support/time.ts';
import { createGuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { actions } from '../protocol/actions.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { parseSignatureHeader, verifySignature } from '../protocol/request-signature.ts';
import type { Database } from '../storage/database.ts';
import { listCallbacks, replayCallbacks } from '../storage/work/callback-list.ts';
import { type NewCallback, queueCallback, receiverOf } from '../storage/work/callbacks.ts';
import type { Lease } from '../storage/work/due-work.ts';
import { createPromiseStore, type StorePromise } from '../storage/work/promises.ts';
import { type CallbackLoop, startCallbackLoop } from './callback-loop.ts';
import { createReceiverForms } from './receiver-forms.ts';
import { type KeepPromise, rememberPromise } from './remember-answer.ts';
import { type Sender, sendTimeoutMs } from './send.ts';
import { createStrictRenderer } from './strict-renderer.ts';

const privateKey = privateKeyFromSeed(generateSeed());
const publicKey = parsePublicKey(publicKeyOf(privateKey));
const requestSignature = Buffer.alloc(64, 7).toString('base64');

describe('a callback', () => {
  let database: Database;
  let storePromise: StorePromise;
  let loop: CallbackLoop | undefined;
  const servers: Server[] = [];
  const strict = createStrictRenderer(silentLogger());
  const client = createGuardedClient({ allowPrivateAddresses: true });
  const sender: Sender = {
    key: { subscriberId: 'service.example', recordId: 'key-1', privateKey },
    client,
    findKey: async () => ({ kind: 'unknown-key' }),
    logger: silentLogger(),
    now: () => new Date(),
  };

  useDatabase((opened) => {
    database = opened;
    storePromise = createPromiseStore(database);
  });
  afterEach(async () => {
    // First those that never answer: the loop waits for what is on its way.
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
    await loop?.close();
  });
  afterAll(() => Promise.all([client.close(), strict.close()]));

  function start(): void {
    loop = startCallbackLoop({
      role: 'test',
      database,
      sender,
      ...{ forms: createReceiverForms(database, sender), strict },
      policy: { baseMs: 20 },
      metrics: createMetrics(),
    });
  }

  async function receiver(
    answers: ((attempt: number) => { status: number; headers?: Record<string, string> }) | 'silence',
    work: () => Promise<void> = async () => {},
  ) {
    const attempts: { body: string; authorization: string; at: number }[] = [];
    const server = createServer(async (request, response) => {
      const body = (await buffer(request)).toString();
      attempts.push({ body, authorization: request.headers.authorization ?? '', at: Date.now() });
      if (answers === 'silence') return;
      await work();
      const { status, headers } = answers(attempts.length);
      response
        .writeHead(status, headers)
        .end(JSON.stringify({ message: { status: status === 299 ? 'NACK' : 'ACK' } }));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { attempts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalog/on_publish` };
  }

  async function queue(destination: string, giveUpAfterMs = 60_000): Promise<string> {
    const callback = newCallback(destination, giveUpAfterMs);
    await database.transaction((tx) => queueCallback(tx, callback));
    return callback.messageId;
  }

  function newCallback(destination: string, giveUpAfterMs = 60_000): NewCallback {
    const messageId = randomUUID();
    return {
      role: 'test',
      action: 'catalog/on_publish',
      messageId,
      recipient: 'receiver.example',
      destination,
      body: Buffer.from(JSON.stringify({ messageId })),
      requestSignature,
      giveUpAfterMs,
    };
  }

  /** Hands a callback over to the loop; tells whether it was offered a lease. */
  async function promise(destination: string): Promise<{ messageId: string; isOffered: boolean }> {
    const callback = newCallback(destination);
    const { messageId } = callback;
    let offered: Lease | undefined;
    const keepPromise: KeepPromise = async (promised) =>
      loop?.handOver(receiverOf(destination), (lease) => {
        offered = lease;
        return storePromise(promised, lease);
      });
    const expires = new Date(Date.now() + 60_000);
    const key = { role: 'test', identity: 'p', method: 'POST', url: '/', action: 'discover', messageId };
    const request = { action: actions.discover, key, digest: 'd', expires };
    await rememberPromise(keepPromise, request, { status: 200, body: '{}' }, { callback });
    return { messageId, isOffered: offered !== undefined };
  }

  async function findCallback(messageId: string) {
    return (await listCallbacks(database, { limit: 1_000 })).find((one) => one.messageId === messageId);
  }

  async function settled(messageId: string) {
    return until(async () => {
      const found = await findCallback(messageId);
      return found?.state !== 'open' && found;
    }, 'the callback to be settled');
  }

  it('is delivered as the stored bytes under a signature that names the request', async () => {
    const { attempts, url } = await receiver(() => ({ status: 200 }));
    start();
    const messageId = await queue(url);
    expect(await settled(messageId)).toMatchObject({ state: 'delivered', attempts: 1, lastStatus: 200 });
    const [{ body, authorization } = { body: '', authorization: '' }] = attempts;
    expect(body).toBe(JSON.stringify({ messageId }));
    const header = parseSignatureHeader(authorization);
    expect(header.chained).toBe(true);
    verifySignature(header, publicKey, Buffer.from(body), requestSignature);
  });

  it('that is handed over is delivered, repeated and parked like any other', async () => {
    const { attempts, url } = await receiver((attempt) => ({ status: [503, 200, 400][attempt - 1] ?? 0 }));
    start();
    const { messageId, isOffered } = await promise(url);
    expect(isOffered).toBe(true);
    expect(await settled(messageId)).toMatchObject({ state: 'delivered', attempts: 2, bodyBytes: 0 });
    expect(attempts.map(({ body }) => body)).toEqual(Array(2).fill(JSON.stringify({ messageId })));
    expect(await settled((await promise(url)).messageId)).toMatchObject({ state: 'refused', attempts: 1 });
  });

  it('is handed over by any number at once, and its receiver gets no more at a time than its limit', async () => {
    let [now, most] = [0, 0];
    const { attempts, url } = await receiver(
      () => ({ status: 200 }),
      async () => {
        most = Math.max(most, ++now);
        await takeTime(20);
        now -= 1;
      },
    );
    start();
    const promised = await Promise.all(Array.from({ length: 60 }, () => promise(url)));
    expect(promised.filter(({ isOffered }) => isOffered)).toHaveLength(16);
    await Promise.all(promised.map(({ messageId }) => settled(messageId)));
    expect(attempts).toHaveLength(60);
    expect(most).toBeLessThanOrEqual(16);
  });

  it('that was answered is settled before the loop is closed', async () => {
    const { attempts, url } = await receiver(() => ({ status: 200 }));
    start();
    const { messageId } = await promise(url);
    await until(() => attempts.length > 0, 'the attempt');
    await loop?.close();
    const found = await findCallback(messageId);
    expect(found).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  it('is not repeated after its time, also when nobody was there to repeat it before', async () => {
    const { attempts, url } = await receiver(() => ({ status: 200 }));
    const [late, neverTried] = [await queue(url, -1_000), await queue(url, -1_000)];
    await database.query('update work.callback set attempts = 1 where message_id = $1', [late]);
    start();
    expect(await settled(late)).toMatchObject({
      state: 'parked',
      lastError: expect.stringContaining('expired'),
    });
    expect(await settled(neverTried)).toMatchObject({ state: 'delivered' });
    expect(attempts).toHaveLength(1);
  });

  it('is repeated with the same bytes while the receiver fails, and then not again', async () => {
    const { attempts, url } = await receiver((attempt) => ({
      // The first two are one attempt: a 401 is answered at once by the other form of signature.
      status: [401, 401, 503, 404][attempt - 1] ?? 202,
    }));
    start();
    const messageId = await queue(url);
    expect(await settled(messageId)).toMatchObject({ state: 'delivered', attempts: 4 });
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
    await watchFor(200);
    expect(attempts).toHaveLength(5);
  });

  it('waits as long as Retry-After says', async () => {
    const { attempts, url } = await receiver((attempt) =>
      attempt === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200 },
    );
    start();
    await settled(await queue(url));
    const [first, second] = attempts;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  it.each([400, 299])(
    'that is refused (%i) is parked with the reason, and goes out again when an operator replays it',
    async (status) => {
      const { attempts, url } = await receiver((attempt) => ({ status: attempt === 1 ? status : 200 }));
      start();
      const messageId = await queue(url);
      const parked = await settled(messageId);
      expect(parked).toMatchObject({
        state: 'refused',
        attempts: 1,
        lastError: `the receiver answered ${status}`,
      });
      await replayCallbacks(database, { id: parked.id, giveUpAfterMs: 60_000 });
      expect(await settled(messageId)).toMatchObject({ state: 'delivered' });
      expect(attempts[1]?.body).toBe(attempts[0]?.body);
    },
  );

  it('is parked when its time is over', async () => {
    const messageId = await queue('http://127.0.0.1:9/nobody', 2_000);
    start();
    expect(await settled(messageId)).toMatchObject({
      state: 'parked',
      lastError: expect.stringContaining('127.0.0.1:9'),
    });
  });

  it('is parked with what its receiver has accepted already, so that a replay sends the rest', async () => {
    const messageId = await queue('http://127.0.0.1:9/nobody');
    const parts = { of: 2, sends: 3, open: [[1]], accepted: 1 };
    await database.query(
      "update work.callback set attempts = 1, give_up_at = now() - interval '1 second', parts = $2 where message_id = $1",
      [messageId, JSON.stringify(parts)],
    );
    start();
    expect(await settled(messageId)).toMatchObject({ state: 'parked' });
    const { rows } = await database.query('select parts from work.callback where message_id = $1', [
      messageId,
    ]);
    expect(rows).toEqual([{ parts }]);
  });

  it('to a receiver that never answers delays nobody else', async () => {
    const silent = await receiver('silence');
    const lively = await receiver(() => ({ status: 200 }));
    await Promise.all(Array.from({ length: 200 }, () => queue(silent.url)));
    start();
    await settled(await queue(lively.url));
    // None of those before it has been settled yet: it did not wait for them.
    expect(await listCallbacks(database, { state: 'open', limit: 1_000 })).toHaveLength(200);
    expect(silent.attempts.length).toBeLessThanOrEqual(16);
  });

  it('to any of many receivers that never answer delays nobody else for long', async () => {
    await database.query('truncate work.callback');
    const silent = await Promise.all(Array.from({ length: 24 }, () => receiver('silence')));
    const lively = await receiver(() => ({ status: 200 }));
    await Promise.all(silent.flatMap(({ url }) => Array.from({ length: 10 }, () => queue(url))));
    start();
    const startedAt = Date.now();
    await settled(await queue(lively.url));
    // It did not wait for any of them to be given up.
    expect(Date.now() - startedAt).toBeLessThan(sendTimeoutMs);
    const inWork = silent.map(({ attempts }) => attempts.length);
    expect(Math.max(...inWork)).toBeLessThanOrEqual(16);
  });

  it('is not handed over while its receiver is slow', async () => {
    const silent = await receiver('silence');
    start();
    expect((await promise(silent.url)).isOffered).toBe(true);
    await takeTime(5_100); // the receiver, to answer the first
    expect((await promise(silent.url)).isOffered).toBe(false);
  });
});
