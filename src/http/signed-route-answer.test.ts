import { afterEach, describe, expect, it } from 'vitest';
import {
  bodyOf,
  closeAll,
  consumer,
  limitsWith,
  provider,
  service,
  start,
} from '../../tests/support/network/signed-actions.ts';
import { type Sent, send, sendSigned, verifyAnswer } from '../../tests/support/network/signed-service.ts';
import { actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { signRequest } from '../protocol/request-signature.ts';
import type { Answer } from './signed-route.ts';
import { spoolBody } from './spooled-body.ts';

afterEach(closeAll);

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
