import { describe, expect, it } from 'vitest';
import { compileLikeRegexp } from './i-regexp.ts';

describe('compileLikeRegexp', () => {
  it.each([
    ['b', '', 'abc', true],
    ['^b', '', 'abc', false],
    ['B', 'i', 'abc', true],
    ['a.c', '', 'a\nc', false],
    ['a.c', 's', 'a\nc', true],
    ['^c$', '', 'a\nc', false],
    ['^c$', 'm', 'a\nc', true],
    ['a.c', 'q', 'abc', false],
    ['A.C', 'iq', 'xa.cx', true],
    ['\\d{3}', '', 'No 123', true],
  ])('/%s/%s in %j: %s', (pattern, flags, text, expected) => {
    expect(compileLikeRegexp(pattern, flags)?.(text)).toBe(expected);
  });

  it.each([
    ['(a)\\1', ''],
    ['a(?=b)', ''],
    ['a{2000}', ''],
    ['(', ''],
    ['a', 'x'],
  ])('does not run /%s/%s', (pattern, flags) => {
    expect(compileLikeRegexp(pattern, flags)).toBeUndefined();
  });

  it('takes time linear in the text where others would take for ever', () => {
    expect(compileLikeRegexp('^(a+)+$', '')?.(`${'a'.repeat(20_000)}b`)).toBe(false);
  });
});
