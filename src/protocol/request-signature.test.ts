import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import made from '../../vectors/requests.json' with { type: 'json' };
import { ProtocolError } from './errors.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from './keys.ts';
import {
  checkSignatureWindow,
  parseSignatureHeader,
  type SignatureHeader,
  signRequest,
  verifySignature,
} from './request-signature.ts';

const privateKey = privateKeyFromSeed('TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs='); // RFC 8032, TEST 2
const publicKey = parsePublicKey(publicKeyOf(privateKey));
const key = { subscriberId: 'bpp.example.com/nodes', recordId: 'key-1', privateKey };
const now = new Date('2026-01-02T03:04:05.678Z');
const body = Buffer.from('{"context":{},"message":{}}');

const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof ProtocolError) return error.code;
    throw error;
  }
  return 'accepted';
};

describe('the published signature vector', () => {
  it('verifies', () => {
    const published = made.accept.find(({ publicKey }) => publicKey !== undefined);
    const signer = verifySignature(
      parseSignatureHeader(published?.authorization ?? ''),
      parsePublicKey(published?.publicKey ?? ''),
      Buffer.from(published?.body ?? ''),
    );
    expect(signer).toEqual({
      subscriberId: 'bap.stayhalo.in',
      recordId: '207',
      digest:
        'BLAKE-512=b6lf6lRgOweajukcvcLsagQ2T60+85kRh/Rd2bdS+TG/5ALebOEgDJfyCrre/1+BMu5nA94o4DT3pTFXuUg7sw==',
    });
  });
});

describe('signRequest', () => {
  it('writes the template of the spec, valid for five minutes from this second', () => {
    expect(signRequest(key, body, { now })).toMatch(
      /^Signature keyId="bpp\.example\.com\/nodes\|key-1\|ed25519",algorithm="ed25519",created="1767323045",expires="1767323345",headers="\(created\) \(expires\) digest",signature="[A-Za-z0-9+/]{86}=="$/,
    );
  });

  it('signs for as long as it is told', () => {
    const { created, expires } = parseSignatureHeader(signRequest(key, body, { now, lifetimeSeconds: 60 }));
    expect(expires - created).toBe(60);
  });

  it('makes what verifySignature accepts, with and without a request that it answers, for any body and time', () => {
    const time = fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), time, fc.boolean(), (bytes, date, answers) => {
        const answering = answers
          ? parseSignatureHeader(signRequest(key, body, { now })).signature
          : undefined;
        const header = parseSignatureHeader(signRequest(key, bytes, { now: date, answering }));
        expect(header.chained).toBe(answers);
        expect(verifySignature(header, publicKey, bytes, answering)).toMatchObject({
          subscriberId: key.subscriberId,
          recordId: key.recordId,
        });
        expect(() =>
          checkSignatureWindow(header, date, { clockSkewSeconds: 0, maxSignatureSeconds: 300 }),
        ).not.toThrow();
      }),
    );
  });
});

describe('verifySignature', () => {
  const value = signRequest(key, body, { now });
  const verifies = (header: string, bytes: Uint8Array, answering?: string) =>
    codeOf(() => verifySignature(parseSignatureHeader(header), publicKey, bytes, answering));

  it('refuses each single changed byte of the body', () => {
    for (let at = 0; at < body.length; at++) {
      for (const bit of [1, 0x80]) {
        const changed = Buffer.from(body);
        changed.writeUInt8(changed.readUInt8(at) ^ bit, at);
        expect(verifies(value, changed)).toBe('AUT_SIGNATURE_INVALID');
      }
    }
    expect(verifies(value, body.subarray(1))).toBe('AUT_SIGNATURE_INVALID');
    expect(verifies(value, Buffer.concat([body, Buffer.from(' ')]))).toBe('AUT_SIGNATURE_INVALID');
  });

  it('refuses each single changed character of the header, or sees another signer', () => {
    for (let at = 0; at < value.length; at++) {
      for (const character of ['x', '1', ' ', '"', ',', '=', '/']) {
        if (value[at] === character) continue;
        const changed = value.slice(0, at) + character + value.slice(at + 1);
        const outcome = verifies(changed, body);
        if (outcome === 'accepted') {
          const { subscriberId, recordId } = parseSignatureHeader(changed);
          expect([subscriberId, recordId], changed).not.toEqual([key.subscriberId, key.recordId]);
        } else {
          expect(outcome, changed).toMatch(/^AUT_(SIGNATURE_INVALID|KEY_NOT_FOUND)$/);
        }
      }
    }
  });

  it('refuses another key', () => {
    const other = parsePublicKey(publicKeyOf(privateKeyFromSeed(generateSeed())));
    expect(codeOf(() => verifySignature(parseSignatureHeader(value), other, body))).toBe(
      'AUT_SIGNATURE_INVALID',
    );
  });

  describe('of an answer', () => {
    const { signature } = parseSignatureHeader(value);
    const answer = signRequest(key, body, { now, answering: signature });

    it('holds for the request that it answers and for no other', () => {
      expect(verifies(answer, body, signature)).toBe('accepted');
      const another = parseSignatureHeader(signRequest(key, Buffer.from('x'), { now })).signature;
      expect(verifies(answer, body, another)).toBe('AUT_SIGNATURE_INVALID');
      expect(verifies(answer, body, '')).toBe('AUT_SIGNATURE_INVALID');
    });

    it('is refused where no request is known: a request signs three lines', () => {
      expect(verifies(answer, body)).toBe('AUT_SIGNATURE_INVALID');
    });

    it('may have three lines, and says so', () => {
      expect(verifies(value, body, signature)).toBe('accepted');
      expect(parseSignatureHeader(value).chained).toBe(false);
      expect(parseSignatureHeader(answer).chained).toBe(true);
    });

    it('does not pass under the other number of lines', () => {
      const shortened = answer.replace('digest request-signature', 'digest');
      const lengthened = value.replace('digest"', 'digest request-signature"');
      expect(verifies(shortened, body, signature)).toBe('AUT_SIGNATURE_INVALID');
      expect(verifies(lengthened, body, signature)).toBe('AUT_SIGNATURE_INVALID');
    });
  });
});

describe('parseSignatureHeader', () => {
  const valid = signRequest(key, body, { now });
  const signature = valid.slice(valid.indexOf('signature="') + 11, -1);

  it.each(made.refuse.filter(({ step }) => step === 'header'))(
    'refuses as malformed, or finds no key for: $name',
    ({ authorization, code }) => {
      expect(codeOf(() => parseSignatureHeader(authorization ?? ''))).toBe(code);
    },
  );

  it('reads the parts', () => {
    expect(parseSignatureHeader(valid)).toEqual({
      subscriberId: 'bpp.example.com/nodes',
      recordId: 'key-1',
      created: 1767323045,
      expires: 1767323345,
      signature,
      chained: false,
    });
  });
});

describe('checkSignatureWindow', () => {
  const limits = { clockSkewSeconds: 60, maxSignatureSeconds: 7_200 };
  const at = 1_767_323_045;
  const check = (created: number, expires: number, milliseconds = 0) =>
    codeOf(() =>
      checkSignatureWindow(
        { created, expires } as SignatureHeader,
        new Date(at * 1000 + milliseconds),
        limits,
      ),
    );

  it.each([
    ['now', at, at + 300],
    ['60 seconds ahead', at + 60, at + 360],
    ['long ago, but still valid', at - 7_199, at + 1],
    ['for as long as allowed', at, at + 7_200],
  ])('accepts a signature created %s', (_, created, expires) => {
    expect(check(created, expires)).toBe('accepted');
  });

  it.each([
    ['created 61 seconds ahead', at + 61, at + 361],
    ['that expires now', at - 300, at],
    ['that expired a second ago', at - 300, at - 1],
    ['that expires before it was created', at + 10, at + 9],
    ['valid for longer than allowed', at, at + 7_201],
  ])('refuses a signature %s', (_, created, expires) => {
    expect(check(created, expires)).toBe('AUT_SIGNATURE_INVALID');
  });

  it('ends in the very millisecond', () => {
    expect(check(at - 300, at, -1)).toBe('accepted');
    expect(check(at - 300, at + 1, 1_000)).toBe('AUT_SIGNATURE_INVALID');
  });
});
