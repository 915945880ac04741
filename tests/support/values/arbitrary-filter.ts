import fc from 'fast-check';
import type { Json } from '../../../src/protocol/json.ts';

// Small documents and filters over few names and values, so that filters often select something.

const names = ['a', 'b', 'c'];
const scalar = fc.constantFrom<Json[]>(null, true, false, 0, 1, -2, 1.5, 'a', 'ab', '', 'ä"\\');

export const { arbitraryDocument } = fc.letrec<{ arbitraryDocument: Json }>((tie) => ({
  arbitraryDocument: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('arbitraryDocument'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('arbitraryDocument'), { maxKeys: 3 }),
  ),
}));

export const arbitraryMembers: fc.Arbitrary<{ [name: string]: Json }> = fc.dictionary(
  fc.constantFrom(...names),
  arbitraryDocument,
  { maxKeys: 3 },
);

const operator = fc.constantFrom('==', '==', '==', '!=', '<', '<=', '>', '>=');
const literal = fc.constantFrom(
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1',
  '1.0',
  '10e-1',
  '-2',
  '1.5',
  '"a"',
  "'ab'",
  '""',
  '"ä\\"\\\\"',
  '"\\u0000"',
);
const path = fc.constantFrom('', '.a', '.b', '.a.b', '.c', '[0]', '[-1].a', '.b[0]', '.a[1].c', "['a']");
const many = fc.constantFrom(
  '.*',
  '[*]',
  '.a[*]',
  '..b',
  '.b[0:2]',
  '.a[*].b',
  "['a','b']",
  '.b.*.c',
  '[?@.a]',
  '.a[?@ == 1]',
  '.c[?@.b > 0]',
);

/** Conditions inside `[?…]`; those with a root also refer to `$`. */
function arbitraryConditions(roots: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const query = fc.tuple(roots, fc.oneof(path, many)).map((parts) => parts.join(''));
  const single = fc.tuple(roots, path).map((parts) => parts.join(''));
  const value = fc.oneof(
    { weight: 6, arbitrary: single },
    { weight: 6, arbitrary: literal },
    single.map((text) => `length(${text})`),
    query.map((text) => `count(${text})`),
    query.map((text) => `value(${text})`),
  );
  return fc.letrec<{ conditions: string }>((tie) => ({
    conditions: fc.oneof(
      { maxDepth: 3 },
      fc.tuple(single, operator, literal).map((parts) => parts.join(' ')),
      fc.tuple(value, operator, value).map((parts) => parts.join(' ')),
      query,
      query.map((text) => `!${text}`),
      fc.tuple(query, tie('conditions')).map(([text, condition]) => `${text}[?${condition}]`),
      fc.tuple(fc.constantFrom('match', 'search'), single).map(([name, text]) => `${name}(${text},"a.*")`),
      fc
        .tuple(tie('conditions'), fc.constantFrom('&&', '||'), tie('conditions'))
        .map((parts) => `(${parts.join(' ')})`),
      tie('conditions').map((condition) => `!(${condition})`),
    ),
  })).conditions;
}

const tail = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, path, many);

/** Filters on each resource separately. */
export const arbitraryLocalFilter: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('[*]', '[0]', '.*'), arbitraryConditions(fc.constant('@')), tail)
  .map(([catalog, condition, rest]) => `$.catalogs${catalog}.resources[?${condition}]${rest}`);

/** Filters on each offer separately. */
export const arbitraryOfferFilter: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('[*]', '[-1]'),
    fc.oneof(arbitraryConditions(fc.constant('@')), fc.constantFrom('@.id == "o1"', '@.id != "o2"')),
    tail,
  )
  .map(([catalog, condition, rest]) => `$.catalogs${catalog}.offers[?${condition}]${rest}`);

/** Filters on anything in a catalog. */
export const arbitraryFilter: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(
      '.catalogs[*]',
      '.catalogs[*].resources',
      '.catalogs[*].offers',
      '.catalogs[*].provider',
      '.catalogs',
      '.',
      '.catalogs[*].resources[1:]',
    ),
    fc.oneof(
      arbitraryConditions(
        fc.constantFrom('@', '@', '$.catalogs[0].provider', '$.catalogs[0].resources[0]'),
      ).map((condition) => `[?${condition}]`),
      fc.constantFrom('[*]', '.a'),
    ),
    tail,
  )
  .map(([start, filter, rest]) => `$${start === '.' ? '' : start}${filter}${rest}`);
