import { canonicalJson, goCanonicalJson } from '../../src/protocol/canonical-json.ts';
import { parseJson } from '../../src/protocol/json.ts';

// vectors/canonical-json.json: what signed files sign.

const inputs: [name: string, input: string][] = [
  [
    'the example of RFC 8785 section 3.2',
    String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`,
  ],
  [
    'names are sorted by UTF-16 code units, the example of RFC 8785 section 3.2.3',
    String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
  ],
  [
    'numbers of RFC 8785 appendix B',
    '[-0, 5e-324, 1.7976931348623157e308, 9007199254740992, 295147905179352830000, 1e23, 1e21, 999999999999999900000, 9.999999999999997e-7, 0.000001, 333333333.33333325, 1424953923781206.2]',
  ],
  [
    'numbers as people write them',
    '[1.0, 10, -1.50, 1e2, 1E-7, 0.1, 100000000000000000000, 1e-6, 123456.789]',
  ],
  ['names that look like numbers', '{"10":1,"9":2,"-1":3,"01":4,"":5}'],
  ['a member named __proto__', '{"b":1,"__proto__":{"a":2}}'],
  ['nested objects and arrays, with white space', '{ "b": [ {"d": 1, "c": [ ] }, { } ],\n\t"a": null }'],
  ['control characters and slashes', String.raw`"\b\t\n\f\r\u001f\u007f\/\\\""`],
  ["what Go's encoder escapes", '{"a&b":"<\u2028>\u2029"}'],
  ['names that UTF-8 orders otherwise than UTF-16', '{"\u{1f600}":1,"\ufb33":2,"b":{"d":1,"c":2}}'],
  ['the sign of zero', '[-0,0,-0.0]'],
];

const refused: [name: string, input: string, reason: string][] = [
  ['a member given twice', '{"a":1,"a":1}', 'Readers differ about which one counts.'],
  ['a member given twice, one of them escaped', String.raw`{"a":1,"\u0061":2}`, 'Both names are "a".'],
  ['a lone surrogate', String.raw`{"a":"\ud800"}`, 'It has no UTF-8.'],
  ['U+0000', String.raw`"\u0000"`, 'Databases do not hold it.'],
  ['a number beyond a double', '[1e400]', 'It has no canonical form.'],
  ['NaN', '[NaN]', 'It is not JSON.'],
  ['a comma at the end', '[1,]', 'It is not JSON.'],
  ['a leading zero', '[01]', 'It is not JSON.'],
  ['a byte order mark', '\ufeff{}', 'RFC 8259, 8.1: nobody adds one.'],
  ['arrays in each other 65 deep', `${'['.repeat(65)}${']'.repeat(65)}`, 'At most 64 levels are read.'],
];

export function canonicalJsonVectors() {
  return {
    about:
      '`input` is the text of a JSON document. `jcs` is its canonical form by RFC 8785, which we sign; `go` that of one deployed publisher, which verifiers try when `jcs` does not verify. Both are signed as UTF-8.',
    cases: inputs.map(([name, input]) => {
      const value = parseJson(Buffer.from(input));
      return { name, input, jcs: canonicalJson(value), go: goCanonicalJson(value) };
    }),
    refuse: refused.map(([name, input, reason]) => ({ name, input, code: 'SCH_INVALID_JSON', reason })),
  };
}
