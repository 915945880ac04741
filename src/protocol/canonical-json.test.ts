import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVectors, readVectorText } from '../../tests/support/vectors.ts';
import { canonicalJson, goCanonicalJson } from './canonical-json.ts';
import { type Json, parseJson } from './json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
const fromHex = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE();

describe('canonicalJson', () => {
  it('gives the example of RFC 8785 section 3.2', () => {
    const input = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(parse(input))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts names by UTF-16 code units, as the example of RFC 8785 section 3.2.3', () => {
    const input = String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`;
    expect(canonicalJson(parse(input))).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  });

  it.each([
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['44b52d02c7e14af6', '1e+23'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['41b3de4355555554', '333333333.33333325'],
  ])('writes the double %s as %s (RFC 8785 appendix B)', (hex, text) => {
    expect(canonicalJson(fromHex(hex))).toBe(text);
  });

  const numbers = readVectors<{ ieee754hex: string; expected: string }[]>(
    'jcs/rfc8785-appendix-b-numbers.json',
  );
  it.skipIf(numbers === undefined)(
    'writes every number of RFC 8785 appendix B (needs the jcs vectors)',
    () => {
      for (const { ieee754hex, expected } of numbers ?? []) {
        if (!Number.isFinite(fromHex(ieee754hex))) continue;
        expect(canonicalJson(fromHex(ieee754hex)), ieee754hex).toBe(expected);
      }
    },
  );

  for (const name of ['arrays', 'french', 'structures', 'unicode', 'values', 'weird']) {
    const input = readVectorText(`jcs/input/${name}.json`);
    it.skipIf(input === undefined)(
      `gives the published output for ${name}.json (needs the jcs vectors)`,
      () => {
        const expected = readVectorText(`jcs/outhex/${name}.txt`)?.replace(/\s+/g, '');
        expect(Buffer.from(canonicalJson(parse(input ?? ''))).toString('hex')).toBe(expected);
      },
    );
  }

  it('is the same for every order of the members, and the same again after reading it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (drawn) => {
        const value = drawn as Json;
        fc.pre(!JSON.stringify(value).includes('\\u0000'));
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(canonicalJson(parse(text))).toBe(text);
        expect(goCanonicalJson(reversed(value))).toBe(goCanonicalJson(value));
        expect(canonicalJson(parse(goCanonicalJson(value)))).toBe(text);
      }),
    );
  });

  it('is what the reference implementation writes, whatever the names', () => {
    const names = fc.oneof(
      fc.constantFrom(
        '1',
        '10',
        '9',
        '01',
        '-1',
        '4294967295',
        '__proto__',
        'toJSON',
        '',
        '!',
        'a',
        'b',
        'é',
        '\\ud',
      ),
      fc.string({ unit: 'grapheme' }),
    );
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.jsonValue({ maxDepth: 0 }).map((value) => value as Json),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc
          .array(fc.tuple(names, tie('tree')), { maxLength: 6 })
          .map((members) => Object.fromEntries(members)),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
    );
  });

  it('refuses what no canonical form is defined for', () => {
    expect(() => canonicalJson('\ud800')).toThrow();
    expect(() => canonicalJson({ a: ['\udc00x'] })).toThrow();
    expect(() => canonicalJson([Number.NaN])).toThrow();
    expect(() => canonicalJson({ a: Number.POSITIVE_INFINITY })).toThrow();
  });

  it('keeps a member named __proto__', () => {
    expect(canonicalJson(parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
  });
});

describe('goCanonicalJson', () => {
  it('escapes what Go escapes for HTML, in names and values', () => {
    expect(goCanonicalJson({ 'a&b': '<\u2028>\u2029' })).toBe(
      String.raw`{"a\u0026b":"\u003c\u2028\u003e\u2029"}`,
    );
  });

  it('sorts names by UTF-8 bytes, where UTF-16 orders otherwise', () => {
    expect(goCanonicalJson(parse('{"\u{1f600}":1,"\ufb33":2,"b":{"d":1,"c":2}}'))).toBe(
      '{"b":{"c":2,"d":1},"\ufb33":2,"\u{1f600}":1}',
    );
  });

  it('keeps the sign of zero', () => {
    expect(goCanonicalJson(parse('[-0,0,-0.0]'))).toBe('[-0,0,-0]');
    expect(canonicalJson(parse('[-0,0,-0.0]'))).toBe('[0,0,0]');
  });

  it('is RFC 8785 for everything else', () => {
    const text = '{"a":[1.5,1e+30,1e-7,null,true,false,"ö€\\n\\""],"b":{}}';
    expect(goCanonicalJson(parse(text))).toBe(text);
    expect(canonicalJson(parse(text))).toBe(text);
  });
});

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).reverse();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}
