import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinPath, withoutTrailingSlashes } from './base-address.ts';

describe('a base address', () => {
  it('and a path are joined by exactly one slash', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z/]*[a-z]$/), fc.nat(5), (base, slashes) => {
        expect(joinPath(`https://${base}${'/'.repeat(slashes)}`, '/x')).toBe(`https://${base}/x`);
      }),
    );
  });

  it('of a great many slashes is read at once', () => {
    const long = `https://a.example/${'/'.repeat(2_000_000)}x`;
    expect(withoutTrailingSlashes(`${long}//`)).toBe(long);
  });
});
