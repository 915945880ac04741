import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../tests/support/reproducible.ts';
import { ProtocolError } from './errors.ts';
import { jsonPath, parseJson } from './json.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');

function faultOf(input: string | Uint8Array): string {
  try {
    parseJson(typeof input === 'string' ? bytes(input) : input);
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ code: 'SCH_INVALID_JSON', status: 400 });
    return (error as ProtocolError).message;
  }
  return expect.fail('was accepted');
}

describe('parseJson', () => {
  it('agrees with JSON.parse on every valid document', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }), fc.nat(4), (value, indent) => {
        fc.pre(!JSON.stringify(value).includes('\\u0000'));
        const text = JSON.stringify(value, null, indent);
        expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('accepts exactly what JSON.parse accepts among texts of JSON characters', () => {
    const unit = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '"b":',
        '"c":1',
        '\\',
        'u00e9',
        '\\n',
        ' ',
        '\n',
        '0',
        '1',
        '-',
        '.5',
        'e',
        'E+2',
      ],
      ...['true', 'false', 'null', 'nul', '\u00e9', '\u0001', '/'],
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        expect(accepted(() => parseJson(bytes(text)), /given twice|beyond the range/)).toBe(
          accepted(() => JSON.parse(text)),
        );
      }),
      { numRuns: runs(5_000) },
    );
  });

  it.each([
    ['an empty body', '', 'empty: JSON expected, at line 1, column 1'],
    ['blanks only', ' \n ', 'empty: JSON expected, at line 2, column 2'],
    ['a byte order mark', '\ufeff{}', 'begins with a byte order mark: save it without one'],
    ['two values', '{} {}', 'nothing may follow the JSON value, at line 1, column 4'],
    ['a trailing comma', '[1,]', 'a JSON value expected, at line 1, column 4'],
    ['an unquoted name', '{\n  a: 1}', 'a member name in double quotes expected, at line 2, column 3'],
    ['a missing colon', '{"a" 1}', "':' expected, at line 1, column 6"],
    ['a missing comma', '{"a":1 "b":2}', "',' or '}' expected, at line 1, column 8"],
    ['an open array', '[1', "',' or ']' expected, at line 1, column 3"],
    ['an open string', '"abc', 'the text ends inside a string, at line 1, column 5'],
    ['a missing value', '{"a":', 'the text ends where a value is expected, at line 1, column 6'],
    [
      'a raw control character',
      '"a\tb"',
      'a control character in a string must be escaped, at line 1, column 3',
    ],
    ['an unknown escape', '"\\x41"', 'invalid escape sequence, at line 1, column 2'],
    ['a short \\u escape', '"\\u00e"', 'four hexadecimal digits expected, at line 1, column 2'],
    ['a leading zero', '[01]', 'a number must not have leading zeros, at line 1, column 2'],
    ['a bare minus', '-', 'a digit expected, at line 1, column 2'],
    ['NaN', '[NaN]', 'a JSON value expected, at line 1, column 2'],
    ['a comment', '{} // yes', 'nothing may follow the JSON value, at line 1, column 4'],
  ])('refuses %s with its place', (_, text, message) => {
    expect(faultOf(text)).toBe(message);
  });

  it('names a place far behind', () => {
    expect(faultOf(`[\n${'"x",\n'.repeat(100_000)}${' '.repeat(1_000_000)}x]`)).toBe(
      'a JSON value expected, at line 100002, column 1000001',
    );
  });

  it('counts columns in characters, not in bytes', () => {
    expect(faultOf('["😀é", x]')).toBe('a JSON value expected, at line 1, column 8');
  });

  describe('refuses duplicate members', () => {
    it.each([
      ['side by side', '{"a":1,"a":2}'],
      ['far apart', '{"a":1,"b":{"a":1},"c":[{"a":2}],"a":2}'],
      ['when one is escaped', '{"a":1,"\\u0061":2}'],
      ['when the first is escaped', '{"\\u0061":1,"a":2}'],
      ['with a quote in the name', '{"\\"":1,"\\u0022":2}'],
      ['beyond ASCII', '{"é":1,"\\u00e9":2}'],
      ['named __proto__', '{"__proto__":1,"__proto__":2}'],
      ['with the empty name', '{"":1,"":2}'],
    ])('%s', (_, text) => {
      expect(faultOf(text)).toMatch(/^member ".*" given twice, at line 1, column \d+$/);
    });

    it('at any place of an object of any size', () => {
      const names = fc.uniqueArray(fc.string({ maxLength: 4 }), { minLength: 1, maxLength: 60 });
      fc.assert(
        fc.property(names, fc.nat(), (unique, pick) => {
          const members = unique.map((name) => `${JSON.stringify(name)}:{"x":1,"y":2}`);
          fc.pre(!members.join().includes('\\u0000'));
          parseJson(bytes(`{${members}}`));
          expect(faultOf(`{${members},${members[pick % members.length]}}`)).toContain('given twice');
        }),
      );
    });

    it('but not names that only have the same hash', () => {
      // "Aa" and "BB" collide in every hash that multiplies by 31.
      expect(parseJson(bytes('{"Aa":1,"BB":2}'))).toEqual({ Aa: 1, BB: 2 });
    });
  });

  it.each([
    ['a high half alone', '"\\ud83d"'],
    ['a low half alone', '"\\ude00"'],
    ['two high halves', '"\\ud83d\\ud83d"'],
    ['a high half before another escape', '"\\ud83d\\n"'],
    ['one in a member name', '{"\\ud83d":1}'],
  ])('refuses a lone surrogate: %s', (_, text) => {
    expect(faultOf(text)).toContain('half of a surrogate pair');
  });

  it('keeps a surrogate pair', () => {
    expect(parseJson(bytes('"\\ud83d\\ude00"'))).toBe('😀');
  });

  it('refuses U+0000, in values and in names', () => {
    expect(faultOf('"a\\u0000b"')).toBe('U+0000 is not allowed, at line 1, column 3');
    expect(faultOf('{"\\u0000":1}')).toContain('U+0000');
    expect(faultOf('"\0"')).toContain('control character');
  });

  it('refuses numbers beyond a double, and takes the largest one', () => {
    for (const text of ['1e400', '-1e400', '[1E+309]', `1${'0'.repeat(309)}`, `-${'9'.repeat(400)}.5`]) {
      expect(faultOf(text)).toContain('beyond the range of a double');
    }
    expect(parseJson(bytes('1.7976931348623157e308'))).toBe(Number.MAX_VALUE);
    expect(parseJson(bytes(`1${'0'.repeat(308)}`))).toBe(1e308);
    expect(parseJson(bytes('1e-400'))).toBe(0);
  });

  it('takes 64 levels of nesting and refuses the 65th, in arrays and objects', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const members = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    parseJson(bytes(nested(64)));
    parseJson(bytes(members(64)));
    expect(faultOf(nested(65))).toBe('nested deeper than 64 levels, at line 1, column 65');
    expect(faultOf(members(65))).toContain('nested deeper than 64 levels');
    expect(faultOf('['.repeat(2_000_000))).toContain('nested deeper');
  });

  it.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22], 1],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22], 1],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    ['a cut character', [0x22, 0x61, 0xc3], 2],
  ])('refuses bytes that are not UTF-8: %s', (_, input, place) => {
    expect(faultOf(Uint8Array.from(input))).toBe(`not UTF-8, at byte ${place}`);
  });

  it('never throws anything but SCH_INVALID_JSON on arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (input) => {
        accepted(() => parseJson(input));
      }),
    );
  });

  it('keeps __proto__ and constructor as own data and leaves prototypes alone', () => {
    const value = parseJson(
      bytes('{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}'),
    ) as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reads a view into a larger buffer', () => {
    const whole = bytes('xx{"a":1}yy');
    expect(parseJson(new Uint8Array(whole.buffer, whole.byteOffset + 2, 7))).toEqual({ a: 1 });
  });
});

describe('jsonPath', () => {
  it.each([
    [[], '$'],
    [['message', 'catalogs', 0, 'id'], '$.message.catalogs[0].id'],
    [['resourceAttributes', '@context'], "$.resourceAttributes['@context']"],
    [["it's", 'a\\b', 'line\n'], "$['it\\'s']['a\\\\b']['line\\n']"],
    [['with "quotes"', ''], "$['with \"quotes\"']['']"],
  ])('%j is %s', (segments, path) => {
    expect(jsonPath(segments)).toBe(path);
  });
});

function accepted(parse: () => unknown, beyondJson?: RegExp): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    expect(error).toBeInstanceOf(ProtocolError);
    return beyondJson?.test((error as Error).message) ?? false;
  }
}
