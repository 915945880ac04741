import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { debugSignature, type KnownKeys, type SignatureQuestion } from './debug-signature.ts';
import type { ParticipantRecord } from './registry-record.ts';
import { type SignOptions, signRequest } from './request-signature.ts';

const now = new Date('2026-03-01T12:00:00Z');
const limits = { clockSkewSeconds: 60, maxSignatureSeconds: 7_200 };
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const signer = { subscriberId: 'bap.example.org', recordId: 'key-1', privateKey };
const record = { recordId: 'key-1', subscriberId: 'bap.example.org' } as ParticipantRecord;
const keys: KnownKeys = { lookup: { kind: 'key', publicKey, record }, others: [] };
const body = '{"context":{"action":"discover"},"message":{"intent":{"textSearch":"tée"}}}';

const sign = (text = body, options: Partial<SignOptions> = {}, key = signer) =>
  signRequest(key, Buffer.from(text), { now, ...options });
const debug = (question: Partial<SignatureQuestion>, known = keys) =>
  debugSignature({ header: sign(), body, now, limits, ...question }, known);
const failed = ({ steps }: ReturnType<typeof debug>) => steps.filter(({ ok }) => !ok).map(({ step }) => step);

describe('a signature that holds', () => {
  it('shows every step, the signing string and the digest', () => {
    const { verdict, steps, signingString, digest, hints, differs } = debug({});
    expect([verdict, differs, hints]).toEqual(['holds', undefined, []]);
    expect(steps.map(({ step }) => step)).toEqual([
      ...['header', 'algorithm', 'window', 'digest', 'key', 'signature'],
    ]);
    expect(signingString).toBe(`(created): 1772366400\n(expires): 1772366700\ndigest: ${digest.got}`);
  });

  it.each([
    ['a header line', (value: string) => `Authorization: ${value}`],
    [
      'a whole block',
      (value: string) => `POST /discover HTTP/1.1\r\nHost: a.example\r\nauthorization: ${value}\r\n`,
    ],
  ])('is found in %s', (_, wrap) => {
    expect(debug({ header: wrap(sign()) }).verdict).toBe('holds');
  });

  it('of an answer holds with the header of the request', () => {
    const request = sign('{}');
    const answering = /signature="([^"]+)"$/.exec(request)?.[1];
    const header = sign(body, { answering });
    expect(debug({ header, requestAuthorization: request }).verdict).toBe('holds');
    expect(debug({ header }).differs).toContain('without the Authorization header of that request');
  });
});

describe('the one thing that differs', () => {
  it.each([
    ['a line end was added at its end', `${body}\n`],
    ['it was written again with indentation or spaces', JSON.stringify(JSON.parse(body), null, 2)],
    ['its line ends became CRLF', '{"a":\r\n1}', '{"a":\n1}'],
    ['it was written again without its indentation', body, JSON.stringify(JSON.parse(body), null, 2)],
    [
      'it was written again without the spaces after commas and colons',
      '{"a":1,"b":":,"}',
      '{"a": 1, "b": ":,"}',
    ],
    ['its \\u escapes were written as characters', '{"a":"é"}', '{"a":"\\u00e9"}'],
  ])('is found to be that %s', (change, sent, signed = body) => {
    const found = debug({ header: sign(signed), body: sent });
    expect(found.differs).toBe(`The body is not the one that was signed: ${change}.`);
    expect(failed(found)[0]).toBe('digest');
    expect(found.digest.expected).not.toBe(found.digest.got);
    expect(found.hints[0]).toContain('Sign the bytes that are sent');
  });

  it('is the signature, where one byte of the body is another one and nobody can know which', () => {
    const found = debug({ body: body.replace('discover', 'discoveR') });
    expect([found.verdict, failed(found)]).toEqual(['differs', ['signature']]);
    expect(found.differs).toContain('is not valid for this signing string');
  });

  it('is the digest, where one byte of the body is another one and a Digest header tells what was signed', () => {
    const { got } = debug({}).digest;
    const found = debug({
      header: `Digest: ${got}\nAuthorization: ${sign()}`,
      body: `${body.slice(0, -1)}]`,
    });
    expect(failed(found)).toEqual(['digest', 'signature']);
    expect(found.steps[3]).toMatchObject({ expected: got });
  });

  it('is the signature, where one of its own bytes is another one', () => {
    const header = sign().replace(/signature="(.)/, (_, first) => `signature="${first === 'A' ? 'B' : 'A'}`);
    expect(failed(debug({ header }))).toEqual(['signature']);
  });

  it('is the key of somebody else', () => {
    const header = sign(body, {}, { ...signer, privateKey: other.privateKey });
    const found = debug(
      { header },
      { ...keys, others: [{ name: 'the key key-2', publicKey: other.publicKey }] },
    );
    expect(found.differs).toBe('It was made with the key key-2, not with the key that keyId names.');
  });

  it('is the time', () => {
    const late = debug({ now: new Date(now.getTime() + 3_600_000) });
    expect([failed(late), late.differs]).toEqual([['window'], 'The signature has expired.']);
    expect(debug({ now: new Date(now.getTime() - 3_600_000) }).differs).toContain('created in the future');
  });

  it('is a key that the registry does not have', () => {
    const found = debug({}, { lookup: { kind: 'unknown-key' }, others: [] });
    expect(failed(found)).toEqual(['key', 'signature']);
    expect(found.differs).toContain('no key key-1 of bap.example.org');
  });

  it('is a line that the header does not tell of', () => {
    const header = sign(body, { answering: 'abc' }).replace(' request-signature', '');
    const found = debug({ header, requestAuthorization: 'abc' });
    expect(found.differs).toContain('over four lines');
  });
});

describe('the cost of a diagnosis', () => {
  const rewritten = JSON.stringify(JSON.parse(body), null, 2);
  const otherKey = { name: 'the key key-2', publicKey: other.publicKey };
  const byOther = { ...signer, privateKey: other.privateKey };

  it('is bounded: variants of the body are tried with the claimed key alone', () => {
    const header = sign(body, {}, byOther);
    expect(debug({ header, body: rewritten }, { ...keys, others: [otherKey] }).differs).toContain(
      'is not valid for this signing string',
    );
  });

  it('is bounded: of other keys the first 20 are tried', () => {
    const header = sign(body, {}, byOther);
    const strangers = Array.from({ length: 20 }, () => ({ name: 'a stranger', publicKey }));
    const differs = (others: KnownKeys['others']) => debug({ header }, { ...keys, others }).differs;
    expect(differs([...strangers.slice(1), otherKey])).toContain('the key key-2');
    expect(differs([...strangers, otherKey])).toContain('is not valid for this signing string');
  });

  it.each([
    ['500,000 nested arrays', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['a string without an end', `"${'\\"'.repeat(500_000)}`],
    ['wide arrays nested 900 deep', `${'['.repeat(900)}${'1,'.repeat(400_000)}1${']'.repeat(900)}`],
  ])('is bounded for %s', (_, nested) => {
    expect(debug({ body: nested }).verdict).toBe('differs');
    expect(debug({ header: sign(nested), body: `${nested}\n` }).differs).toContain('a line end was added');
  });

  it('does not keep members from being sorted that are nested less than 100 deep', () => {
    const nest = (text: string) => `${'['.repeat(50)}${text}${']'.repeat(50)}`;
    const header = sign(nest('{"a":1,"b":2}'));
    expect(debug({ header, body: nest('{"b":2,"a":1}') }).differs).toContain('put into another order');
  });
});

describe('a header that cannot be read', () => {
  it.each([
    ['nonsense', 'does not begin with "Signature "'],
    ['Signature keyId="a|b|ed25519"', 'lacks algorithm, created'],
    [sign().replace('|ed25519', ''), 'keyId must be'],
    [sign().replaceAll('="ed25519"', '="rsa"'), 'algorithm is rsa'],
    [sign().replace(/signature="[^"]*"/, 'signature="AAAA"'), 'Base64 of 64 bytes'],
    [sign().replaceAll('",', '", '), 'in this order'],
  ])('%s', (header, why) => {
    const found = debug({ header });
    expect([found.verdict, found.differs]).toEqual(['unreadable', expect.stringContaining(why)]);
  });
});
