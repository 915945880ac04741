import { sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import keys from '../../vectors/keys.json' with { type: 'json' };
import made from '../../vectors/signed-files.json' with { type: 'json' };
import { canonicalJson, goCanonicalJson } from './canonical-json.ts';
import { signJws } from './detached-jws.ts';
import { type JsonObject, parseJson } from './json.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from './keys.ts';
import { claimedKeyOf, proveDocument, signDocument, signedBytes, verifyDocument } from './signed-document.ts';

const privateKey = privateKeyFromSeed(generateSeed());
const publicKey = parsePublicKey(publicKeyOf(privateKey));
const key = { subscriberId: 'node.example/nodes', recordId: 'key-1', privateKey };
const entry = {
  catalogId: 'node.example/c1',
  entryVersion: 3,
  isActive: true,
  baseline: { version: 7, size: 10 },
};
const madeKey = parsePublicKey(keys.keys.find(({ name }) => name === 'publisher')?.publicKey ?? '');
const invalid = expect.objectContaining({ code: 'AUT_SIGNATURE_INVALID' });

const received = (document: object): JsonObject =>
  parseJson(Buffer.from(JSON.stringify(document))) as JsonObject;
const bare = (text: string) => sign(null, Buffer.from(text), privateKey);

describe('signDocument', () => {
  it('writes a detached JWS that names its key, in the profile of the spec', () => {
    const signed = signDocument(entry, key, 'spec');
    expect(signed).toEqual({
      ...entry,
      signature: signJws(Buffer.from(canonicalJson(entry)), { privateKey, kid: 'key-1' }),
    });
  });

  it("writes an object signature over Go's form in the profile nfh014", () => {
    const special = { ...entry, catalogId: 'tea & <scones>' };
    const signed = signDocument(special, key, 'nfh014');
    const value = bare(goCanonicalJson(special)).toString('base64');
    expect(signed.signature).toEqual({ keyId: 'key-1', canonicalization: 'JCS', value });
    expect(verifyDocument(received(signed), publicKey)).toBe('key-1');
  });

  it('replaces an earlier signature', () => {
    const again = signDocument(signDocument(entry, key, 'nfh014'), key, 'spec');
    expect(again).toEqual(signDocument(entry, key, 'spec'));
  });

  it('signs what JSON keeps: members without a value are not there', () => {
    const signed = signDocument({ ...entry, retiredAt: undefined }, key, 'spec');
    expect(verifyDocument(received(signed), publicKey)).toBe('key-1');
  });
});

describe('proveDocument', () => {
  it('names the key beside a JWS with exactly three members in its header', () => {
    const { proof } = proveDocument({ type: 'dedi-manifest', domain: 'node.example' }, key);
    expect(proof).toMatchObject({ verification_method: 'key-1', canonicalization: 'JCS' });
    expect(Buffer.from(proof.jws.split('.')[0] ?? '', 'base64url').toString()).toBe(
      '{"alg":"EdDSA","b64":false,"crit":["b64"]}',
    );
  });
});

describe('verifyDocument', () => {
  it.each([
    ['the profile of the spec', signDocument(entry, key, 'spec')],
    ['the profile nfh014', signDocument(entry, key, 'nfh014')],
    ['a proof', proveDocument(entry, key)],
  ])('says who signed, and refuses every change of a member: %s', (_, signed) => {
    const document = received(signed);
    expect(claimedKeyOf(document)).toBe('key-1');
    expect(verifyDocument(document, publicKey)).toBe('key-1');
    const changes: JsonObject[] = [
      { catalogId: 'node.example/c2' },
      { entryVersion: 4 },
      { isActive: 'true' },
      { baseline: { version: 7, size: 11 } },
      { added: null },
    ];
    for (const change of changes) {
      expect(() => verifyDocument({ ...document, ...change }, publicKey)).toThrow(invalid);
    }
    const { isActive: __, ...less } = document;
    expect(() => verifyDocument(less, publicKey)).toThrow(invalid);
  });

  it('holds for any JSON object in both profiles and any order of members', () => {
    const documents = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(documents, fc.constantFrom('spec' as const, 'nfh014' as const), (drawn, profile) => {
        fc.pre(!/\\u0000/.test(JSON.stringify(drawn)) && !('signature' in drawn) && !('proof' in drawn));
        const signed = received(signDocument(drawn, key, profile));
        const turned = Object.fromEntries(Object.entries(signed).reverse());
        expect(verifyDocument(turned, publicKey)).toBe('key-1');
      }),
    );
  });

  it('covers members that we do not know', () => {
    const signed = received(signDocument({ ...entry, 'x-extra': { deep: [1] } }, key, 'spec'));
    expect(() => verifyDocument({ ...signed, 'x-extra': { deep: [2] } }, publicKey)).toThrow(invalid);
  });

  it('keeps the signatures of what a document contains among its signed bytes', () => {
    const index = { nodeId: 'node.example', catalogs: [signDocument(entry, key, 'spec')] };
    expect(signedBytes(received(signDocument(index, key, 'spec'))).toString()).toContain('"signature":"');
  });

  it.each(made.accept)('reads $name', ({ document }) => {
    expect(() => verifyDocument(received(document), madeKey)).not.toThrow();
  });

  it.each([
    ['object signature', (text: string) => ({ keyId: 'k', value: bare(text).toString('base64') })],
    ['JWS', (text: string) => signJws(Buffer.from(text), { privateKey, kid: 'k' })],
  ])("accepts the form of Go's encoder where RFC 8785 does not verify: %s", (_, signatureOf) => {
    const content: JsonObject = { name: 'Salt & <Pepper>', '\u{1f600}': -0, '\ufb33': 1 };
    expect(goCanonicalJson(content)).not.toBe(canonicalJson(content));
    const document = { ...content, signature: signatureOf(goCanonicalJson(content)) };
    expect(verifyDocument(document, publicKey)).toBe('k');
    expect(() => verifyDocument({ ...document, name: 'Salt' }, publicKey)).toThrow(invalid);
  });

  it.each(made.refuse.filter(({ code }) => /^signature-/.test(code)))(
    'refuses $name',
    ({ document, code }) => {
      const expected = code === 'signature-missing' ? 'AUT_SIGNATURE_MISSING' : 'AUT_SIGNATURE_INVALID';
      expect(() => verifyDocument(received(document), madeKey)).toThrow(
        expect.objectContaining({ code: expected }),
      );
    },
  );
});
