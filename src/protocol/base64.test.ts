import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findAnyBase64, findBase64, findBase64url } from './base64.ts';

describe('canonical Base64', () => {
  it('reads back what was written, in each alphabet', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (input) => {
        const bytes = Buffer.from(input);
        expect(findBase64(bytes.toString('base64'))).toEqual(bytes);
        expect(findBase64url(bytes.toString('base64url'))).toEqual(bytes);
        expect(findAnyBase64(bytes.toString('base64'))).toEqual(bytes);
        expect(findAnyBase64(bytes.toString('base64url'))).toEqual(bytes);
      }),
    );
  });

  it.each(['QQ', 'QQ=', 'QR==', 'QQ==\n', ' QQ==', 'Q Q==', 'QQ==QQ==', '-_8=', 'Q', '=', '%', 'QQ==='])(
    'refuses "%s", which a lenient decoder takes',
    (text) => {
      expect(findBase64(text)).toBeUndefined();
    },
  );

  it.each(['QQ==', 'QR', '+/8', 'Q'])('refuses "%s" as base64url', (text) => {
    expect(findBase64url(text)).toBeUndefined();
  });

  it.each(['QR==', 'Q', 'QQ===', 'QQ==QQ'])('refuses "%s" in any alphabet', (text) => {
    expect(findAnyBase64(text)).toBeUndefined();
  });
});
