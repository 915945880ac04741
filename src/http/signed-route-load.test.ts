import { afterEach, describe, expect, it } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import {
  bodyOf,
  closeAll,
  consumer,
  findKey,
  provider,
  service,
  start,
} from '../../tests/support/network/signed-actions.ts';
import { send, sendSigned, verifyAnswer } from '../../tests/support/network/signed-service.ts';
import { takeTime } from '../../tests/support/time.ts';
import { type Action, actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { createRateLimit, createRateLimits } from './rate-limit.ts';

afterEach(closeAll);

describe('the rate limit', () => {
  it('is per identity, and leaves alone whom it exempts', async () => {
    const exempt = (identity: string, action: Action) =>
      action === actions.push && identity === 'bpp.example.org/subscribers.beckn.one';
    const rateLimits = createRateLimits(1, { exempt });
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
  it('while its key is looked up is not waited for', async () => {
    const [lookedUp, gone, released] = [gate(), gate(), gate()];
    const { url, server } = await start(actions.search, {
      findKey: async (...key) => {
        lookedUp.open();
        await gone.passed;
        return findKey(...key);
      },
      receiving: {
        open: () => ({ isOfStranger: false, take: () => {}, close: released.open }),
        vouch: () => {},
      },
    });
    server.server.once('request', (request) => request.once('close', gone.open));
    const authorization = signRequest(consumer, Buffer.from('{}'), { now: new Date() });
    const leaving = send(`${url}/catalog/search`, {
      headers: { authorization, 'content-length': '1000' },
      write: (request) => {
        request.write('{');
        void lookedUp.passed.then(() => request.destroy());
      },
    });
    await expect(leaving).rejects.toThrow();
    await released.passed;
  });

  it('in the middle of its body leaves nothing behind', async () => {
    const { url, server } = await start(actions.search);
    const gone = send(`${url}/catalog/search`, {
      headers: { 'content-length': '1000' },
      write: (request) => {
        request.write('{');
        void takeTime(30).then(() => request.destroy());
      },
    });
    await expect(gone).rejects.toThrow();
    expect(
      (await sendSigned(`${url}/catalog/search`, { from: consumer, body: bodyOf(actions.search) })).status,
    ).toBe(200);
    expect(server.server.listening).toBe(true);
  });
});
