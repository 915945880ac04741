import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import { normalizedPath } from '../../../tests/support/values/normalized-path.ts';
import type { Json } from '../../protocol/json.ts';
import { parseJsonPath } from '../jsonpath/jsonpath.ts';
import { parseFilter } from './parse.ts';
import { parsePostfixQuery } from './postfix.ts';

const catalog = {
  id: 'c',
  isActive: true,
  provider: { id: 'p', descriptor: { name: 'Tea & Coffee' } },
  resources: [
    { id: 'r0', '@type': 'Coffee', a: { b: 'x' }, c: 6, tags: ['organic', 'fair'], sizes: [{ g: 250 }] },
    { id: 'r1', '@type': 'Tea', a: { b: 'x' }, c: 5, tags: [], note: 'first\nsecond' },
    { id: 'r2', a: { b: 'y' }, c: '6', sizes: [{ g: 250 }, { g: 500 }], best: 500 },
    { id: 'r3', c: null, note: 'Second (best) a.b' },
  ],
  offers: [{ id: 'o0', resourceIds: ['r1'], price: 5 }],
} as unknown as Json;
const payload = { catalogs: [catalog] };

const pathsBy = (filter: { find: ReturnType<typeof parseJsonPath>['find'] }, value: Json) =>
  filter.find(value).map(({ path }) => normalizedPath(path));
const pathsOf = (expression: string) => pathsBy(parseFilter(expression, { acceptPostfix: true }), payload);
const idsOf = (condition: string) =>
  parseFilter(`$.catalogs[*].resources[*] ? (${condition})`, { acceptPostfix: true })
    .find(payload)
    .map(({ value }) => (value as { id: string }).id);

describe('parsePostfixQuery', () => {
  it.each([
    [
      '$.catalogs[*].resources[*] ? (@.a.b == "x" && @.c > 5)',
      '$.catalogs[*].resources[?@.a.b == "x" && @.c > 5]',
    ],
    ['$.catalogs[*].resources[*]?(@.c<5||@.c>5)', '$.catalogs[*].resources[?@.c < 5 || @.c > 5]'],
    ['$.catalogs[*].resources[*] ? (!(@.c == 5))', '$.catalogs[*].resources[?!(@.c == 5)]'],
    ['$.catalogs[*].resources[*] ? (@.c <> 5)', '$.catalogs[*].resources[?@.c != 5]'],
    ['$.catalogs[*].resources[*] ? (@."@type" == "Tea")', "$.catalogs[*].resources[?@['@type'] == 'Tea']"],
    ['$."catalogs"[*].resources[*] ? (@.c == null)', '$.catalogs[*].resources[?@.c == null]'],
    ['$[\'catalogs\'][*].resources[*] ? (@.id == "r1")', "$.catalogs[*].resources[?@.id == 'r1']"],
    ['$.catalogs[*].resources[*] ? (exists(@.tags))', '$.catalogs[*].resources[?@.tags]'],
    ['$.catalogs[*].resources[*] ? (!exists (@.tags))', '$.catalogs[*].resources[?!@.tags]'],
    [
      '$.catalogs[*].resources[*] ? (exists(@.sizes[*] ? (@.g > 300)))',
      '$.catalogs[*].resources[?@.sizes[?@.g > 300]]',
    ],
    ['$.catalogs[*].resources[*] ? (@.tags[*] == "fair")', '$.catalogs[*].resources[?@.tags[?@ == "fair"]]'],
    ['$.catalogs[*].resources[*] ? ("fair" == @.tags[*])', '$.catalogs[*].resources[?@.tags[?"fair" == @]]'],
    [
      '$.catalogs[*].resources[*] ? (@.c == $.catalogs[0].offers[0].price)',
      '$.catalogs[*].resources[?@.c == $.catalogs[0].offers[0].price]',
    ],
    ['$.catalogs[*].resources[*].sizes[*] ? (@.g == 250)', '$.catalogs[*].resources[*].sizes[?@.g == 250]'],
    ['$.catalogs[*].resources[*] ? (@.c == 5).tags', '$.catalogs[*].resources[?@.c == 5].tags'],
    [
      '$.catalogs[*] ? (@.isActive == true).resources[*] ? (@.c == 5)',
      '$.catalogs[?@.isActive == true].resources[?@.c == 5]',
    ],
    ['  lax $.catalogs[*].offers[*] ? (@.price >= 5) \n', '$.catalogs[*].offers[?@.price >= 5]'],
    ['strict $.catalogs[*] ? (@.id == "why? && || $ (")', '$.catalogs[?@.id == "why? && || $ ("]'],
    ['$.catalogs[*] ? (@.resources[0].id == "r0")', '$.catalogs[?@.resources[0].id == "r0"]'],
  ])('reads %s as RFC 9535 writes it', (postfix, rfc) => {
    expect(withoutPositions(parsePostfixQuery(postfix))).toEqual(withoutPositions(parseJsonPath(rfc).query));
    expect(pathsOf(postfix)).toEqual(pathsBy(parseJsonPath(rfc), payload));
  });

  it.each([
    ['$ ? (exists(@.catalogs))', ['$']],
    ['$.catalogs[0] ? (@.id == "c")', ["$['catalogs'][0]"]],
    ['$.catalogs[0] ? (@.id == "d")', []],
    ['$.catalogs[*].provider ? (@.id == "p").descriptor', ["$['catalogs'][0]['provider']['descriptor']"]],
    ['$.catalogs[*].resources[*] ? (@.c > 4) ? (@.c < 6).id', ["$['catalogs'][0]['resources'][1]['id']"]],
    ['$.catalogs[*].resources[*].a ? (@.b == "y")', ["$['catalogs'][0]['resources'][2]['a']"]],
    ['$..sizes ? (exists(@[*] ? (@.g == 500)))', ["$['catalogs'][0]['resources'][2]['sizes']"]],
  ])('filters the node itself in %s', (expression, paths) => {
    expect(pathsOf(expression)).toEqual(paths);
  });

  it.each([
    ['@.tags[*] like_regex "^ORG" flag "i"', ['r0']],
    ['@.tags[*] like_regex "^ORG"', []],
    ['@.note like_regex "first.second"', []],
    ['@.note like_regex "first.second" flag "s"', ['r1']],
    ['@.note like_regex "^second$" flag "im"', ['r1']],
    ['@.note like_regex "(best)" flag "q"', ['r3']],
    ['@.note like_regex "\\\\bsec" flag "i"', ['r1', 'r3']],
    ['@.c like_regex "6"', ['r2']],
    ['@.note starts with "first"', ['r1']],
    ['@.note starts with "Second (best) a."', ['r3']],
    ['@.note starts with "Second (best) aa"', []],
    ['@.tags[*] starts with "fa"', ['r0']],
    ['@.sizes[*].g > 300', ['r2']],
    [
      '$.catalogs[*].offers[*].price == @.c',
      'several nodes can be compared with a literal or a path from $ only',
    ],
    ['@.sizes[*].g == @.best', 'several nodes can be compared with a literal or a path from $ only'],
    ['@.sizes[*].g == $.catalogs[0].resources[2].best', ['r2']],
    ['@.tags[*] == @.tags[*]', 'this query may select several nodes and cannot be compared'],
  ])('understands %s', (condition, expected) => {
    if (typeof expected === 'string') expect(() => idsOf(condition)).toThrow(expected);
    else expect(idsOf(condition)).toEqual(expected);
  });

  it('takes a missing member for different from every value, as RFC 9535 does', () => {
    expect(idsOf('@.a.b != "x"')).toEqual(['r2', 'r3']);
    expect(idsOf('exists(@.a.b) && @.a.b != "x"')).toEqual(['r2']);
  });

  it('enters arrays only where the path says so', () => {
    expect(idsOf('@.tags == "fair"')).toEqual([]);
    expect(idsOf('@.sizes.g == 250')).toEqual([]);
  });

  it.each([
    ['an open filter', '$.catalogs[*] ? (@.a == 1', 26],
    ['a filter without parentheses', '$.catalogs[*] ? @.a == 1', 17],
    ['a parenthesis too many', '$.catalogs[*] ? (@.a == 1))', 27],
    ['a single equals sign', '$.catalogs[*] ? (@.a = 1)', 22],
    ['a pattern that is no text', '$.catalogs[*] ? (@.a like_regex 1)', 33],
    ['a pattern that needs more than linear time', '$.catalogs[*] ? (@.a like_regex "(a)\\\\1")', 33],
    ['a flag that does not exist', '$.catalogs[*] ? (@.a like_regex "a" flag "x")', 33],
    ['a comparison of a condition', '$.catalogs[*] ? (exists(@.a) == true)', 18],
    ['a method', '$.catalogs[*] ? (@.a.size() > 1)', 26],
    ['an unknown keyword', '$.catalogs[*] ? ((@.a == 1) is unknown)', 29],
    ['two roots', '$.catalogs[*] ? (@.a == 1) && $.b == 1', 27],
    ['a comparison outside a filter', '$.catalogs[*].a == "A"', 16],
    ['a quoted name without a filter', '$.catalogs[*]."a"', 15],
  ])('refuses %s at its place', (_, expression, character) => {
    const at = `at character ${character}`;
    expect(() => parseFilter(expression, { acceptPostfix: true })).toThrow(
      expect.objectContaining({
        code: 'SCH_INVALID_JSONPATH',
        path: '$.message.intent.filters.expression',
        message: expect.stringMatching(new RegExp(`${at}$`)),
      }),
    );
  });

  it('never throws anything but SCH_INVALID_JSONPATH', () => {
    const unit = fc.constantFrom(
      ...['$', '@', '.', '[*]', '["a"]', '?', '(', ')', '!', '==', '<>', '&&', '||', ' ', '"a"', '"'],
      ...['a', '1', 'exists(', 'like_regex', 'flag', 'starts with', '.a', '@.a', '@.a[*]', '? (', '\\'],
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 14 }), (rest) => {
        try {
          parseFilter(`$.a[*] ? (${rest}`, { acceptPostfix: true }).find({ a: [{ a: [1, 'a'] }] });
        } catch (error) {
          expect(error).toMatchObject({ code: 'SCH_INVALID_JSONPATH', status: 400 });
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('reads a chain of any number of filters', () => {
    const expression = `$.catalogs[*]${' ? (@.id == "c")'.repeat(4_000)}`;
    expect(pathsOf(expression)).toEqual(["$['catalogs'][0]"]);
  });
});

function withoutPositions(query: unknown): unknown {
  return JSON.parse(JSON.stringify(query, (member, value) => (member === 'at' ? undefined : value)));
}
