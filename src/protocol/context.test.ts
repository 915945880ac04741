import { describe, expect, it } from 'vitest';
import { sampleContext } from '../../tests/support/catalogs/sample-messages.ts';
import { actions } from './actions.ts';
import { AnswerContext, answerContext, Context, callbackContext } from './context.ts';
import { validator } from './validate.ts';

describe('the context of a synchronous answer', () => {
  it('echoes version, messageId, transactionId and timestamp of the request, and nothing else', () => {
    const request = sampleContext(actions.search);
    const { version, messageId, transactionId, timestamp } = request;
    const answer = answerContext('catalog/on_search', request);
    expect(answer).toEqual({ version, action: 'catalog/on_search', messageId, transactionId, timestamp });
    expect(validator(AnswerContext)(answer)).toBe(answer);
  });
});

describe('the context of a callback', () => {
  const request = { ...sampleContext(actions.discover), networkId: 'a/b', domain: 'kept' };
  const answer = {
    now: new Date('2026-03-01T12:00:05Z'),
    requestDigest: 'BLAKE-512=b6lf6lRgOweajukcvcLsag==',
  };

  it('echoes the request with its own action, a new timestamp and the digest of the request', () => {
    expect(callbackContext('on_discover', request, answer)).toEqual({
      ...request,
      action: 'on_discover',
      timestamp: '2026-03-01T12:00:05.000Z',
      requestDigest: { digest: answer.requestDigest },
    });
  });

  it('names the discovery service where it answers', () => {
    const sender = { bppId: 'ds.example.org', bppUri: 'https://ds.example.org' };
    const context = callbackContext('on_discover', request, { ...answer, sender });
    expect(context).toMatchObject(sender);
    expect(validator(Context)(context)).toBe(context);
  });
});
