import { sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

  it('reads an object signature in Base64 or base64url, with or without padding', () => {
    const signature = bare(canonicalJson(entry));
    const padded = signature.toString('base64url').padEnd(88, '=');
    for (const value of [signature.toString('base64'), signature.toString('base64url'), padded]) {
      expect(verifyDocument({ ...entry, signature: { keyId: 'k', value } }, publicKey)).toBe('k');
    }
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

  it('refuses a proof whose JWS names a key too', () => {
    const jws = signJws(Buffer.from(canonicalJson(entry)), { privateKey, kid: 'other' });
    const document = { ...entry, proof: { verification_method: 'key-1', jws } };
    expect(() => verifyDocument(document, publicKey)).toThrow(invalid);
  });

  it('refuses a JWS that does not name its key', () => {
    const signature = signJws(Buffer.from(canonicalJson(entry)), { privateKey });
    expect(() => verifyDocument({ ...entry, signature }, publicKey)).toThrow(invalid);
  });

  it('refuses a document that is signed twice', () => {
    const both = { ...received(signDocument(entry, key, 'spec')), proof: proveDocument(entry, key).proof };
    expect(() => verifyDocument(both, publicKey)).toThrow(invalid);
  });

  it('tells a missing signature from a bad one', () => {
    expect(() => verifyDocument(entry, publicKey)).toThrow(
      expect.objectContaining({ code: 'AUT_SIGNATURE_MISSING' }),
    );
  });

  it.each([
    ['null', null],
    ['a number', 1],
    ['an array', []],
    ['empty text', ''],
    ['no keyId', { value: bare('x').toString('base64') }],
    ['an empty keyId', { keyId: '', value: bare('x').toString('base64') }],
    ['no value', { keyId: 'k' }],
    ['a short value', { keyId: 'k', value: 'AAAA' }],
    ['a value that is no Base64', { keyId: 'k', value: '!'.repeat(88) }],
  ])('refuses a signature that is %s', (_, signature) => {
    expect(() => verifyDocument({ ...entry, signature } as JsonObject, publicKey)).toThrow(invalid);
  });

  it('refuses another key', () => {
    const other = parsePublicKey(publicKeyOf(privateKeyFromSeed(generateSeed())));
    expect(() => verifyDocument(received(signDocument(entry, key, 'spec')), other)).toThrow(invalid);
  });
});
