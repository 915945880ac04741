import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { parsePublicKey, privateKeyFromSeed, type SigningKey } from '../../../src/protocol/keys.ts';
import {
  parseSignatureHeader,
  signRequest,
  verifySignature,
} from '../../../src/protocol/request-signature.ts';
import {
  createInbox,
  expressHandler,
  fastifyPlugin,
  fetchHandler,
  generateSeed,
  publicKeyFromSeed,
  type ReceivedMessage,
  type Registry,
  Signpost,
  SignpostError,
  verifyRequest,
} from './index.ts';

// The receiving side, without a network: a sender with a real key, and the servers of the adapters.

const senderSeed = generateSeed();
const sender: SigningKey = {
  subscriberId: 'catalog.example.org',
  recordId: 'key-1',
  privateKey: privateKeyFromSeed(senderSeed),
};
const publicKey = publicKeyFromSeed(senderSeed);
const ownSeed = generateSeed();

const registry: Registry = {
  findKey: async (subscriberId) =>
    subscriberId === sender.subscriberId
      ? { kind: 'key', publicKey: parsePublicKey(publicKey), record: { subscriberId } as never }
      : { kind: 'unknown-key' },
  findSubscriber: async () => [],
};

function pushBody(bppId = sender.subscriberId): Buffer {
  const provider = { id: 'lamp-shop', descriptor: { name: 'Lamp shop' } };
  const catalogs = [{ id: 'lamps', descriptor: { name: 'Lamps' }, provider, resources: [{ id: 'lamp-1' }] }];
  const context = {
    ...{ version: '2.0.0', action: 'catalog/push', messageId: 'message-1', transactionId: 'transaction-1' },
    ...{ timestamp: new Date().toISOString(), bppId, bppUri: 'https://catalog.example.org' },
  };
  return Buffer.from(JSON.stringify({ context, message: { catalogs } }));
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const servers: Record<
  string,
  (signpost: Signpost) => Promise<(path: string, init: RequestInit) => Promise<Response>>
> = {
  async Fastify(signpost) {
    const app = Fastify();
    await app.register(fastifyPlugin(signpost), { prefix: '/beckn' });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    closing.push(() => app.close());
    return (path, init) => fetch(`${url}/beckn${path}`, init);
  },
  async Express(signpost) {
    const server = express()
      .use('/beckn', expressHandler(signpost))
      .use(express.json())
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    return (path, init) =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/beckn${path}`, init);
  },
  async 'the Fetch API'(signpost) {
    const handle = fetchHandler(signpost);
    return (path, init) => handle(new Request(`https://provider.example.org/beckn${path}`, init));
  },
  async 'listen()'(signpost) {
    const { url } = await signpost.listen();
    closing.push(() => signpost.close());
    return (path, init) => fetch(`${url}/beckn${path}`, init);
  },
};

describe.each(Object.entries(servers))('a push to a server of %s', (_name, start) => {
  const open = async (onMessage?: (message: ReceivedMessage) => void) => {
    const signpost = new Signpost({
      id: 'me.example.org',
      keyId: 'key-1',
      privateKey: ownSeed,
      registry,
      onMessage,
    });
    const post = await start(signpost);
    return (body: Buffer, authorization?: string) =>
      post('/catalog/push', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        body: new Uint8Array(body),
      });
  };

  it('is verified, given to onMessage, and acknowledged under a signature of ours', async () => {
    const inbox = createInbox();
    const post = await open(inbox.take);
    const body = pushBody();
    const authorization = signRequest(sender, body, { now: new Date() });
    const answer = await post(body, authorization);
    const text = await answer.text();
    expect({ status: answer.status, body: JSON.parse(text) }).toEqual({
      status: 200,
      body: { message: { status: 'ACK', messageId: 'message-1' } },
    });
    const { signature } = parseSignatureHeader(authorization);
    const header = parseSignatureHeader(answer.headers.get('signature') ?? '');
    expect(
      verifySignature(header, parsePublicKey(publicKeyFromSeed(ownSeed)), Buffer.from(text), signature),
    ).toBeDefined();
    expect((await inbox.next('catalog/push')).message.catalogs[0]?.id).toBe('lamps');
    expect(inbox.messages).toMatchObject([
      { signer: 'catalog.example.org/subscribers.beckn.one', keyId: 'key-1', chained: false },
    ]);
  });

  it('is refused without a signature, with a changed body, and where nobody takes it', async () => {
    const post = await open();
    const body = pushBody();
    const authorization = signRequest(sender, body, { now: new Date() });
    const outcome = async (answer: Response) => {
      const { message } = JSON.parse(await answer.text());
      return [answer.status, message.status, message.error.code];
    };
    expect(await outcome(await post(body))).toEqual([401, 'NACK', 'AUT_SIGNATURE_MISSING']);
    const changed = Buffer.from(body.toString().replace('lamp-1', 'lamp-2'));
    expect(await outcome(await post(changed, authorization))).toEqual([401, 'NACK', 'AUT_SIGNATURE_INVALID']);
    expect(await outcome(await post(body, authorization))).toEqual([400, 'NACK', 'NET_NOT_IMPLEMENTED']);
  });
});

describe('verifyRequest', () => {
  const resolveKey = ({ subscriberId }: { subscriberId: string }) =>
    subscriberId === sender.subscriberId ? publicKey : undefined;
  const verify = async (
    body: Buffer,
    options: Partial<Parameters<typeof verifyRequest>[2]> = {},
    now = new Date(),
  ) =>
    verifyRequest(
      body,
      { Authorization: signRequest(sender, body, { now, answering: options.findSent && 'AA==' }) },
      { resolveKey, ...options },
    );

  it('says who signed what', async () => {
    const { action, signer, context, message } = await verify(pushBody());
    expect({ action, signer, messageId: context.messageId }).toEqual({
      action: 'catalog/push',
      signer: 'catalog.example.org/subscribers.beckn.one',
      messageId: 'message-1',
    });
    expect(message).toHaveProperty('catalogs');
  });

  it.each([
    ['AUT_KEY_NOT_FOUND', pushBody(), { resolveKey: () => undefined }],
    ['AUT_UNAUTHORIZED_ACTION', pushBody('another.example.org'), {}],
    ['CTX_ACTION_MISMATCH', pushBody(), { action: 'on_discover' as const }],
    ['SCH_INVALID_JSON', Buffer.from('{'), { action: 'catalog/push' as const }],
    ['AUT_SIGNATURE_INVALID', pushBody(), { now: new Date(Date.now() + 400_000) }],
    ['AUT_SIGNATURE_INVALID', pushBody(), { findSent: () => [] }],
  ])('throws %s', async (code, body, options) => {
    const error = await verify(body, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SignpostError);
    expect(error).toMatchObject({ code });
  });
});
