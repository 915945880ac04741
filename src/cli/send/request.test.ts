import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Action, actions } from '../../protocol/actions.ts';
import { fillIn } from '../../protocol/fill-in.ts';
import type { JsonObject } from '../../protocol/json.ts';
import { generateSeed, privateKeyFromSeed } from '../../protocol/keys.ts';
import { parseSignatureHeader, verifySignature } from '../../protocol/request-signature.ts';
import { buildRequest, type Method, prepareDraft } from './request.ts';

const now = new Date('2026-01-01T00:00:00Z');
const privateKey = privateKeyFromSeed(generateSeed());
const self = { subscriberId: 'me.example.com', recordId: 'key-1', privateKey };
const filled = (action: Action, context: JsonObject = {}) =>
  fillIn({ context, message: {} }, { action, id: self.subscriberId, uri: 'http://me.example.com', now })
    .context;

describe('filling in a request', () => {
  it('names us on the side where the action has its caller', () => {
    const ours = { bppId: 'me.example.com', bppUri: 'http://me.example.com' };
    expect(filled(actions.publish, { bppId: 'them', bapId: 'kept' })).toMatchObject({
      ...ours,
      bapId: 'kept',
    });
    expect(filled(actions.push)).toMatchObject(ours);
    for (const action of [actions.pull, actions.discover]) {
      expect(filled(action)).toMatchObject({ bapId: 'me.example.com', bapUri: 'http://me.example.com' });
    }
  });

  it('names us where the action needs no caller only in the place of another', () => {
    expect(filled(actions.search)).not.toHaveProperty('bapId');
    expect(filled(actions.search, { bapId: 'them' })).toMatchObject({ bapId: 'me.example.com' });
    expect(filled(actions.subscribe, { bppUri: 'PLACEHOLDER' })).toMatchObject({
      bppUri: 'http://me.example.com',
    });
  });

  it('gives a fresh message of this moment, in the transaction of the file', () => {
    const old = {
      messageId: 'old',
      transactionId: 'tx',
      timestamp: '2020-01-01T00:00:00Z',
      version: '1',
      ttl: 'PT5S',
    };
    const context = filled(actions.search, old);
    expect(context).toMatchObject({
      transactionId: 'tx',
      timestamp: now.toISOString(),
      version: '2.0.0',
      ttl: 'PT5S',
    });
    expect(context).not.toMatchObject({ messageId: 'old' });
  });

  it('keeps the messageId of a callback: it is that of the request', () => {
    expect(filled(actions.onPublish, { messageId: 'asked', bppId: 'asker' })).toMatchObject({
      action: 'catalog/on_publish',
      messageId: 'asked',
      bppId: 'asker',
    });
  });
});

describe('a request to send', () => {
  const draft = (to: string, method: Method, text = '', more: { action?: string; verbatim?: boolean } = {}) =>
    prepareDraft({ to, method, bytes: Buffer.from(text), ...more });

  it.each([
    ['http://a.example', 'http://a.example/catalog/search'],
    ['http://a.example/', 'http://a.example/catalog/search'],
    ['http://a.example/base/?x=1', 'http://a.example/base/catalog/search?x=1'],
    ['http://a.example/base/catalog/search/', 'http://a.example/base/catalog/search'],
  ])('to %s goes to %s', (to, url) => {
    expect(draft(to, 'POST', '{"context":{"action":"catalog/search"}}').url).toBe(url);
  });

  it('goes to the address as it is where the action is unknown and it is sent verbatim', () => {
    expect(draft('http://a.example/x/', 'POST', 'no JSON', { verbatim: true })).toMatchObject({
      url: 'http://a.example/x/',
      action: undefined,
    });
  });

  it('takes the action that the address names over the one in the file', () => {
    const { action } = draft('http://a.example/discover', 'POST', '{"context":{"action":"catalog/search"}}');
    expect(action?.name).toBe('discover');
  });

  it('is signed over exactly its bytes, without a body for seconds only', () => {
    const read = buildRequest(draft('http://a.example/catalog/subscription', 'GET'), { self, uri: '', now });
    const header = parseSignatureHeader(read.authorization);
    expect(header.expires - header.created).toBe(10);
    expect(read.body).toHaveLength(0);
    const written = buildRequest(draft('http://a.example', 'POST', '{"a": 1}', { verbatim: true }), {
      self,
      uri: '',
      now,
    });
    expect(written.body.toString()).toBe('{"a": 1}');
    const signature = parseSignatureHeader(written.authorization);
    expect(verifySignature(signature, createPublicKey(privateKey), written.body)).toMatchObject({
      subscriberId: 'me.example.com',
      digest: written.digest,
    });
  });
});
