import { describe, expect, it } from 'vitest';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { createAwaitedCallbacks } from './awaited-callbacks.ts';
import type { ReceivedMessage } from './verify-request.ts';

const digest = bodyDigest(Buffer.from('the request'));
const request = { messageId: 'message-1', callback: 'on_discover', digest };

function callback(change: { signer?: string; digest?: string; messageId?: string } = {}): ReceivedMessage {
  const context = {
    messageId: change.messageId ?? 'message-1',
    requestDigest: { digest: change.digest ?? digest },
  };
  const signer = change.signer ?? 'discovery.example.org/subscribers.beckn.one';
  return { action: 'on_discover', signer, context, message: { catalogs: [] } } as unknown as ReceivedMessage;
}

describe('a callback', () => {
  it('goes to the call that waits for it, and is taken again where its acknowledgement was lost', async () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    expect(awaited.accept(callback())).toBe(true);
    expect((await call.wait(1_000)).signer).toBe('discovery.example.org/subscribers.beckn.one');
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

  it('is told to have come, and why it was refused, where none was accepted', async () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    const { messageId, callback: action } = request;
    awaited.noteRefusal({ messageId: 'message-2', action, reason: 'of another call' });
    awaited.noteRefusal({ messageId, action: 'catalog/push', reason: 'of another action' });
    await expect(call.wait(1)).rejects.toThrow(/^No \S+ came within 1 ms\.$/);
    awaited.noteRefusal({ messageId, action, reason: 'The registry cannot be asked.' });
    await expect(call.wait(1)).rejects.toThrow(
      /^No \S+ was accepted within 1 ms\. The last one was refused: The registry cannot be asked\.$/,
    );
  });

  it('is refused with the digest of another request, and from another than was asked', () => {
    const awaited = createAwaitedCallbacks();
    const call = awaited.expect(request);
    const other = callback({ digest: bodyDigest(Buffer.from('another')) });
    expect(() => awaited.accept(other)).toThrow('the digest of another request');
    call.setAsked('discovery.example.org/subscribers.beckn.one');
    const foreign = callback({ signer: 'somebody.example.org/subscribers.beckn.one' });
    expect(() => awaited.accept(foreign)).toThrow('was asked, not somebody.example.org');
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
