import { expect, it } from 'vitest';
import type { Json } from '../../protocol/json.ts';
import { findFailedConditions } from './describe-condition.ts';
import { parseFilter } from './parse.ts';

const resource: Json = { id: 'a', n: 5, tags: ['x'], name: 'Tea', parts: [{ kind: 'leaf' }] };
const failed = (condition: string, acceptPostfix = false) =>
  findFailedConditions(parseFilter(condition, { acceptPostfix }).query, resource);
const where = (condition: string) => failed(`$.catalogs[*].resources[?${condition}]`);

it('names only the parts of a conjunction that do not hold, with what stands there', () => {
  expect(where("@.n > 3 && @.n < 5 && @.name == 'Tea'")).toEqual([
    { condition: '@.n < 5', got: { '@.n': 5 } },
  ]);
});

it.each([
  ['@.missing == 1', '@.missing == 1', { '@.missing': null }],
  ["@.parts[?@.kind == 'root']", "@.parts[?@.kind == 'root']", { '@.parts': [{ kind: 'leaf' }] }],
  ["@.n == 1 || @['a b']", "@.n == 1 || @['a b']", { '@.n': 5, "@['a b']": null }],
  ["!match(@.name, 'T.*')", "!(match(@.name, 'T.*'))", { '@.name': 'Tea' }],
  ['length(@.tags) == 2 && @.id', 'length(@.tags) == 2', { '@.tags': ['x'] }],
  ['count(@.parts[*]) > 1', 'count(@.parts[*]) > 1', { '@.parts[*]': { kind: 'leaf' } }],
])('writes %s as it is asked', (condition, text, got) => {
  expect(where(condition)).toEqual([{ condition: text, got }]);
});

it('reads the form of PostgreSQL, too', () => {
  expect(failed('$.catalogs[*].resources[*] ? (@.n > 9)', true)).toEqual([
    { condition: '@.n > 9', got: { '@.n': 5 } },
  ]);
});

it('says nothing of a filter that looks beyond single resources', () => {
  expect(failed("$.catalogs[?@.id == 'x'].resources[*]")).toBeUndefined();
});
