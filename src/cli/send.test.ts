import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../tests/support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import {
  createParticipant,
  createService,
  listen,
  type RunningServer,
  send,
} from '../../tests/support/signed-service.ts';
import type { Answer } from '../http/error-answer.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { signedRoute } from '../http/signed-route.ts';
import type { VerifiedRequest } from '../http/verified-request.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { callbackContext } from '../protocol/context.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { publicKeyOf, type SigningKey } from '../protocol/keys.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { createRegistryClient } from '../registry/client.ts';
import { loadOrCreateSigningKey } from '../registry/key-files.ts';
import { startRegistryRole } from '../registry/role.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { registerParticipant } from '../storage/participants.ts';
import { registerSendCommand } from './send.ts';

type Publish = VerifiedRequest<typeof actions.publish>;

// A service with signed routes, a registry and a database: all real, on real ports. The service does what a test says.
const self = createParticipant('catalog.example.com');
const publishFile = {
  context: { bppId: 'somebody.else.example', transactionId: 'kept', ttl: 'PT1H' },
  message: {
    catalogs: [
      {
        id: 'c1',
        descriptor: { name: 'C' },
        provider: { id: 'p', descriptor: { name: 'P' } },
        resources: [{ id: 'r' }],
      },
    ],
  },
};

describe('signpost send', () => {
  let home: TestDatabase;
  let database: Database;
  let registryRole: { url: string; close(): Promise<void> };
  let http: GuardedClient;
  let service: RunningServer;
  let directory: string;
  let received: Publish[];
  let onPublish: (request: Publish) => Answer;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'signpost-send-'));
    home = await createTestDatabase();
    database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
    const metrics = createMetrics({ process: false });
    const logger = silentLogger();
    registryRole = await startRegistryRole({ database, logger, metrics, host: '127.0.0.1', port: 0 });
    http = createGuardedClient({ allowPrivateAddresses: true });
    const registryName = 'subscribers.beckn.one';
    const registry = createRegistryClient({
      url: registryRole.url,
      registryName,
      client: http,
      logger,
      metrics,
    });
    const signed = createService(self, { findKey: registry.findKey });
    service = await listen((server) => {
      signedRoute(server, signed, actions.publish, async (request) => {
        received.push(request);
        return onPublish(request);
      });
      signedRoute(server, signed, actions.listSubscriptions, async ({ query }) => ({
        status: 200,
        body: { query },
      }));
      server.post('/unsigned', async () => ({ message: { status: 'ACK' } }));
    });
    await register(self);
    await register(loadOrCreateSigningKey(directory, { id: 'bpp.example.com', keyId: 'key-1' }));
  });
  afterAll(async () => {
    await service.server.close();
    await registryRole.close();
    await http.close();
    await database.close();
    await home.drop();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    received = [];
    onPublish = ({ context }) => ({ status: 200, body: ack(context.messageId) });
    writeFileSync(join(directory, 'publish.json'), JSON.stringify(publishFile));
  });

  const run = (args: string[], stdin = '') =>
    runCommand(
      registerSendCommand,
      ['send', ...args],
      { DATA_DIR: directory, REGISTRY_URL: registryRole.url },
      stdin,
    );
  const file = () => join(directory, 'publish.json');
  const publish = (...args: string[]) =>
    run([file(), '--to', service.url, '--action', 'catalog/publish', '--as', 'bpp.example.com', ...args]);

  it('sends a file as an identity, with ids, addresses and time of its own', async () => {
    const { exitCode, out } = await publish();
    expect(exitCode).toBe(0);
    expect(out).toContain('200 ACK');
    expect(out).toContain("The answer's signature holds: catalog.example.com, key-1.");
    expect(received[0]).toMatchObject({
      identity: 'bpp.example.com/subscribers.beckn.one',
      context: {
        version: '2.0.0',
        action: 'catalog/publish',
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        transactionId: 'kept',
        ttl: 'PT1H',
        bppId: 'bpp.example.com',
        bppUri: 'https://bpp.example.com',
      },
      message: publishFile.message,
    });
  });

  it('sends another message each time', async () => {
    await publish();
    await publish();
    expect(received[0]?.context.messageId).not.toBe(received[1]?.context.messageId);
  });

  it('takes the action from the address, and a base or a whole address alike', async () => {
    const to = (url: string) => run([file(), '--to', url, '--as', 'bpp.example.com']);
    expect(await to(`${service.url}/catalog/publish`)).toMatchObject({ exitCode: 0 });
    expect(await to(`${service.url}/catalog/publish/`)).toMatchObject({ exitCode: 0 });
    expect(await to(service.url)).toMatchObject({ exitCode: 1, notes: expect.stringContaining('--action') });
  });

  it('ends with 1 on a NACK, and shows why', async () => {
    onPublish = () => {
      throw new ProtocolError('BIZ_GENERIC_ERROR', 'not today');
    };
    const { exitCode, out } = await publish();
    expect(exitCode).toBe(1);
    expect(out).toMatch(/400 NACK[\s\S]*BIZ_GENERIC_ERROR[\s\S]*signature holds/);
  });

  it('sends the bytes as they are with --verbatim', async () => {
    const bytes = ` {"context" : ${JSON.stringify({ ...publishFile.context, action: 'catalog/publish' })}, "message":{}}\n`;
    writeFileSync(file(), bytes);
    const { exitCode, out } = await publish('--verbatim', '--json');
    expect(exitCode).toBe(1);
    const { request, answer } = JSON.parse(out);
    expect(answer).toMatchObject({
      status: 400,
      body: { message: { error: { code: 'CTX_MISSING_FIELD' } } },
    });
    const again = await send(request.url, { headers: { authorization: request.authorization }, body: bytes });
    expect(again.json.message?.error?.code).toBe('CTX_MISSING_FIELD');
  });

  it('reads standard input', async () => {
    const args = ['-', '--to', `${service.url}/catalog/publish`, '--as', 'bpp.example.com'];
    expect(await run(args, JSON.stringify(publishFile))).toMatchObject({ exitCode: 0 });
  });

  it('sends GET without a body, and with its query', async () => {
    const to = `${service.url}/catalog/subscription?status=ACTIVE`;
    const { exitCode, out } = await run(['--method', 'GET', '--to', to, '--as', 'bpp.example.com', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out).answer).toMatchObject({
      body: { query: { status: 'ACTIVE' } },
      signature: { holds: true },
    });
  });

  it('tells when an answer is not signed', async () => {
    const { exitCode, out } = await run([
      file(),
      '--verbatim',
      '--to',
      `${service.url}/unsigned`,
      '--as',
      'bpp.example.com',
    ]);
    expect(exitCode).toBe(0);
    expect(out).toContain('The answer is not signed.');
  });

  it('waits for the callback, verifies it, acknowledges it and shows it', async () => {
    const replies: Promise<Response>[] = [];
    onPublish = (request) => {
      replies.push(callBack(request));
      return { status: 200, body: ack(request.context.messageId) };
    };
    const { exitCode, out } = await publish('--wait');
    expect(exitCode).toBe(0);
    expect(out).toContain(
      'catalog/on_publish from catalog.example.com/subscribers.beckn.one, key-1: the signature holds, and names the request.',
    );
    expect(out).toContain('Its requestDigest is that of the request.');
    expect(out).toContain('"ACCEPTED"');
    const reply = await replies[0];
    expect(reply?.status).toBe(200);
    expect(reply?.headers.get('signature')).toContain('keyId="bpp.example.com|key-1|ed25519"');
  });

  it('refuses what only pretends to be the callback, says so, and goes on waiting', async () => {
    const pretences = [
      { answering: `${'A'.repeat(86)}==` },
      { by: createParticipant('stranger.example.com') },
      { requestDigest: `BLAKE-512=${'A'.repeat(86)}==` },
      { messageId: 'of another request' },
    ];
    const codes: string[] = [];
    const pretend = async (request: Publish) => {
      for (const pretence of pretences) {
        const answer = (await (await callBack(request, pretence)).json()) as {
          message: { error: { code: string } };
        };
        codes.push(answer.message.error.code);
      }
      await callBack(request);
    };
    onPublish = (request) => {
      pretend(request).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    const { exitCode, notes } = await publish('--wait', '5');
    expect(exitCode).toBe(0);
    expect(codes).toEqual([
      'AUT_SIGNATURE_INVALID',
      'AUT_SUBSCRIBER_NOT_FOUND',
      'CTX_INVALID_FIELD',
      'AUT_SIGNATURE_INVALID',
    ]);
    for (const code of codes) expect(notes).toContain(`Refused POST /catalog/on_publish: ${code}.`);
  });

  it('ends with 1 when the callback does not come in time, or from somebody who was not asked', async () => {
    expect(await publish('--wait', '0')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('No catalog/on_publish came within 0 s.'),
    });
    const other = createParticipant('other.example.com');
    await register(other);
    onPublish = (request) => {
      callBack(request, { by: other }).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    expect(await publish('--wait', '5')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('but catalog.example.com was asked'),
    });
  });

  it('waits at the registered address of the identity, where it has one here', async () => {
    const url = `${await freeAddress()}/base`;
    await register(loadOrCreateSigningKey(directory, { id: 'local.example.com', keyId: 'key-1' }), url);
    onPublish = (request) => {
      callBack(request).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    const args = [
      file(),
      '--to',
      `${service.url}/catalog/publish`,
      '--as',
      'local.example.com',
      '--wait',
      '5',
    ];
    expect(await run(args)).toMatchObject({ exitCode: 0, out: expect.stringContaining('ACCEPTED') });
    expect(received[0]?.context.bppUri).toBe(url);
  });

  it('does not wait where nothing can come', async () => {
    const to = `${service.url}/catalog/subscription`;
    expect(await run(['--method', 'GET', '--to', to, '--as', 'bpp.example.com', '--wait'])).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('no callback'),
    });
    await register(
      loadOrCreateSigningKey(directory, { id: 'far.example.com', keyId: 'key-1' }),
      'https://far.example.com',
    );
    expect(await publish('--as', 'far.example.com', '--wait')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('--listen'),
    });
  });

  it('says what to do when something is missing', async () => {
    const fails = async (args: string[], advice: string) =>
      expect(await run(args)).toMatchObject({ exitCode: 1, notes: expect.stringContaining(advice) });
    const to = ['--to', `${service.url}/catalog/publish`, '--as', 'bpp.example.com'];
    await fails(['no-such-file.json', ...to], 'There is no file no-such-file.json.');
    await fails(to, 'POST needs a file');
    writeFileSync(join(directory, 'broken.json'), '{"context": ');
    await fails([join(directory, 'broken.json'), ...to], 'not JSON');
    await fails(
      [file(), ...to.with(-1, 'stranger.example.com')],
      'signpost keys new --id stranger.example.com',
    );
    await fails([file(), ...to, '--key', 'no-such-key'], '32 bytes in Base64');
    await fails([file(), ...to, '--action', 'catalog/nothing'], 'There is no action catalog/nothing');
    await fails([file(), ...to, '--method', 'GET'], 'leave the file out');
    const nobody = `${await freeAddress()}/catalog/publish`;
    await fails([file(), '--to', nobody, '--as', 'bpp.example.com'], 'npm start');
    await fails([file(), '--to', nobody, '--as', 'bpp.example.com|key-2'], 'It is a domain such as');
  });

  it('sends what no other byte can stand for: every single change of body or header gives 401', async () => {
    const { request } = JSON.parse((await publish('--json')).out);
    const body = Buffer.from(JSON.stringify(request.body));
    const attempt = async (authorization: string, bytes: Buffer) =>
      (
        await http.request(request.url, {
          method: 'POST',
          headers: { authorization },
          body: bytes,
          timeoutMs: 60_000,
          maxBytes: 65_536,
        })
      ).status;
    expect(await attempt(request.authorization, body)).toBe(200);

    const header = Buffer.from(request.authorization);
    const attempts = [
      ...[...body.keys()].map((index) => attempt(request.authorization, changed(body, index))),
      ...[...header.keys()].map((index) => attempt(changed(header, index).toString('latin1'), body)),
    ];
    const statuses = await Promise.all(attempts);
    expect(statuses.length).toBeGreaterThan(500);
    expect(new Set(statuses)).toEqual(new Set([401]));
  }, 60_000);

  async function register({ subscriberId, recordId, privateKey }: SigningKey, url?: string): Promise<void> {
    await registerParticipant(database, {
      namespace: subscriberId,
      registryName: 'subscribers.beckn.one',
      subscriberId,
      url,
      key: { recordId, publicKey: publicKeyOf(privateKey) },
    });
  }
});

interface Pretence {
  answering?: string;
  by?: SigningKey;
  requestDigest?: string;
  messageId?: string;
}

/** What a catalog service sends when it has processed a publish, or what somebody sends who pretends to be one. */
async function callBack(request: Publish, pretence: Pretence = {}): Promise<Response> {
  const { context, signature, digest } = request;
  const answered = callbackContext('catalog/on_publish', context, {
    now: new Date(),
    requestDigest: pretence.requestDigest ?? digest,
  });
  const body = Buffer.from(
    JSON.stringify({
      context: { ...answered, messageId: pretence.messageId ?? context.messageId },
      message: { results: [{ catalogId: 'c1', status: 'ACCEPTED' }] },
    }),
  );
  const authorization = signRequest(pretence.by ?? self, body, {
    now: new Date(),
    answering: pretence.answering ?? signature,
  });
  return fetch(`${context.bppUri}/catalog/on_publish`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: new Uint8Array(body),
  });
}

/** Where nobody listens. */
async function freeAddress(): Promise<string> {
  const { server, url } = await listen(() => {});
  await server.close();
  return url;
}

function changed(bytes: Buffer, index: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}
