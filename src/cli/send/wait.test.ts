import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../tests/support/free-port.ts';
import {
  type Publish,
  type SendScene,
  self,
  startSendScene,
} from '../../../tests/support/network/send-scene.ts';
import { createParticipant } from '../../../tests/support/network/signed-service.ts';
import { ack } from '../../protocol/acknowledgement.ts';
import { callbackContext } from '../../protocol/context.ts';
import type { SigningKey } from '../../protocol/keys.ts';
import { signRequest } from '../../protocol/request-signature.ts';
import { loadOrCreateSigningKey } from '../../registry/key-files.ts';

let scene: SendScene;
beforeAll(async () => {
  scene = await startSendScene();
});
afterAll(() => scene.close());
beforeEach(() => scene.reset());

describe('signpost send --wait', () => {
  it('waits for the callback, verifies it, acknowledges it and shows it', async () => {
    const replies: Promise<Response>[] = [];
    scene.onPublish = (request) => {
      replies.push(callBack(request));
      return { status: 200, body: ack(request.context.messageId) };
    };
    const { exitCode, out } = await scene.publish('--wait');
    expect(exitCode).toBe(0);
    expect(out).toContain(
      'catalog/on_publish from catalog.example.com/subscribers.beckn.one, key-1: the signature is valid and covers the signature of the request.',
    );
    expect(out).toContain('Its requestDigest matches the request.');
    expect(out).toContain('"ACCEPTED"');
    const reply = await replies[0];
    expect(reply?.status).toBe(200);
    expect(reply?.headers.get('signature')).toContain('keyId="bpp.example.com|key-1|ed25519"');
    // Otherwise the command would wait until its sender closes the connection.
    expect(reply?.headers.get('connection')).toBe('close');
  });

  it('takes a callback that is chained to the whole Authorization header, as a deployed peer does', async () => {
    scene.onPublish = (request) => {
      callBack(request, { answering: authorizationOf(request) }).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    expect(await scene.publish('--wait', '5')).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('the signature is valid and covers the signature of the request.'),
    });
  });

  it.each(['PARTIAL', 'REJECTED'])(
    'ends with 1 when a catalog is %s, and says which and why',
    async (status) => {
      const errors = [{ code: 'BIZ_GENERIC_ERROR', message: 'the coffee is cold', details: { path: '$.x' } }];
      const results = [
        { catalogId: 'c1', status: 'ACCEPTED' },
        { catalogId: 'c2', status, errors },
      ];
      scene.onPublish = (request) => {
        callBack(request, { results }).catch(() => undefined);
        return { status: 200, body: ack(request.context.messageId) };
      };
      const { exitCode, notes } = await scene.publish('--wait', '5');
      expect(exitCode).toBe(1);
      expect(notes).toContain(`c2 is ${status}.\nc2: the coffee is cold (BIZ_GENERIC_ERROR, $.x)`);
      expect(notes).not.toContain('c1 is');
    },
  );

  it('ends with 1 when the on_publish says nothing of any catalog', async () => {
    scene.onPublish = (request) => {
      callBack(request, { results: [] }).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    expect(await scene.publish('--wait', '5')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('It has no result for any catalog.'),
    });
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
    scene.onPublish = (request) => {
      pretend(request).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    const { exitCode, notes } = await scene.publish('--wait', '5');
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
    expect(await scene.publish('--wait', '0')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('No catalog/on_publish came within 0 s.'),
    });
    const other = createParticipant('other.example.com');
    await scene.register(other);
    scene.onPublish = (request) => {
      callBack(request, { by: other }).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    expect(await scene.publish('--wait', '3')).toMatchObject({
      exitCode: 1,
      // Refused by the signer of the acknowledgement, or, if the callback came first, by its registered address.
      notes: expect.stringMatching(/ was asked, (?:not|but the registry has) other\.example\.com/),
    });
  });

  it('takes a callback of more than 64 KiB, which is looked into before its signature is verified', async () => {
    const results = [{ catalogId: 'c1', status: 'ACCEPTED', resourceCount: 1, note: 'x'.repeat(200_000) }];
    scene.onPublish = (request) => {
      callBack(request, { results }).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    expect(await scene.publish('--wait', '5')).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('the signature is valid and covers the signature of the request.'),
    });
  });

  it('refuses what is too large by its own word, unsigned or at another address, and says so', async () => {
    const statuses: number[] = [];
    const disturb = async (request: Publish) => {
      const base = request.context.bppUri ?? '';
      statuses.push(await announce(`${base}/catalog/on_publish`, 2 ** 30));
      statuses.push((await fetch(`${base}/catalog/on_publish`, { method: 'POST', body: '{}' })).status);
      statuses.push((await fetch(`${base}/catalog/on_pull`, { method: 'POST', body: '{}' })).status);
      await callBack(request);
    };
    scene.onPublish = (request) => {
      disturb(request).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    const { exitCode, notes } = await scene.publish('--wait', '5');
    expect([exitCode, statuses]).toEqual([0, [413, 401, 404]]);
    expect(notes).toContain('Refused POST /catalog/on_publish: SCH_SCHEMA_VALIDATION_FAILED.');
    expect(notes).toContain('Refused POST /catalog/on_publish: AUT_SIGNATURE_MISSING.');
    expect(notes).toContain('Refused POST /catalog/on_pull: NET_NOT_IMPLEMENTED.');
  });

  it('waits at the registered address of the identity, where it has one here', async () => {
    const url = `http://127.0.0.1:${await freePort()}/base`;
    await scene.register(
      loadOrCreateSigningKey(scene.directory, { id: 'local.example.com', keyId: 'key-1' }),
      url,
    );
    scene.onPublish = (request) => {
      callBack(request).catch(() => undefined);
      return { status: 200, body: ack(request.context.messageId) };
    };
    const args = [
      scene.file,
      '--to',
      `${scene.url}/catalog/publish`,
      '--as',
      'local.example.com',
      '--wait',
      '5',
    ];
    expect(await scene.run(args)).toMatchObject({ exitCode: 0, out: expect.stringContaining('ACCEPTED') });
    expect(scene.received[0]?.context.bppUri).toBe(url);
  });

  it('does not wait where nothing can come', async () => {
    const to = `${scene.url}/catalog/subscription`;
    expect(
      await scene.run(['--method', 'GET', '--to', to, '--as', 'bpp.example.com', '--wait']),
    ).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('no callback'),
    });
    await scene.register(
      loadOrCreateSigningKey(scene.directory, { id: 'far.example.com', keyId: 'key-1' }),
      'https://far.example.com',
    );
    expect(await scene.publish('--as', 'far.example.com', '--wait')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('--listen'),
    });
  });
});

/** The answer to a body that is announced, but never sent. */
async function announce(url: string, bytes: number): Promise<number> {
  const asking = request(url, { method: 'POST', headers: { 'content-length': bytes } });
  asking.flushHeaders();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  // Cut off on purpose.
  asking.on('error', () => undefined).destroy();
  return answer.statusCode ?? 0;
}

interface Pretence {
  answering?: string;
  by?: SigningKey;
  requestDigest?: string;
  messageId?: string;
  results?: object[];
}

/** The header of the request, as received. */
function authorizationOf({ subscriberId, recordId, expires, signature }: Publish): string {
  const until = expires.getTime() / 1_000;
  const times = `created="${until - 300}",expires="${until}"`;
  const headers = 'headers="(created) (expires) digest"';
  return `Signature keyId="${subscriberId}|${recordId}|ed25519",algorithm="ed25519",${times},${headers},signature="${signature}"`;
}

/** Sends a callback like a catalog service after a publish, or like an impostor. */
async function callBack(request: Publish, pretence: Pretence = {}): Promise<Response> {
  const { context, signature, digest } = request;
  const answered = callbackContext('catalog/on_publish', context, {
    now: new Date(),
    requestDigest: pretence.requestDigest ?? digest,
  });
  const body = Buffer.from(
    JSON.stringify({
      context: { ...answered, messageId: pretence.messageId ?? context.messageId },
      message: { results: pretence.results ?? [{ catalogId: 'c1', status: 'ACCEPTED' }] },
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
