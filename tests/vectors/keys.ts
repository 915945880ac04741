import { createHash, createPublicKey } from 'node:crypto';
import { privateKeyFromSeed, publicKeyOf, type SigningKey } from '../../src/protocol/keys.ts';

// vectors/keys.json: the participants of all vectors, as the identity registry knows them. Their seeds are public, so use them only in tests.

const participants = {
  provider: { subscriberId: 'bpp.example.com/subscribers.beckn.one', recordId: 'key-1', state: 'live' },
  catalog: { subscriberId: 'catalog.example.org', recordId: 'key-1', state: 'live' },
  discovery: { subscriberId: 'discovery.example.org', recordId: 'key-2026', state: 'live' },
  consumer: { subscriberId: 'bap.example.net', recordId: 'key-1', state: 'live' },
  publisher: { subscriberId: 'files.example.com', recordId: 'key-1', state: 'live' },
  revoked: { subscriberId: 'bpp.example.com/subscribers.beckn.one', recordId: 'key-0', state: 'revoked' },
} as const;

export type ParticipantName = keyof typeof participants;

export function keyOf(name: ParticipantName): SigningKey {
  const { subscriberId, recordId } = participants[name];
  return { subscriberId, recordId, privateKey: privateKeyFromSeed(seedOf(name)) };
}

function seedOf(name: string): string {
  return createHash('sha256').update(`signpost vectors: ${name}`).digest('base64');
}

export function keyVectors() {
  return {
    about:
      'The keys of all vectors, as the identity registry knows them. A seed is the private key: 32 bytes in Base64. The other members are the public key in the forms that registries hold.',
    keys: Object.entries(participants).map(([name, participant]) => ({
      name,
      ...participant,
      ...publicForms(seedOf(name)),
    })),
    ed25519: [
      {
        name: 'RFC 8032 7.1 TEST 2',
        seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
        publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
        message: '72',
        signature:
          '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      },
    ],
    refuse: [
      ...smallOrder.map((hex) => ({
        name: `a point of small order: ${hex}`,
        publicKey: fromHex(hex),
        code: 'AUT_KEY_NOT_FOUND',
        reason: 'Anybody can make signatures that verify with it, without a private key.',
      })),
      ...otherSpellings.map((hex) => ({
        name: `another spelling of a point of small order: ${hex}`,
        publicKey: fromHex(hex),
        code: 'AUT_KEY_NOT_FOUND',
        reason: 'RFC 8032, 5.1.3 refuses to decode it; a decoder that does not sees a point of small order.',
      })),
      {
        name: 'a y coordinate that is not below 2^255 - 19',
        publicKey: fromHex(`${'ff'.repeat(31)}7f`),
        code: 'AUT_KEY_NOT_FOUND',
        reason: 'RFC 8032, 5.1.3: it is another spelling of a smaller coordinate.',
      },
      {
        name: '31 bytes',
        publicKey: Buffer.alloc(31, 7).toString('base64'),
        code: 'AUT_KEY_NOT_FOUND',
        reason: 'An Ed25519 public key has 32 bytes.',
      },
    ],
  };
}

function publicForms(seed: string) {
  const privateKey = privateKeyFromSeed(seed);
  const publicKey = createPublicKey(privateKey);
  return {
    seed,
    publicKey: publicKeyOf(privateKey),
    spki: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    pem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    jwk: publicKey.export({ format: 'jwk' }),
  };
}

/** The eight points whose order divides 8, as libsodium lists them. */
const smallOrder = [
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '00'.repeat(32),
  `${'00'.repeat(31)}80`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
];

/** With a sign where x is 0, and with coordinates of 2^255 - 19 and 2^255 - 18. */
const otherSpellings = [
  `01${'00'.repeat(30)}80`,
  `ec${'ff'.repeat(31)}`,
  `ed${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(31)}`,
  `ee${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(31)}`,
];

function fromHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}
