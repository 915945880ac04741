import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import { findIRegexp } from './i-regexp.ts';

describe('findIRegexp', () => {
  it.each([
    ['a.c', ['abc', 'a😀c', 'a\u2028c'], ['ac', 'a\nc', 'a\rc', 'xabc', 'abcx']],
    ['a|bc', ['a', 'bc'], ['ab', 'abc', 'ac']],
    ['(ab)*c{2,3}', ['cc', 'ababccc'], ['c', 'abcccc']],
    ['x{2}y{1,}z?', ['xxy', 'xxyyz'], ['xy', 'xxz']],
    ['[a-c.]+', ['ab.c'], ['d', '']],
    ['[^a-c]', ['d', '\n', '😀'], ['a', 'dd']],
    ['[-a]', ['-', 'a'], ['b']],
    ['[a-]', ['-', 'a'], ['b']],
    ['[\\]\\[\\-\\\\^]', [']', '[', '-', '\\', '^'], ['a']],
    ['\\(\\)\\*\\+\\.\\?\\{\\|\\}\\n\\t', ['()*+.?{|}\n\t'], ['']],
    ['\\p{Lu}\\P{L}', ['A1', 'Ж '], ['a1', 'AB']],
    ['[\\p{Nd}x]', ['5', '٣', 'x'], ['y']],
    ['', [''], ['a']],
    ['a||b', ['a', '', 'b'], ['ab']],
    ['^ab.*', ['abc'], ['xab']],
    ['.*bc$', ['abc'], ['bcx']],
    ['"#%&\',-/:;<=>@_`~é', ['"#%&\',-/:;<=>@_`~é'], ['']],
  ])('%s matches the whole of some texts and not of others', (pattern, texts, others) => {
    const regexp = findIRegexp(pattern);
    for (const text of texts) expect(regexp?.matches(text), text).toBe(true);
    for (const text of others) expect(regexp?.matches(text), text).toBe(false);
  });

  it('finds a part of a text', () => {
    expect(findIRegexp('b.?b')?.test('abba')).toBe(true);
    expect(findIRegexp('b.b')?.test('abba')).toBe(false);
    expect(findIRegexp('^b')?.test('ab')).toBe(false);
  });

  it.each([
    ...[
      '\\d+',
      '\\w',
      '\\s',
      '\\b',
      '\\u0041',
      '\\x41',
      '\\1',
      '\\$',
      '\\/',
      '\\p{Greek}',
      '\\p{Cs}',
      '\\pL',
      '\\',
    ],
    ...['(?:a)', '(?i)a', '(?=a)', 'a*?', 'a++', 'a**', '*a', '|*', '(*)', 'a{,3}', 'a{', 'a}', 'a{x}'],
    ...['(', ')', 'a)', '(a', '[', ']', '[]', '[a', '[[:alpha:]]', '[a-\\p{L}]', '[\\d]', '[a--b]', '[[a]]'],
  ])('takes %s for no I-Regexp', (pattern) => {
    expect(findIRegexp(pattern)).toBeUndefined();
  });

  it.each(['a{1001}', '(a{100}){100}', '[b-a]', 'a{3,2}'])('refuses to run %s', (pattern) => {
    expect(() => findIRegexp(pattern)).toThrow();
  });

  it('agrees with the regular expressions of JavaScript where both know the pattern', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '(a|b)',
      '\\.',
      '\\p{L}',
      'a*',
      '(ab)?',
      '.+',
      'b{1,2}',
      '|',
    );
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\n', 'é', '😀'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), text, (pieces, subject) => {
        const pattern = pieces.join('');
        const source = pieces.map((each) => each.replace(/^\./, '[^\\n\\r]')).join('');
        expect(findIRegexp(pattern)?.matches(subject)).toBe(new RegExp(`^(?:${source})$`, 'u').test(subject));
        expect(findIRegexp(pattern)?.test(subject)).toBe(new RegExp(source, 'u').test(subject));
      }),
      { numRuns: runs(300) },
    );
  });

  it('runs in linear time where backtracking would take for ever', () => {
    expect(findIRegexp('(a*)*b')?.matches('a'.repeat(50_000))).toBe(false);
    expect(findIRegexp('(a|a)*b')?.test('a'.repeat(50_000))).toBe(false);
  });
});
