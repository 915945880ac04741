import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../tests/support/reproducible.ts';
import { findMessageId } from './message-id.ts';
import { scanMessageId } from './message-id-scan.ts';

const scan = (text: string) => scanMessageId(Buffer.from(text));
const parsed = (text: string) => findMessageId(JSON.parse(text));

/** Documents that often contain the two names, at the right place and at others. */
const name = fc.oneof(fc.constantFrom('context', 'messageId', 'message'), fc.string({ unit: 'grapheme' }));
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'document' },
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(null, true, 0, -1.5e300, '', '"', '\\', '\\"', '}', 'm-1'),
    fc.array(tie('value')),
    fc.dictionary(name, tie('value')),
  ),
})).value;

describe('scanMessageId', () => {
  it('finds no id with U+0000, which no message may hold', () => {
    const text = JSON.stringify({ context: { messageId: 'm\0-1' } });
    expect(scan(text)).toBeUndefined();
    expect(parsed(text)).toBeUndefined();
  });

  it('finds what JSON.parse finds, in every document however it is laid out', () => {
    fc.assert(
      fc.property(document, fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(scan(text)).toBe(parsed(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('finds it with anything before it and after it, also when names and value are written as escapes', () => {
    const escaped = (text: string) =>
      `"${[...text].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
    fc.assert(
      fc.property(document, document, fc.uuid(), (before, after, id) => {
        const context = `{"b":${JSON.stringify(before)},${escaped('messageId')}:${escaped(id)},"a":${JSON.stringify(after)}}`;
        const text = `{"b":${JSON.stringify(before)},${escaped('context')} : ${context},"a":${JSON.stringify(after)}}`;
        expect(scan(text)).toBe(id);
      }),
    );
  });

  it('ends without a fault on any bytes', () => {
    fc.assert(
      fc.property(document, fc.nat(), fc.nat(255), (value, place, byte) => {
        const bytes = Buffer.from(JSON.stringify({ context: value }));
        const at = place % bytes.length;
        scanMessageId(bytes.subarray(0, at));
        bytes[at] = byte;
        scanMessageId(bytes);
      }),
    );
    for (const text of [
      '',
      ' ',
      '{',
      '{"',
      '{"context"',
      '{"context":',
      '{"context":{"messageId":"',
      '{"context":{"messageId":"a',
    ])
      expect(scan(text)).toBeUndefined();
  });

  it.each([
    ['no longer than an id may be', 'x'.repeat(128), 'x'.repeat(128)],
    ['longer than an id may be', 'x'.repeat(129), undefined],
    ['empty', '', undefined],
  ])('takes an id that is %s as every reader does', (_what, id, found) => {
    expect(scan(JSON.stringify({ context: { messageId: id } }))).toBe(found);
  });

  it('reads sixteen megabytes of brackets, of backslashes or of quotes once, without going deeper', () => {
    const size = 16 * 1024 * 1024;
    for (const filling of ['['.repeat(size), `"${'\\'.repeat(size)}"`, `"${'\\"'.repeat(size / 2)}"`]) {
      expect(scan(`{"filling":${filling},"context":{"messageId":"m-1"}}`)).toBe(
        filling.startsWith('[') ? undefined : 'm-1',
      );
    }
  });
});
