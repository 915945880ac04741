import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { createGuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { parseSignatureHeader, verifySignature } from '../protocol/request-signature.ts';
import { listCallbacks, queueCallback, replayCallback } from '../storage/callbacks.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import type { WorkLoop } from '../storage/due-work.ts';
import { startCallbackLoop } from './callback-loop.ts';
import { type Sender, sendTimeoutMs } from './send.ts';

const privateKey = privateKeyFromSeed(generateSeed());
const publicKey = parsePublicKey(publicKeyOf(privateKey));
const requestSignature = Buffer.alloc(64, 7).toString('base64');

describe('a callback', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let loop: WorkLoop | undefined;
  const servers: Server[] = [];
  const client = createGuardedClient({ allowPrivateAddresses: true });
  const sender: Sender = {
    key: { subscriberId: 'service.example', recordId: 'key-1', privateKey },
    client,
    findKey: async () => ({ kind: 'unknown-key' }),
    logger: silentLogger(),
    now: () => new Date(),
  };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = await openDatabase({ url: testDatabase.url, logger: silentLogger() });
  });
  afterEach(async () => {
    await loop?.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  afterAll(async () => {
    await client.close();
    await database.close();
    await testDatabase.drop();
  });

  function start(): void {
    loop = startCallbackLoop({
      role: 'test',
      database,
      sender,
      policy: { baseMs: 20 },
      metrics: createMetrics(),
    });
  }

  async function receiver(
    answers: ((attempt: number) => { status: number; headers?: Record<string, string> }) | 'silence',
  ) {
    const attempts: { body: string; authorization: string; at: number }[] = [];
    const server = createServer(async (request, response) => {
      const body = (await buffer(request)).toString();
      attempts.push({ body, authorization: request.headers.authorization ?? '', at: Date.now() });
      if (answers === 'silence') return;
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
    const messageId = randomUUID();
    await database.transaction((tx) =>
      queueCallback(tx, {
        role: 'test',
        action: 'catalog/on_publish',
        messageId,
        destination,
        body: Buffer.from(JSON.stringify({ messageId })),
        requestSignature,
        createdAt: new Date(),
        giveUpAt: new Date(Date.now() + giveUpAfterMs),
      }),
    );
    return messageId;
  }

  async function settled(messageId: string) {
    for (;;) {
      const [found] = await listCallbacks(database, { messageId, limit: 1, offset: 0 });
      if (found && found.state !== 'open') return found;
      await delay(10);
    }
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

  it('is not repeated after its time, also when nobody was there to repeat it before', async () => {
    const { attempts, url } = await receiver(() => ({ status: 200 }));
    const [late, neverTried] = [await queue(url, -1_000), await queue(url, -1_000)];
    await database.query('update work.callback set attempts = 1 where message_id = $1', [late]);
    start();
    expect(await settled(late)).toMatchObject({
      state: 'parked',
      lastError: expect.stringContaining('over'),
    });
    expect(await settled(neverTried)).toMatchObject({ state: 'delivered' });
    expect(attempts).toHaveLength(1);
  });

  it('is repeated with the same bytes while the receiver fails, and then not again', async () => {
    const { attempts, url } = await receiver((attempt) => ({
      status: attempt < 4 ? ([401, 503, 404][attempt - 1] ?? 0) : 202,
    }));
    start();
    const messageId = await queue(url);
    expect(await settled(messageId)).toMatchObject({ state: 'delivered', attempts: 4 });
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
    await delay(200);
    expect(attempts).toHaveLength(4);
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
      await replayCallback(database, parked.id, new Date(Date.now() + 60_000));
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

  it('to a receiver that never answers delays nobody else', async () => {
    const silent = await receiver('silence');
    const lively = await receiver(() => ({ status: 200 }));
    await Promise.all(Array.from({ length: 200 }, () => queue(silent.url)));
    start();
    await settled(await queue(lively.url));
    // None of those before it has been settled yet: it did not wait for them.
    expect(
      await listCallbacks(database, { role: 'test', state: 'open', limit: 1_000, offset: 0 }),
    ).toHaveLength(200);
    expect(silent.attempts.length).toBeLessThanOrEqual(8);
  });

  it('to any of many receivers that never answer delays nobody else for long', async () => {
    await database.query('truncate work.callback');
    const silent = await Promise.all(Array.from({ length: 24 }, () => receiver('silence')));
    const lively = await receiver(() => ({ status: 200 }));
    await Promise.all(silent.flatMap(({ url }) => Array.from({ length: 10 }, () => queue(url))));
    start();
    const startedAt = Date.now();
    await settled(await queue(lively.url));
    expect(Date.now() - startedAt).toBeLessThan(sendTimeoutMs / 2);
    const inWork = silent.map(({ attempts }) => attempts.length);
    expect(Math.max(...inWork)).toBeLessThanOrEqual(8);
  });
});
