import { describe, expect, it } from 'vitest';
import { quantify } from './quantify.ts';

describe('quantify', () => {
  it.each([
    ['ANY', [false, true], true],
    ['ANY', [false, false], false],
    ['ALL', [true, true], true],
    ['ALL', [false, true], false],
    ['NONE', [false, false], true],
    ['NONE', [false, true], false],
    ['ANY', [], false],
    ['ALL', [], false],
    ['NONE', [], false],
  ] as const)('%s of %j is %s', (quantifier, results, expected) => {
    const holds = results.filter((result) => result).length;
    expect(quantify(quantifier, { asked: results.length, holds })).toBe(expected);
  });
});
