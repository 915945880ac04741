import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../protocol/keys.ts';
import type { ParticipantRecord } from '../../protocol/registry-record.ts';
import { keyNamesOf } from './signer.ts';

function key(recordId: string) {
  const privateKey = privateKeyFromSeed(generateSeed());
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  const record = { recordId, signingPublicKey: publicKeyOf(privateKey) } as ParticipantRecord;
  return { record, as: (kid: string) => ({ kid, kty: 'OKP', crv: 'Ed25519', x: x ?? '' }) };
}

describe('the names that a manifest gives to keys', () => {
  const [one, other, unknown] = [key('key-1'), key('key-2'), key('key-3')];
  const records = [one.record, other.record];

  it('stand for the registry’s own where the key is the same', () => {
    expect(keyNamesOf({ keys: [one.as('2026-a'), other.as('key-2')] }, records)).toEqual(
      new Map([['2026-a', 'key-1']]),
    );
  });

  it('stand for nothing where the registry does not know the key, or knows another one by that name', () => {
    expect(keyNamesOf({ keys: [unknown.as('2026-b'), one.as('key-2')] }, records)).toEqual(new Map());
  });

  it('stand for nothing where the key is of small order, although the registry has it too', () => {
    const weak = Buffer.alloc(32).toString('base64url');
    const weakRecord = { recordId: 'key-4', signingPublicKey: weak } as ParticipantRecord;
    const keys = [{ kid: '2026-c', kty: 'OKP', crv: 'Ed25519', x: weak }];
    expect(keyNamesOf({ keys }, [weakRecord])).toEqual(new Map());
  });

  it.each([undefined, null, 'keys', [null], [{}], [{ kid: 1, x: 2 }], [{ kid: 'k', x: 'no key' }]])(
    'are none in %j',
    (keys) => {
      expect(keyNamesOf({ ...(keys !== undefined && { keys }) }, records)).toEqual(new Map());
      expect(keyNamesOf({}, [{ ...one.record, signingPublicKey: undefined }])).toEqual(new Map());
    },
  );
});
