import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { takeTime } from '../../tests/support/time.ts';
import { createGuardedClient } from '../http/guarded-client.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { parseSignatureHeader, signRequest } from '../protocol/request-signature.ts';
import { type Sender, sendSigned } from './send.ts';

const receiverKey = {
  subscriberId: 'receiver.example',
  recordId: 'key-1',
  privateKey: privateKeyFromSeed(generateSeed()),
};
const receiverPublicKey = parsePublicKey(publicKeyOf(receiverKey.privateKey));

const lines: { level: number; msg: string }[] = [];
const client = createGuardedClient({ allowPrivateAddresses: true });
const sender: Sender = {
  key: { subscriberId: 'sender.example', recordId: 'key-1', privateKey: privateKeyFromSeed(generateSeed()) },
  client,
  findKey: async (subscriberId) =>
    subscriberId === receiverKey.subscriberId
      ? {
          kind: 'key',
          publicKey: receiverPublicKey,
          record: {
            recordId: 'key-1',
            subscriberId,
            networkMemberships: [],
            catalogIndexUrls: [],
            state: 'live',
          },
        }
      : { kind: 'unknown-subscriber' },
  logger: pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) }),
  now: () => new Date(),
};
const warn = 40;

let close: () => void = () => {};
afterEach(() => {
  lines.length = 0;
  close();
});
afterAll(() => client.close());

/** Sends one message to a receiver that gives this answer. */
async function send(answer: {
  status?: number;
  body?: unknown;
  signature?: (body: Buffer, requestSignature: string) => string;
}) {
  const body = Buffer.from(JSON.stringify(answer.body ?? { message: { status: 'ACK' } }));
  return sendTo((request, response) => {
    const { signature } = parseSignatureHeader(request.headers.authorization ?? '');
    if (answer.signature) response.setHeader('signature', answer.signature(body, signature));
    response.writeHead(answer.status ?? 200).end(body);
  });
}

async function sendTo(receive: RequestListener) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => receive(request, response));
  });
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalog/push`;
  return sendSigned(sender, { url, body: Buffer.from('{}') });
}

describe('an answer whose body cannot be read', () => {
  it.each<[string, RequestListener]>([
    ['is too long', (_, response) => response.end(Buffer.alloc(2 * 1024 * 1024, ' '))],
    [
      'is announced too long',
      (_, response) => response.writeHead(200, { 'content-length': 1e12 }).write(' '),
    ],
    [
      'comes in an encoding of its own',
      (_, response) => response.setHeader('content-encoding', 'br').end('?'),
    ],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{');
        void takeTime(50).then(() => response.destroy());
      },
    ],
  ])('because it %s says by its status that the message arrived', async (_, receive) => {
    expect(await sendTo(receive)).toEqual({ status: 200 });
  });

  it('still says when to try again', async () => {
    const receive: RequestListener = (_, response) =>
      response.writeHead(503, { 'retry-after': '7' }).end(Buffer.alloc(2 * 1024 * 1024));
    expect(await sendTo(receive)).toEqual({ status: 503, retryAfterMs: 7_000 });
  });
});

describe('the signature of an answer', () => {
  const now = new Date();

  it('that holds is not worth a word', async () => {
    await send({ signature: (body, answering) => signRequest(receiverKey, body, { now, answering }) });
    expect(lines).toEqual([]);
  });

  it('that is missing is told to who debugs', async () => {
    expect(await send({})).toMatchObject({ status: 200, acknowledgement: 'ACK' });
    expect(lines).toMatchObject([{ msg: 'the answer is not signed' }]);
    expect(lines[0]?.level).toBeLessThan(warn);
  });

  it.each<[string, (body: Buffer, answering: string) => string]>([
    [
      'covers another body',
      (_, answering) => signRequest(receiverKey, Buffer.from('{}'), { now, answering }),
    ],
    ['answers another request', (body) => signRequest(receiverKey, body, { now, answering: 'other' })],
    ['answers no request', (body) => signRequest(receiverKey, body, { now })],
    [
      'is of nobody known',
      (body, answering) =>
        signRequest({ ...receiverKey, subscriberId: 'nobody.example' }, body, { now, answering }),
    ],
    ['is none', () => 'Signature'],
  ])('that %s is told, and changes nothing', async (_, signature) => {
    expect(await send({ signature })).toMatchObject({ status: 200, acknowledgement: 'ACK' });
    expect(lines).toMatchObject([{ level: warn }]);
  });
});

describe('what a receiver says is wrong', () => {
  const saying = async (error: unknown) =>
    (await send({ status: 400, body: { message: { status: 'NACK', error } } })).error;

  it('is its code and its sentence', async () => {
    expect(await saying({ code: 'SCH_INVALID_ENUM', message: 'no' })).toBe('SCH_INVALID_ENUM no');
    expect(await saying({ code: 'SCH_INVALID_ENUM' })).toBe('SCH_INVALID_ENUM');
  });

  it('is one line of text that can be stored and shown, whatever it put there', async () => {
    expect(await saying({ code: 'X', message: 'a\u0000b\nc\u001b[2Jd\ud800' })).toBe('X a b c [2Jd ');
    expect(await saying({ message: 'x'.repeat(100_000) })).toHaveLength(500);
  });

  it.each([null, 'text', 7, {}, { code: 7, message: {} }])('is nothing where it is %j', async (error) => {
    expect(await saying(error)).toBeUndefined();
  });
});
