import { randomUUID, sign } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  bodyOf,
  closeAll,
  consumer,
  limitsWith,
  provider,
  publish,
  start,
} from '../../tests/support/network/signed-actions.ts';
import {
  createParticipant,
  type Sent,
  send,
  sendSigned,
} from '../../tests/support/network/signed-service.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { bodyDigest } from '../protocol/digest.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { Type } from '../protocol/type.ts';
import type { VerifiedRequest } from './signed-route.ts';

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

  it.each([actions.listSubscriptions, actions.unsubscribe])(
    'of $method, which has no messageId, is refused with a new one each time',
    async (action) => {
      const { url } = await start(action, {}, async () => {
        throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', 'no');
      });
      const target = `${url}/catalog/subscription?subscriptionId=${randomUUID()}`;
      const { method } = action;
      const refusals = [
        await send(target, { method }),
        await sendSigned(target, { from: consumer, method }),
        await sendSigned(target, { from: consumer, method }),
      ];
      expect(refusals.map(({ status }) => status)).toEqual([401, 403, 403]);
      const ids = refusals.map(({ json }) => json.message?.messageId);
      expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[0-9a-f-]{36}$/)));
      expect(new Set(ids).size).toBe(3);
    },
  );

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

describe('the order of checks', () => {
  it('is declared size, presence, form, window, key, body, signature, JSON, context, schema, caller', async () => {
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
    const outgrown = {
      write: (request: ClientRequest) => {
        request.write(' '.repeat(5_000));
        request.end(' ');
      },
    };
    expect(await code(sendSigned(target, { from: nobody, ...outgrown }))).toBe('AUT_SUBSCRIBER_NOT_FOUND');
    expect((await sendSigned(target, { from: impostor, ...outgrown })).status).toBe(413);
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
