import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import { conditionHolds } from '../../../tests/support/search/condition-holds.ts';
import { arbitraryLocalFilter, arbitraryMembers } from '../../../tests/support/values/arbitrary-filter.ts';
import type { Json } from '../../protocol/json.ts';
import { indexCondition } from './conditions.ts';
import { type IndexCondition, memberNames, weaken } from './index-condition.ts';
import { localFilter } from './local-filter.ts';
import { parseFilter } from './parse.ts';

const conditionOf = (condition: string, rest = '') => {
  const expression = `$.catalogs[*].resources[?${condition}]${rest}`;
  return indexCondition(parseFilter(expression, { acceptPostfix: false }).query).condition;
};

const always = { kind: 'always' };
const never = { kind: 'never' };
const path = (...names: string[]) => names.map((name) => ({ name }));
const equals = (name: string, value: Json) => ({ kind: 'equals', path: path(name), value });
const range = (name: string, operator: string, value: number) => ({
  kind: 'range',
  path: path(name),
  operator,
  value,
});
const exists = (...names: string[]) => ({ kind: 'exists', path: path(...names) });

describe('indexCondition', () => {
  it.each<[string, unknown]>([
    ['@.a == "x"', equals('a', 'x')],
    ['"x" == @.a', equals('a', 'x')],
    ["@['@type'] == 'Coffee \\'s'", equals('@type', "Coffee 's")],
    ['@.a == null', equals('a', null)],
    ['@.a == 1.0', equals('a', 1)],
    ['@.a == -0', equals('a', 0)],
    ['@.a > 5', range('a', '>', 5)],
    ['5 > @.a', range('a', '<', 5)],
    ['@.a >= 1e300', range('a', '>=', 1e300)],
    ['@.a <= "x"', exists('a')],
    ['@.a <= true', equals('a', true)],
    ['@.a < null', never],
    ['@.a != "x"', always],
    ['!(@.a != "x")', equals('a', 'x')],
    ['!(@.a == "x")', always],
    ['!(@.a < 5)', always],
    ['@.a == @.b', always],
    ['@.a <= @.b', always],
    ['@.a < @.b', { kind: 'and', conditions: [exists('a'), exists('b')] }],
    ['@.a', exists('a')],
    ['!@.a', always],
    ['!(!(@.a && @.b == 1))', { kind: 'and', conditions: [exists('a'), equals('b', 1)] }],
    ['!(!@.a || @.b != 1)', { kind: 'and', conditions: [exists('a'), equals('b', 1)] }],
    ['@.a && @.a.b && @.a.b == 1', { kind: 'equals', path: path('a', 'b'), value: 1 }],
    [
      '@.a == 1 && (@.b > 2 || @.b == "n")',
      {
        kind: 'and',
        conditions: [equals('a', 1), { kind: 'or', conditions: [range('b', '>', 2), equals('b', 'n')] }],
      },
    ],
    ['@.a == 1 || @.b != 2', always],
    ['@.a == 1 && @.b != 2', equals('a', 1)],
    ['length(@.a) > 3', exists('a')],
    ['length(@.a) == length(@.b)', always],
    ['count(@.a.*) > 0', { kind: 'exists', path: [...path('a'), 'child'] }],
    ['count(@.a.*) == 0', always],
    ['value(@.a) == 1', equals('a', 1)],
    ['value(@..a) == 1', always],
    ['match(@.a, "x.*")', exists('a')],
    ['@.a[0] == 1', { kind: 'equals', path: [...path('a'), 'element'], value: 1 }],
    ['@.a[?@.b == 1]', { kind: 'equals', path: [...path('a'), 'child', ...path('b')], value: 1 }],
    ['@.a == "\\u0000"', exists('a')],
    ["@.a['\\u0000'] == 1", exists('a')],
    ['@.a.b..c == 1 || 1 == 2', 'invalid'],
    ['@.a.b..c', exists('a', 'b')],
    ['@ == 1', always],
    ['1 == 1', always],
    ['1 > 1', never],
    [`@${'.a'.repeat(100)} == 1`, exists(...Array(64).fill('a'))],
  ])('asks of %s', (condition, expected) => {
    if (expected === 'invalid') expect(() => conditionOf(condition)).toThrow(/^invalid JSONPath/);
    else expect(conditionOf(condition)).toEqual(expected);
  });

  it('asks for what stands after the filter as well', () => {
    expect(conditionOf('@.a == 1', '.b.c')).toEqual({
      kind: 'and',
      conditions: [equals('a', 1), exists('b', 'c')],
    });
    expect(conditionOf('@.a == 1', "['b','c']")).toEqual({
      kind: 'and',
      conditions: [equals('a', 1), { kind: 'or', conditions: [exists('b'), exists('c')] }],
    });
  });

  it('reads filters of nodes themselves', () => {
    const { query } = parseFilter('$.catalogs[*].resources[*].a ? (@.b[*] == 1)', { acceptPostfix: true });
    const element = [...path('a', 'b'), 'child'];
    expect(indexCondition(query)).toEqual({
      condition: { kind: 'equals', path: element, value: 1 },
      isExact: true,
    });
  });

  it('asks nothing of a filter that looks beyond single resources', () => {
    const { query } = parseFilter('$.catalogs[*].offers[?@.a == 1]', { acceptPostfix: false });
    expect(indexCondition(query)).toEqual({ condition: always, isExact: false });
  });

  it('stays small where paths branch at every step', () => {
    expect(conditionOf(`@${"['a','b']".repeat(40)}`)).toEqual({
      kind: 'or',
      conditions: [exists('a'), exists('b')],
    });
  });

  it.each([
    ['@.a == "x"', true],
    ['@.a > 5 && @.b.c == null || @.d', true],
    ['!(@.a != 1)', true],
    ['@.a <= false', true],
    ['@.a[?@.b == 1]', true],
    ['@.a[*]', true],
    ["@['a','b']", true],
    ['@.a[?@.b == 1 && @.c == 2]', false],
    ['@.a[?@.b == 1].c', false],
    ['@.a[0] == 1', false],
    ['@.a != 1', false],
    ['!@.a', false],
    ['@.a > "x"', false],
    ['@.a == @.b', false],
    ['match(@.a, "x")', false],
    ['length(@.a) == 1', false],
    ["value(@['a','b']) == 1", false],
    ['@.a == 1 && @.b != 2', false],
  ])('knows whether it asks all that %s asks', (condition, isExact) => {
    const expression = `$.catalogs[*].resources[?${condition}]`;
    expect(indexCondition(parseFilter(expression, { acceptPostfix: false }).query).isExact).toBe(isExact);
  });

  it('holds for every resource that the filter selects, and for no other where it is exact', () => {
    const seen = { selected: 0, refused: 0, exact: 0 };
    const someResources = fc.array(arbitraryMembers, { minLength: 4, maxLength: 8 });
    fc.assert(
      fc.property(arbitraryLocalFilter, someResources, (expression, resources) => {
        const { query } = parseFilter(expression, { acceptPostfix: false });
        const { condition, isExact } = indexCondition(query);
        const isSelected = localFilter(query) ?? (() => expect.unreachable());
        for (const resource of resources) {
          const holds = conditionHolds(condition, resource);
          const selects = isSelected(resource);
          if (selects || isExact) expect(holds, JSON.stringify({ expression, resource })).toBe(selects);
          if (selects) seen.selected++;
          if (!holds) seen.refused++;
          if (isExact) seen.exact++;
        }
      }),
      { numRuns: runs(3_000) },
    );
    // The test is meaningful only if filters select, conditions refuse, and both agree, often enough.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs(1_000));
  });
});

describe('weaken', () => {
  it('drops what an index cannot answer, and what hangs on it', () => {
    const condition = conditionOf('(@.a == 1 || @.b > 2) && @.c == 3');
    const canAnswer = ({ kind }: IndexCondition) => kind === 'equals';
    expect(weaken(condition, canAnswer)).toEqual(equals('c', 3));
    expect(weaken(conditionOf('1 == 2'), canAnswer)).toEqual(never);
  });
});

describe('memberNames', () => {
  it('are those of a path of members only', () => {
    expect(memberNames(path('a', '@type'))).toEqual(['a', '@type']);
    expect(memberNames([...path('a'), 'element'])).toBeUndefined();
  });
});
