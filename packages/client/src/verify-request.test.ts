import { describe, expect, it } from 'vitest';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../../src/protocol/keys.ts';
import { signRequest } from '../../../src/protocol/request-signature.ts';
import callbacks from '../../../vectors/callbacks.json' with { type: 'json' };
import keyring from '../../../vectors/keys.json' with { type: 'json' };
import { verifyRequest } from './index.ts';

// The callbacks of vectors/, as received by a participant that knows its requests.

interface ReceivedCallback {
  body: string;
  authorization: string;
  sent: string[];
  at: number;
}

describe('verifyRequest, held against the vectors of callbacks,', () => {
  const verify = ({ body, authorization, sent, at }: ReceivedCallback) =>
    verifyRequest(
      Buffer.from(body),
      { authorization },
      {
        resolveKey: ({ subscriberId, keyId }) =>
          keyring.keys.find((key) => key.subscriberId === subscriberId && key.recordId === keyId)?.publicKey,
        findSent: () => sent,
        now: new Date(at * 1_000),
      },
    );

  it.each(callbacks.accept)('takes $name', async (callback) => {
    const { signer, keyId, chained } = await verify(callback);
    const { subscriberId, recordId } = callback;
    expect({ keyId, chained }).toEqual({ keyId: recordId, chained: callback.chained });
    expect(signer).toBe(`${subscriberId}/subscribers.beckn.one`);
  });

  // Without the request, another one's digest in requestDigest cannot be detected: a Signpost refuses it.
  it.each(callbacks.refuse.filter(({ code }) => code.startsWith('AUT_')))(
    'refuses $name',
    async (callback) => {
      await expect(verify(callback)).rejects.toMatchObject({ code: callback.code });
    },
  );
});

describe('verifyRequest of a push', () => {
  const privateKey = privateKeyFromSeed(generateSeed());
  const key = { subscriberId: 'catalog.example.org', recordId: 'key-1', privateKey };

  function verifyPush(sender: object) {
    const now = new Date();
    const context = {
      ...{ version: '2.0.0', action: 'catalog/push', messageId: 'm', transactionId: 't' },
      ...{ timestamp: now.toISOString(), ...sender },
    };
    const provider = { id: 'p', descriptor: { name: 'P' } };
    const catalog = { id: 'c', descriptor: { name: 'C' }, provider, resources: [{ id: 'r' }] };
    const body = Buffer.from(JSON.stringify({ context, message: { catalogs: [catalog] } }));
    const headers = { authorization: signRequest(key, body, { now }) };
    return verifyRequest(body, headers, { resolveKey: () => publicKeyOf(privateKey) });
  }

  it('whose context leaves out its sender names the signer', async () => {
    expect((await verifyPush({})).context).toMatchObject({ bppId: 'catalog.example.org' });
  });

  it('AUT_UNAUTHORIZED_ACTION: whose context names somebody else', async () => {
    await expect(verifyPush({ bppId: 'x.example.org' })).rejects.toMatchObject({
      code: 'AUT_UNAUTHORIZED_ACTION',
    });
  });
});
