import { describe, expect, it } from 'vitest';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { createAwaitedCallbacks } from './awaited-callbacks.ts';
import type { ReceivedMessage } from './verify-request.ts';

const digest = bodyDigest(Buffer.from('the request'));
const asked = 'discovery.example.org/subscribers.beckn.one';
const service = { url: 'https://discovery.example.org/beckn', identity: asked };
const request = { messageId: 'message-1', callback: 'on_discover', digest, service };

interface Change {
  signer?: string;
  signerUrl?: string;
  digest?: string;
  messageId?: string;
}

function callback(change: Change = {}): ReceivedMessage {
  const context = {
    messageId: change.messageId ?? 'message-1',
    requestDigest: { digest: change.digest ?? digest },
  };
  const { signer = asked, signerUrl } = change;
  const message = { catalogs: [] };
  return { action: 'on_discover', signer, signerUrl, context, message } as unknown as ReceivedMessage;
}

const somebody = 'somebody.example.org/subscribers.beckn.one';

describe('a callback', () => {
  it('goes to the call that waits for it, and is taken again where its acknowledgement was lost', async () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    call.acknowledge(undefined);
    expect(awaited.accept(callback())).toBe(true);
    expect((await call.wait(1_000)).signer).toBe(asked);
    call.done();
    expect(awaited.accept(callback())).toBe(true);
  });

  it('belongs to no call where no request has its messageId, and where the call has given up', async () => {
    const awaited = createAwaitedCallbacks();
    expect(awaited.accept(callback({ messageId: 'another' }))).toBe(false);
    const call = awaited.expect(request);
    await expect(call.wait(1)).rejects.toMatchObject({ code: 'NET_TIMEOUT', messageId: 'message-1' });
    call.done();
    expect(awaited.accept(callback())).toBe(false);
  });

  it('that comes after the call has given up belongs to no call, however often it is sent', async () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    call.acknowledge(undefined);
    await expect(call.wait(1)).rejects.toMatchObject({ code: 'NET_TIMEOUT' });
    call.done();
    expect(awaited.accept(callback())).toBe(false);
    expect(awaited.accept(callback())).toBe(false);
  });

  it('is told to have come, and why it was refused, where none was accepted', async () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    const { messageId, callback: action } = request;
    awaited.noteRefusal({ messageId: 'message-2', action, reason: 'of another call' });
    awaited.noteRefusal({ messageId, action: 'catalog/push', reason: 'of another action' });
    await expect(call.wait(1)).rejects.toThrow(/^No \S+ came within 1 ms\.$/);
    awaited.noteRefusal({ messageId, action, reason: 'The registry cannot be queried.' });
    await expect(call.wait(1)).rejects.toThrow(
      /^No \S+ was accepted within 1 ms\. The last one was refused: The registry cannot be queried\.$/,
    );
  });

  it('is refused with the digest of another request, and from another than was asked', () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    const other = callback({ digest: bodyDigest(Buffer.from('another')) });
    expect(() => awaited.accept(other)).toThrow('the digest of another request');
    const foreign = callback({ signer: somebody });
    for (const acknowledged of [false, true]) {
      if (acknowledged) call.acknowledge(undefined);
      expect(() => awaited.accept(foreign)).toThrow(`${asked} was asked, not ${somebody}.`);
    }
  });

  it('to a request that was sent to an address alone is that of a participant who is registered there', () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect({ ...request, service: { url: service.url } });
    call.acknowledge(undefined);
    for (const signerUrl of [
      undefined,
      'no address',
      'https://somebody.example.org',
      'http://discovery.example.org',
    ])
      expect(() => awaited.accept(callback({ signerUrl }))).toThrow('Ask it at its registered address');
    expect(awaited.accept(callback({ signerUrl: 'https://discovery.example.org/other' }))).toBe(true);
  });

  it('that comes before the acknowledgement waits for it, and for who has signed it', async () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect({ ...request, service: { url: service.url } });
    const signerUrl = 'https://discovery.example.org';
    for (const signer of [somebody, asked])
      expect(awaited.accept(callback({ signer, signerUrl }))).toBe(true);
    await expect(call.wait(1)).rejects.toMatchObject({ code: 'NET_TIMEOUT' });
    call.acknowledge(asked);
    expect((await call.wait(1_000)).signer).toBe(asked);
    expect(() => awaited.accept(callback({ signer: somebody, signerUrl }))).toThrow('was asked, not');
  });

  it('may name any attempt at its request', () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    for (const authorization of ['first', 'second']) call.addAttempt(authorization);
    expect(awaited.findSent('message-1')).toEqual(['first', 'second']);
    expect(awaited.findSent('another')).toEqual([]);
  });

  it('is waited for no longer once the client is closed', async () => {
    const awaited = createAwaitedCallbacks();
    const waiting = awaited.expect(request).wait(60_000);
    awaited.close();
    await expect(waiting).rejects.toMatchObject({ code: 'NET_CALLBACK_FAILED' });
  });
});
