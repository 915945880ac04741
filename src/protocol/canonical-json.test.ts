import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVectors, readVectorText } from '../../tests/support/values/vectors.ts';
import made from '../../vectors/canonical-json.json' with { type: 'json' };
import { canonicalJson, goCanonicalJson } from './canonical-json.ts';
import { type Json, parseJson } from './json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
const fromHex = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE();

describe('canonicalJson', () => {
  it.each(made.cases)('is that of our vectors: $name', ({ input, jcs }) => {
    expect(canonicalJson(parse(input))).toBe(jcs);
  });

  it.each(made.refuse)('does not come to what is no JSON for us: $name', ({ input, code }) => {
    expect(() => parse(input)).toThrow(expect.objectContaining({ code }));
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
});

describe('goCanonicalJson', () => {
  it.each(made.cases)('is that of our vectors: $name', ({ input, go }) => {
    expect(goCanonicalJson(parse(input))).toBe(go);
  });

  it('is RFC 8785 but for escapes, the order of names beyond the basic plane, and the sign of zero', () => {
    const differing = made.cases.filter(({ jcs, go }) => jcs !== go).map(({ name }) => name);
    expect(differing).toEqual([
      'names are sorted by UTF-16 code units, the example of RFC 8785 section 3.2.3',
      'numbers of RFC 8785 appendix B',
      "what Go's encoder escapes",
      'names that UTF-8 orders otherwise than UTF-16',
      'the sign of zero',
    ]);
  });
});

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).reverse();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}
