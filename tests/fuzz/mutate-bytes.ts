import fc from 'fast-check';
import { place } from './mutate-json.ts';

// Mutation of bytes, as data: the same list gives the same bytes again.

export interface ByteMutation {
  op: 'flip' | 'insert' | 'overwrite' | 'delete' | 'repeat' | 'cut';
  /** Where, as a fraction of the length. */
  at: number;
  /** How many bytes, or which bit. */
  count: number;
  /** In latin1. */
  text: string;
}

/** Tokens that parsers of JSON, HTTP, Base64 and CSV may handle wrongly. */
const tokens: readonly string[] = [
  ...[
    '\x00',
    '\xff',
    '\xc0\x80',
    '\xed\xa0\x80',
    '\xef\xbb\xbf',
    '\r\n',
    '\n',
    '\r',
    '\t',
    ' ',
    '"',
    "'",
    '\\',
    '\\u0000',
    '\\ud800',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ',,',
    '/*',
    '//',
    '#',
    '=',
    '|',
    ';',
    '%',
    '&',
    '?',
    '--',
    '..',
    '/',
    'null',
    'true',
    'NaN',
    'Infinity',
  ],
  ...[
    '1e999',
    '-0',
    '0x10',
    '00',
    '1.',
    '.5',
    '99999999999999999999999',
    '"a":1,"a":2,',
    '"__proto__":{},',
    '[[[[[[[[',
    '['.repeat(20_000),
  ],
];

export const byteMutation: fc.Arbitrary<ByteMutation> = fc.record({
  op: fc.constantFrom('flip', 'insert', 'overwrite', 'delete', 'repeat', 'cut'),
  at: place,
  count: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 400 })),
  text: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...tokens) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    },
  ),
});

export const byteMutations: fc.Arbitrary<ByteMutation[]> = fc.array(byteMutation, {
  minLength: 1,
  maxLength: 4,
});

/** @param unchanged how many cases without a change there are for each with one */
export function bytesSometimes(unchanged = 4): fc.Arbitrary<readonly ByteMutation[]> {
  return fc.oneof({ weight: unchanged, arbitrary: noBytes }, { weight: 1, arbitrary: byteMutations });
}

export const noBytes = fc.constant<readonly ByteMutation[]>([]);

export function mutateBytes(bytes: Uint8Array, changes: readonly ByteMutation[]): Buffer {
  return changes.reduce<Buffer>(mutateOnce, Buffer.from(bytes));
}

function mutateOnce(bytes: Buffer, { op, at, count, text }: ByteMutation): Buffer {
  const start = Math.min(Math.floor(at * bytes.length), Math.max(0, bytes.length - 1));
  const end = Math.min(bytes.length, start + count);
  const token = Buffer.from(text, 'latin1');
  const splice = (to: number, ...parts: Uint8Array[]) =>
    Buffer.concat([bytes.subarray(0, start), ...parts, bytes.subarray(to)]);
  switch (op) {
    case 'flip': {
      const flipped = Buffer.from(bytes);
      const byte = flipped[start];
      if (byte !== undefined) flipped[start] = byte ^ (1 << (count % 8));
      return flipped;
    }
    case 'insert':
      return splice(start, token);
    case 'overwrite':
      return splice(Math.min(bytes.length, start + token.length), token);
    case 'delete':
      return splice(end);
    case 'repeat':
      return splice(start, bytes.subarray(start, end));
    case 'cut':
      return bytes.subarray(0, start);
  }
}
