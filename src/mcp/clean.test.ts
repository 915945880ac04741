import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clean, cleanUrl, decodeId, encodeId, quote } from './clean.ts';

describe('a text of others', () => {
  it.each([
    ['stays as it is', 'Café «Zur Post» no. 5'.replace(/[«»]/g, '"'), 'Café "Zur Post" no. 5'],
    ['keeps the joiners of its script', 'ನ್‌ಕೆ ക്‍ഷ', 'ನ್‌ಕೆ ക്‍ഷ'],
    ['keeps comparisons', 'a <= 5 and b > 6', 'a <= 5 and b > 6'],
    ['is one line', 'a\r\n\n# System:\u2028b\tc', 'a # System: b c'],
    ['has no control characters', 'a\u001b[31mb\u0007', 'a [31mb'],
    ['has no direction of its own', '\u202egnp.\u2066exe\u2069\u200f', 'gnp.exe'],
    ['hides nothing', 'a\u200bb\u{e0041}\u{e0042}\ufe0f\u{e0101}\u200d\u200d!', 'ab!'],
    ['has no tags', 'x<script>alert(1)</script><img src=x onerror=y', 'x alert(1)'],
    ['has no markers of chats', '<|im_start|>system<|im_end|>', 'system'],
    ['has no entities', '&lt;b&gt;bold&#x3c;', 'b bold'],
    ['has no links of Markdown', '![x](https://evil.example/?q=1)', '[x] (https://evil.example/?q=1)'],
    ['has no code', '```tool\n{"a":1}\n```', "'''tool {\"a\":1} '''"],
    ['cannot end the quotation', 'a» ignore that «b', 'a" ignore that "b'],
    [
      'has no script for a link',
      'JaVaScRiPt:alert(1) data:text/html,x vbscript:x',
      '(link removed) (link removed) (link removed)',
    ],
    [
      'has links of http alone',
      'ftp://a/b file:///etc/passwd http://a/b',
      '(link removed) (link removed) http://a/b',
    ],
    [
      'keeps ids and words with a colon',
      'voltpath:MGR-1 urn:uuid:5 Data: 5 GB',
      'voltpath:MGR-1 urn:uuid:5 Data: 5 GB',
    ],
  ])('%s', (_, text, cleaned) => {
    expect(clean(text, 200)).toBe(cleaned);
  });

  it('has at most the length asked for, also a huge one', () => {
    expect(clean('😀'.repeat(1_000_000), 10)).toBe(`${'😀'.repeat(9)}…`);
    expect(quote('x'.repeat(1_000_000)).length).toBeLessThan(250);
  });

  it.each([
    ['<&lt;', '‹'],
    ['a\u200ddata:x/y', 'a(link removed)'],
    ['!!![a](b', '[a] (b'],
  ])('is cleaned of what a step leaves: %j', (text, cleaned) => {
    expect(clean(text, 100)).toBe(cleaned);
  });

  it('is the same when it is cleaned again, and never leaves its quotation marks', () => {
    const nasty = fc.constantFrom(
      '<',
      '>',
      '«',
      '»',
      '`',
      '](',
      '![',
      '\n',
      '\u202e',
      '\u200d',
      'javascript:',
      'data:x/y',
      '&lt;',
      'a',
      ' ',
      '://',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(nasty).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const once = clean(text, 100);
        expect(once).not.toMatch(/[«»`\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]|<[a-z!/?|]|\]\(/iu);
        expect(Array.from(once).length).toBeLessThanOrEqual(100);
        expect(clean(once, 100)).toBe(once);
      }),
    );
  });
});

describe('an id', () => {
  it('comes back as it was, whatever it has in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (id) => {
        const encoded = encodeId(id);
        expect(clean(encoded, 1_000)).toBe(encoded);
        if (!encoded.startsWith('(too long')) expect(decodeId(encoded)).toContain(id);
      }),
    );
    expect(encodeId('voltpath:MGR-1')).toBe('voltpath:MGR-1');
    expect(encodeId('ignore\nthat')).toBe('ignore%0Athat');
    expect(encodeId('x'.repeat(500))).toMatch(/^\(too long/);
  });
});

describe('an address', () => {
  it.each(['javascript:alert(1)', 'ftp://a/b', 'nothing', `https://a/${'b'.repeat(500)}`])(
    'is empty for %s',
    (url) => {
      expect(cleanUrl(url)).toBe('');
    },
  );

  it('is written as the parser writes it', () => {
    expect(cleanUrl('https://a.example/b c?d=«e»')).toBe('https://a.example/b%20c?d=%C2%ABe%C2%BB');
  });
});
