import { randomUUID, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import {
  bodyOf,
  closeAll,
  consumer,
  limitsWith,
  provider,
  publish,
  service,
  start,
} from '../../tests/support/signed-actions.ts';
import {
  createParticipant,
  type Sent,
  send,
  sendSigned,
  verifyAnswer,
} from '../../tests/support/signed-service.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { type Action, actions } from '../protocol/actions.ts';
import { bodyDigest } from '../protocol/digest.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { createRateLimit } from './rate-limit.ts';
import { type Answer, createRateLimits, type VerifiedRequest } from './signed-route.ts';
import { spoolBody } from './spooled-body.ts';

afterEach(closeAll);

describe('a signed request', () => {
  it('reaches the handler verified, with everything that the handler needs', async () => {
    let seen: VerifiedRequest<typeof actions.publish> | undefined;
    const { url } = await start(actions.publish, {}, async (request) => {
      seen = request;
      return { status: 200, body: ack(request.context.messageId) };
    });
    const body = bodyOf(actions.publish);
    const answer = await sendSigned(`${url}/catalog/publish?a=1`, { from: provider, body });
    expect(answer.status).toBe(200);
    expect(answer.json.message).toEqual({ status: 'ACK', messageId: JSON.parse(body).context.messageId });
    expect(seen).toMatchObject({
      identity: 'bpp.example.org/subscribers.beckn.one',
      subscriberId: 'bpp.example.org',
      recordId: 'key-1',
      chained: false,
      url: '/catalog/publish?a=1',
      digest: expect.stringMatching(/^BLAKE-512=/),
      requestId: answer.headers['x-request-id'],
      key: {
        role: 'catalog',
        method: 'POST',
        action: 'catalog/publish',
        messageId: JSON.parse(body).context.messageId,
      },
    });
    expect(seen?.message.catalogs[0]?.id).toBe('catalog-1');
    expect(seen?.rawBody.toString()).toBe(body);
    expect(seen?.expires.getTime()).toBeGreaterThan(Date.now() + 290_000);
  });

  it('waits for no schema to be compiled: that is done before the server listens', async () => {
    const query = Type.Object({ at: Type.String({ format: 'nobody knows it' }) });
    await expect(start({ ...actions.search, query })).rejects.toThrow('unknown format');
  });

  it('may carry any Content-Type or none: the bytes decide', async () => {
    const { url } = await start(actions.publish);
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'text/plain',
      'garbage',
      undefined,
    ]) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      expect((await publish(url, { headers })).status).toBe(200);
    }
  });

  it('fails with 401 for each single changed byte of its body', async () => {
    const { url } = await start(actions.search, { rateLimits: undefined });
    const body = bodyOf(actions.search);
    const authorization = signRequest(consumer, Buffer.from(body), { now: new Date() });
    const statuses = new Set<number>();
    for (let at = 0; at < body.length; at += 1) {
      const bytes = Buffer.from(body);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      statuses.add((await send(`${url}/catalog/search`, { headers: { authorization }, body: bytes })).status);
    }
    expect([...statuses]).toEqual([401]);
    expect((await send(`${url}/catalog/search`, { headers: { authorization }, body })).status).toBe(200);
  });

  it('fails with 401 for each single changed character of its Authorization header', async () => {
    const { url } = await start(actions.search);
    const body = bodyOf(actions.search);
    const authorization = signRequest(consumer, Buffer.from(body), { now: new Date() });
    const passed: string[] = [];
    for (let at = 0; at < authorization.length; at += 1) {
      const character = String.fromCharCode(authorization.charCodeAt(at) ^ 1);
      const other = authorization.slice(0, at) + character + authorization.slice(at + 1);
      const answer = await send(`${url}/catalog/search`, { headers: { authorization: other }, body });
      if (answer.status !== 401) passed.push(`${at}: ${authorization[at]} → ${character}: ${answer.status}`);
    }
    expect(passed).toEqual([]);
  });

  it('of GET or DELETE signs zero bytes, and fails when a body comes along, signed or not', async () => {
    const { url } = await start(actions.listSubscriptions, {}, async ({ query }) => ({
      status: 200,
      body: { query },
    }));
    const listed = await sendSigned(`${url}/catalog/subscription?status=ACTIVE`, {
      from: consumer,
      method: 'GET',
    });
    expect(listed.json).toEqual({ query: { status: 'ACTIVE' } });
    const authorization = signRequest(consumer, Buffer.alloc(0), { now: new Date() });
    const smuggled = await send(`${url}/catalog/subscription`, {
      method: 'GET',
      headers: { authorization },
      body: '{}',
    });
    expect(smuggled.json.message?.error?.code).toBe('AUT_SIGNATURE_INVALID');
    const signed = await sendSigned(`${url}/catalog/subscription`, {
      from: consumer,
      method: 'GET',
      body: '{}',
    });
    expect([signed.status, signed.json.message?.error?.code]).toEqual([401, 'AUT_SIGNATURE_INVALID']);
  });

  it('that was sent as a POST cannot be sent on as a DELETE by who received it', async () => {
    let deleted = false;
    const { url } = await start(actions.unsubscribe, {}, async () => {
      deleted = true;
      return { status: 200, body: {} };
    });
    const body = bodyOf(actions.search);
    const authorization = signRequest(consumer, Buffer.from(body), { now: new Date() });
    const answer = await send(`${url}/catalog/subscription?subscriptionId=${randomUUID()}`, {
      method: 'DELETE',
      headers: { authorization },
      body,
    });
    expect([answer.status, deleted]).toEqual([401, false]);
  });

  it('of DELETE asks for its query', async () => {
    const { url } = await start(actions.unsubscribe, {}, async () => ({ status: 200, body: '{}' }));
    const missing = await sendSigned(`${url}/catalog/subscription`, { from: consumer, method: 'DELETE' });
    expect(missing.json.message?.error?.code).toBe('SCH_REQUIRED_FIELD_MISSING');
    const odd = await sendSigned(`${url}/catalog/subscription?subscriptionId=7`, {
      from: consumer,
      method: 'DELETE',
    });
    expect(odd.json.message?.error?.code).toBe('CTX_INVALID_FIELD');
  });

  it('may give the digest its other name', async () => {
    const { url } = await start(actions.search);
    const body = bodyOf(actions.search);
    const created = Math.floor(Date.now() / 1000);
    const digest = bodyDigest(Buffer.from(body)).replace('BLAKE-512=', 'BLAKE2b-512=');
    const text = `(created): ${created}\n(expires): ${created + 60}\ndigest: ${digest}`;
    const signature = sign(null, Buffer.from(text), consumer.privateKey).toString('base64');
    const authorization =
      `Signature keyId="${consumer.subscriberId}|key-1|ed25519",algorithm="ed25519",created="${created}",` +
      `expires="${created + 60}",headers="(created) (expires) digest",signature="${signature}"`;
    expect((await send(`${url}/catalog/search`, { headers: { authorization }, body })).status).toBe(200);
  });
});

describe('the named caller', () => {
  it.each([
    ['its subscriberId', { bapId: 'ds.example.org/subscribers.beckn.one' }, 200],
    ['its bare domain', { bapId: 'ds.example.org' }, 200],
    ['nobody', { bapId: undefined, bppId: undefined }, 200],
    ['it beside the one that is asked', { bapId: 'ds.example.org', bppId: 'catalog.example.org' }, 200],
    ['it on the other side', { bapId: 'x.example.org', bppId: 'ds.example.org' }, 200],
    ['somebody else', { bapId: 'x.example.org', bppId: undefined }, 403],
    ['two others', { bapId: 'x.example.org', bppId: 'y.example.org' }, 403],
  ])('of a search may be %s', async (_what, ids, status) => {
    const { url } = await start(actions.search);
    const answer = await sendSigned(`${url}/catalog/search`, {
      from: consumer,
      body: bodyOf(actions.search, ids),
    });
    expect(answer.status).toBe(status);
  });

  it('of a pull is on the application side, whoever is on the other', async () => {
    const { url } = await start(actions.pull);
    const send = (ids: object) =>
      sendSigned(`${url}/catalog/pull`, { from: consumer, body: bodyOf(actions.pull, ids) });
    expect((await send({ bppId: 'anyone.example.org' })).status).toBe(200);
    expect(
      (await send({ bapId: 'x.example.org', bppId: 'ds.example.org' })).json.message?.error,
    ).toMatchObject({
      code: 'AUT_UNAUTHORIZED_ACTION',
      details: { path: '$.context.bapId' },
    });
  });
});

describe('the answer', () => {
  it('is signed over its body and the signature of the request, acknowledged or refused', async () => {
    const { url } = await start(actions.search, { limits: limitsWith({ bodyBytes: 2_000 }) });
    const post = async (body: string, headers: Record<string, string> = {}) => {
      const authorization = signRequest(consumer, Buffer.from(body), { now: new Date() });
      const answer = await send(`${url}/catalog/search`, { headers: { authorization, ...headers }, body });
      verifyAnswer(answer, service, authorization);
      return answer.status;
    };
    expect(await post(bodyOf(actions.search))).toBe(200);
    expect(await post('{}')).toBe(400);
    expect(await post(bodyOf(actions.search, { bapId: 'x.example.org', bppId: undefined }))).toBe(403);
    expect(await post(' '.repeat(2_001))).toBe(413);
    const expired = signRequest(consumer, Buffer.from('{}'), { now: new Date(0) });
    const refused = await send(`${url}/catalog/search`, { headers: { authorization: expired }, body: '{}' });
    expect(refused.status).toBe(401);
    verifyAnswer(refused, service, expired);
    const signed = signRequest(consumer, Buffer.from('{}'), { now: new Date() });
    const authorization = signed.replace(`|${consumer.recordId}|`, '|..|');
    const nobody = await send(`${url}/catalog/search`, { headers: { authorization }, body: '{}' });
    expect(nobody.json.message?.error?.code).toBe('AUT_KEY_NOT_FOUND');
    verifyAnswer(nobody, service, signed);
  });

  it('is not signed where the request had no readable signature', async () => {
    const { url } = await start(actions.search);
    const unsigned = await send(`${url}/catalog/search`, { body: '{}' });
    expect(unsigned.headers.signature).toBeUndefined();
    const malformed = await send(`${url}/catalog/search`, {
      headers: { authorization: 'Signature x' },
      body: '{}',
    });
    expect(malformed.headers.signature).toBeUndefined();
  });

  it('repeats the messageId of the request where it can be read', async () => {
    const { url } = await start(actions.search);
    const small = JSON.stringify({ context: { messageId: 'm-1' } });
    const large = JSON.stringify({ context: { messageId: 'm-1' }, padding: 'x'.repeat(64 * 1024) });
    const twice = '{"context":{"messageId":"m-1"},"message":{"a":1,"a":2}}';
    const messageIdOf = async (sent: Promise<Sent>) => (await sent).json.message?.messageId;
    expect(await messageIdOf(send(`${url}/catalog/search`, { body: small }))).toBe('m-1');
    expect(await messageIdOf(send(`${url}/catalog/search`, { body: large }))).toBeUndefined();
    expect(await messageIdOf(sendSigned(`${url}/catalog/search`, { from: consumer, body: large }))).toBe(
      'm-1',
    );
    expect(await messageIdOf(sendSigned(`${url}/catalog/search`, { from: consumer, body: twice }))).toBe(
      'm-1',
    );
    expect(await messageIdOf(send(`${url}/catalog/search`, { body: 'nonsense' }))).toBeUndefined();
    expect(
      await messageIdOf(send(`${url}/catalog/search`, { body: '{"context":{"messageId":7}}' })),
    ).toBeUndefined();
  });

  it('of a handler may be an object, rendered text or bytes, with headers and any status', async () => {
    const answers: Answer[] = [
      { status: 200, body: { message: {} } },
      { status: 202, body: '{"message":{}}', headers: { 'x-kind': 'text' } },
      { status: 200, body: Buffer.from('{"message":{}}') },
    ];
    const { url } = await start(actions.search, {}, async () => answers.shift() ?? { status: 500, body: '' });
    const ask = () => sendSigned(`${url}/catalog/search`, { from: consumer, body: bodyOf(actions.search) });
    expect((await ask()).text).toBe('{"message":{}}');
    const second = await ask();
    expect([second.status, second.headers['x-kind']]).toEqual([202, 'text']);
    expect((await ask()).text).toBe('{"message":{}}');
  });

  it('of any length is signed before it is sent, piece by piece', async () => {
    async function* pieces() {
      yield '{"message":"';
      for (let count = 0; count < 300; count += 1) yield 'x'.repeat(10_000);
      yield '"}';
    }
    const { url } = await start(actions.search, {}, async () => ({
      status: 200,
      body: await spoolBody(pieces()),
    }));
    const body = bodyOf(actions.search);
    const authorization = signRequest(consumer, Buffer.from(body), { now: new Date() });
    const answer = await send(`${url}/catalog/search`, { headers: { authorization }, body });
    expect(answer.text).toHaveLength(3_000_014);
    verifyAnswer(answer, service, authorization);
  });

  it('to a thrown 202 is an acknowledgement with an error block', async () => {
    const { url } = await start(actions.push, {}, async () => {
      throw new ProtocolError('BIZ_NO_RESULTS_FOUND', 'no subscription matches');
    });
    const body = bodyOf(actions.push);
    const answer = await sendSigned(`${url}/catalog/push`, { from: provider, body });
    expect(answer.status).toBe(202);
    expect(answer.json.message).toMatchObject({ status: 'ACK', error: { code: 'BIZ_NO_RESULTS_FOUND' } });
  });
});

describe('the order of checks', () => {
  it('is size, presence, form, window, key, signature, JSON, context, schema, caller', async () => {
    const { url } = await start(actions.publish, { limits: limitsWith({ bodyBytes: 5_000 }) });
    const target = `${url}/catalog/publish`;
    const code = async (sent: Promise<Sent>) => (await sent).json.message?.error?.code;
    const old = new Date(0);
    const nobody = createParticipant('nobody.example.org');
    const impostor = { ...provider, privateKey: nobody.privateKey };
    const wrongAll = JSON.stringify({ context: { action: 'x' }, message: {} });
    const wrongSchema = bodyOf(actions.publish, { bppId: 'x.example.org' }, {});
    expect((await send(target, { body: ' '.repeat(5_001) })).status).toBe(413);
    expect(await code(send(target, { body: 'not json' }))).toBe('AUT_SIGNATURE_MISSING');
    const malformed = signRequest(nobody, Buffer.from('x'), { now: old }).replace('algorithm', 'algorytm');
    expect(await code(send(target, { headers: { authorization: malformed }, body: 'not json' }))).toBe(
      'AUT_SIGNATURE_INVALID',
    );
    expect(await code(sendSigned(target, { from: nobody, now: old, body: 'not json' }))).toBe(
      'AUT_SIGNATURE_INVALID',
    );
    expect(await code(sendSigned(target, { from: nobody, body: 'not json' }))).toBe(
      'AUT_SUBSCRIBER_NOT_FOUND',
    );
    expect(await code(sendSigned(target, { from: impostor, body: 'not json' }))).toBe(
      'AUT_SIGNATURE_INVALID',
    );
    expect(await code(sendSigned(target, { from: provider, body: 'not json' }))).toBe('SCH_INVALID_JSON');
    expect(await code(sendSigned(target, { from: provider, body: wrongAll }))).toBe('CTX_MISSING_FIELD');
    expect(await code(sendSigned(target, { from: provider, body: wrongSchema }))).toBe(
      'SCH_REQUIRED_FIELD_MISSING',
    );
    const wrongCaller = bodyOf(actions.publish, { bppId: 'x.example.org' });
    expect(await code(sendSigned(target, { from: provider, body: wrongCaller }))).toBe(
      'AUT_UNAUTHORIZED_ACTION',
    );
  });
});

describe('the rate limit', () => {
  it('is per identity, and leaves alone whom it exempts', async () => {
    const exempt = (identity: string, action: Action) =>
      action === actions.push && identity === 'bpp.example.org/subscribers.beckn.one';
    const rateLimits = createRateLimits(1, exempt);
    const { url } = await start(actions.push, { rateLimits });
    const push = async () =>
      (await sendSigned(`${url}/catalog/push`, { from: provider, body: bodyOf(actions.push) })).status;
    expect([await push(), await push(), await push(), await push()]).toEqual([200, 200, 200, 200]);
    const other = await start(actions.search, { rateLimits });
    const search = async (from = consumer, ids = {}) =>
      (await sendSigned(`${other.url}/catalog/search`, { from, body: bodyOf(actions.search, ids) })).status;
    expect([await search(), await search(), await search()]).toEqual([200, 200, 429]);
    expect(await search(provider)).toBe(200);
  });

  it('is per source address for requests that nobody signed; verified ones do not count there', async () => {
    const rateLimits = {
      identities: createRateLimit({ perSecond: 0, burst: 0 }),
      sources: createRateLimit({ perSecond: 0.001, burst: 3 }),
    };
    const { url } = await start(actions.search, { rateLimits });
    const search = async () =>
      (await sendSigned(`${url}/catalog/search`, { from: consumer, body: bodyOf(actions.search) })).status;
    for (let count = 0; count < 6; count += 1) expect(await search()).toBe(200);
    const unsigned = async () => (await send(`${url}/catalog/search`, { body: '{}' })).status;
    expect([await unsigned(), await unsigned(), await unsigned(), await unsigned()]).toEqual([
      401, 401, 401, 429,
    ]);
    expect(await search()).toBe(429);
  });
});

describe('overload', () => {
  it('NET_OVERLOADED: is answered before the body is read, signed, with Retry-After; /health and /metrics go on', async () => {
    const refusal = new ProtocolError('NET_OVERLOADED', 'The service is overloaded.', {
      retryAfterSeconds: 2,
    });
    const admission = {
      admit: () => {
        throw refusal;
      },
      close: () => {},
    };
    const { url } = await start(actions.search, {}, undefined, { admission });
    const authorization = signRequest(consumer, Buffer.from('{}'), { now: new Date() });
    const answer = await send(`${url}/catalog/search`, {
      headers: { authorization, 'content-length': '1000000' },
      write: (request) => void request.write('{'), // the rest never comes
    });
    expect([answer.status, answer.json.message?.error?.code]).toEqual([503, 'NET_OVERLOADED']);
    expect(answer.headers['retry-after']).toBe('2');
    verifyAnswer(answer, service, authorization);
    for (const path of ['/health', '/metrics', '/ready', '/docs', '/openapi.json']) {
      expect((await send(`${url}${path}`, { method: 'GET' })).status).toBe(200);
    }
    expect((await send(`${url}/plain`, { method: 'GET' })).status).toBe(503);
  });
});

describe('a sender that goes away', () => {
  it('in the middle of its body leaves nothing behind', async () => {
    const { url, server } = await start(actions.search);
    const gone = send(`${url}/catalog/search`, {
      headers: { 'content-length': '1000' },
      write: (request) => {
        request.write('{');
        setTimeout(() => request.destroy(), 30);
      },
    });
    await expect(gone).rejects.toThrow();
    await sleep(50);
    expect(
      (await sendSigned(`${url}/catalog/search`, { from: consumer, body: bodyOf(actions.search) })).status,
    ).toBe(200);
    expect(server.server.listening).toBe(true);
  });
});
