import { describe, expect, it } from 'vitest';
import { parsePublicKey, privateKeyFromSeed, publicKeyOf } from './keys.ts';
import {
  parseSignatureHeader,
  signRequest,
  verifySignature,
  verifySignatureInThread,
} from './request-signature.ts';

const privateKey = privateKeyFromSeed('TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs='); // RFC 8032, TEST 2
const publicKey = parsePublicKey(publicKeyOf(privateKey));
const key = { subscriberId: 'bpp.example.com/nodes', recordId: 'key-1', privateKey };
const now = new Date('2026-01-02T03:04:05.678Z');
const body = Buffer.from('{"context":{},"message":{}}');

describe('verifySignatureInThread', () => {
  const header = parseSignatureHeader(signRequest(key, body, { now }));
  const answer = parseSignatureHeader(signRequest(key, body, { now, answering: header.signature }));
  const otherLabel = {
    ...header,
    signature: '683OeSsjcYM9Krh1tEVL1ba6LeK+Xma3Ni+90bwF1zOMp/77e2fooWNRIpZgmSUM10X5YfkMrbiVvnQExZRUAw==',
  };

  it.each<[string, Parameters<typeof verifySignature>]>([
    ['a request', [header, publicKey, body]],
    ['a digest under its other label', [otherLabel, publicKey, body]],
    ['an answer', [answer, publicKey, body, header.signature]],
  ])('accepts %s as verifySignature does', async (_, signed) => {
    expect(await verifySignatureInThread(...signed)).toEqual(verifySignature(...signed));
  });

  it.each<[string, Parameters<typeof verifySignature>]>([
    ['another body', [header, publicKey, Buffer.from('{}')]],
    ['an answer to a request that is not known', [answer, publicKey, body]],
    ['an answer to another request', [answer, publicKey, body, otherLabel.signature]],
  ])('refuses %s', async (_, signed) => {
    await expect(verifySignatureInThread(...signed)).rejects.toMatchObject({ code: 'AUT_SIGNATURE_INVALID' });
  });
});
