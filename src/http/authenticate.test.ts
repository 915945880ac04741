import { EventEmitter, once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  bodyOf,
  closeAll,
  consumer,
  limitsWith,
  provider,
  publish,
  service,
  start,
} from '../../tests/support/network/signed-actions.ts';
import { sendSigned } from '../../tests/support/network/signed-service.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { chainValues, parseSignatureHeader, signRequest } from '../protocol/request-signature.ts';

afterEach(closeAll);

describe('while another request is worked on', () => {
  it('each of those that come together is judged by its own signature', async () => {
    const gate = new EventEmitter();
    let handled = 0;
    const { url } = await start(actions.publish, {}, async (request) => {
      handled += 1;
      if (handled === 1) await once(gate, 'opened');
      return { status: 200, body: ack(request.context.messageId) };
    });
    const worked = publish(url);
    await vi.waitFor(() => expect(handled).toBe(1));
    const pretender = { ...provider, privateKey: consumer.privateKey };
    const answers = await Promise.all(
      [provider, pretender, provider, pretender].map((from) => publish(url, { from })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401]);
    expect(answers[1]?.json.message?.error?.code).toBe('AUT_SIGNATURE_INVALID');
    expect(handled).toBe(3);
    gate.emit('opened');
    expect((await worked).status).toBe(200);
  });
});

describe('a callback', () => {
  const authorizations = ['{}', '{ }'].map((sent) =>
    signRequest(service, Buffer.from(sent), { now: new Date() }),
  );
  const [original = '', repeated = ''] = authorizations.map((value) => parseSignatureHeader(value).signature);
  const body = bodyOf(actions.onPublish, { messageId: 'm-1' }, { results: [] });
  const findSentRequest = async (messageId: string) =>
    messageId === 'm-1' ? authorizations.flatMap(chainValues) : [];
  const chainedTo = async (url: string, answering: string | undefined, text = body) =>
    await sendSigned(`${url}/catalog/on_publish`, { from: provider, body: text, answering });

  it('verifies against any attempt at the request that it answers', async () => {
    let chained: boolean | undefined;
    const { url } = await start(actions.onPublish, { findSentRequest }, async (request) => {
      chained = request.chained;
      return { status: 200, body: ack(request.context.messageId) };
    });
    expect((await chainedTo(url, original)).status).toBe(200);
    expect((await chainedTo(url, repeated)).status).toBe(200);
    expect(chained).toBe(true);
  });

  it('may name any attempt at the request by its whole Authorization value, byte for byte', async () => {
    const { url } = await start(actions.onPublish, {
      findSentRequest,
      limits: limitsWith({ requireCallbackChain: true }),
    });
    for (const authorization of authorizations) {
      expect((await chainedTo(url, authorization)).status).toBe(200);
      for (const altered of [`${authorization} `, authorization.slice(10), authorization.toLowerCase()])
        expect((await chainedTo(url, altered)).status).toBe(401);
    }
  });

  it('that answers another request, one that is not known, or an unreadable one fails', async () => {
    const { url } = await start(actions.onPublish, { findSentRequest });
    const foreign = parseSignatureHeader(
      signRequest(provider, Buffer.from('x'), { now: new Date() }),
    ).signature;
    expect((await chainedTo(url, foreign)).status).toBe(401);
    const unknown = bodyOf(actions.onPublish, { messageId: 'm-2' }, { results: [] });
    expect((await chainedTo(url, original, unknown)).json.message?.error?.code).toBe('AUT_SIGNATURE_INVALID');
    expect((await chainedTo(url, original, 'not json')).json.message?.error?.code).toBe(
      'AUT_SIGNATURE_INVALID',
    );
  });

  it('without the chain is accepted, unless the operator requires it', async () => {
    const lenient = await start(actions.onPublish, { findSentRequest });
    expect((await chainedTo(lenient.url, undefined)).status).toBe(200);
    const strict = await start(actions.onPublish, {
      findSentRequest,
      limits: limitsWith({ requireCallbackChain: true }),
    });
    expect((await chainedTo(strict.url, undefined)).json.message?.error?.code).toBe('AUT_SIGNATURE_INVALID');
    expect((await chainedTo(strict.url, original)).status).toBe(200);
  });

  it('need not be from whom its context names: the request echoes there', async () => {
    const { url } = await start(actions.onPublish, { findSentRequest });
    const echoed = bodyOf(actions.onPublish, { messageId: 'm-1', bppId: 'x.example.org' }, { results: [] });
    expect((await chainedTo(url, original, echoed)).status).toBe(200);
  });

  it('form of signature is not for requests, push included', async () => {
    for (const action of [actions.publish, actions.push]) {
      const { url } = await start(action, { findSentRequest });
      const answer = await sendSigned(`${url}${action.path}`, {
        from: provider,
        body: bodyOf(action),
        answering: original,
      });
      expect(answer.json.message?.error?.code).toBe('AUT_SIGNATURE_INVALID');
    }
  });
});
