import fc from 'fast-check';
import type { Json } from '../../../src/protocol/json.ts';

// Small documents and queries over few names, so that queries often select something.

const scalar = fc.constantFrom<Json[]>(null, true, false, 0, 1, -2, 1.5, 'a', 'ab', '');

export const { documents } = fc.letrec<{ documents: Json }>((tie) => ({
  documents: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('documents'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('documents'), { maxKeys: 3 }),
  ),
}));

export const { queries } = fc.letrec<{
  queries: string;
  segments: string;
  conditions: string;
  values: string;
}>((tie) => ({
  queries: tie('segments').map((segments) => `$${segments}`),
  segments: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      '',
      '.a',
      '.*',
      '..b',
      '[0]',
      '[-1]',
      "['a','c']",
      '[1:]',
      '[::-2]',
      '..*',
      '..[0]',
      '[*,0]',
    ),
    fc.tuple(fc.constantFrom('.a', '.b', '.*', '[*]', '..a'), tie('segments')).map((parts) => parts.join('')),
    fc.tuple(tie('conditions'), tie('segments')).map(([condition, more]) => `[?${condition}]${more}`),
  ),
  conditions: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('@.a', '!@.b', '@..c', '@[?@.a]', 'match(@.a,"a.*")', 'search(@,"b")', '@.*', '$.a'),
    fc
      .tuple(tie('values'), fc.constantFrom('==', '!=', '<', '<=', '>', '>='), tie('values'))
      .map((parts) => parts.join(' ')),
    fc
      .tuple(tie('conditions'), fc.constantFrom('&&', '||'), tie('conditions'))
      .map((parts) => `(${parts.join(' ')})`),
    tie('conditions').map((condition) => `!(${condition})`),
  ),
  values: fc.constantFrom(
    ...[
      '@',
      '@.a',
      '@.a.b',
      '@[0]',
      '$.b',
      '1',
      '1.5',
      '-2',
      '"a"',
      'true',
      'null',
      'length(@)',
      'length(@.a)',
    ],
    ...['count(@.*)', 'count(@..a)', 'value(@..c)', 'value(@.*)'],
  ),
}));
