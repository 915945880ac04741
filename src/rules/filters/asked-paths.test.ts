import { describe, expect, it } from 'vitest';
import type { Json } from '../../protocol/json.ts';
import { leadsSomewhere, listAskedPaths } from './asked-paths.ts';
import { parseFilter } from './parse.ts';

const list = (expression: string) =>
  listAskedPaths(parseFilter(expression, { acceptPostfix: true }).query).map((path) =>
    path.map((step) => (step === 'any' ? '*' : step.name)).join(' '),
  );

describe('the paths that a filter asks for', () => {
  it.each([
    ['$.catalogs[*].resources[?@.a.b == 1]', ['catalogs * resources * a b', 'catalogs * resources *']],
    [
      "$.catalogs[?@.provider.id == 'p'].resources[0]['a']",
      ['catalogs * provider id', 'catalogs * resources * a'],
    ],
    [
      '$.catalogs[*].resources[*] ? (@.a > 1 && @.b == 2)',
      ['catalogs * resources * a', 'catalogs * resources * b', 'catalogs * resources *'],
    ],
    [
      '$.catalogs[*].resources[?@.a[?@.b] || length(@.c) > 1]',
      [
        'catalogs * resources * a * b',
        'catalogs * resources * a *',
        'catalogs * resources * c',
        'catalogs * resources *',
      ],
    ],
    [
      '$.catalogs[?$.catalogs[0].id == @.provider.id]',
      ['catalogs * id', 'catalogs * provider id', 'catalogs *'],
    ],
  ])('%s', (expression, paths) => {
    expect(list(expression)).toEqual(paths);
  });

  it.each([
    ['is negated', '$.catalogs[?!@.a]'],
    ['may be anything else', '$.catalogs[?@.a != 1]'],
    ['is counted', '$.catalogs[?count(@.a) == 0]'],
  ])('leave out what need not be there: what %s', (_, expression) => {
    expect(list(expression)).toEqual(['catalogs *']);
  });

  it.each(['$..a', "$.catalogs['a', 'b']"])('leave out what cannot be told: %s', (expression) => {
    expect(list(expression)).toEqual([]);
  });

  it('lead somewhere or not', () => {
    const root: Json = { catalogs: [{ resources: [{ a: null }, { b: { c: 1 } }] }] };
    const leads = (expression: string) =>
      listAskedPaths(parseFilter(expression, { acceptPostfix: false }).query).map((path) =>
        leadsSomewhere(path, root),
      );
    expect(leads('$.catalogs[*].resources[*].a')).toEqual([true]);
    expect(leads('$.catalogs[*].resources[*][*].c')).toEqual([true]);
    expect(leads('$.catalogs[*].resources[*].a.c')).toEqual([false]);
    expect(leads('$.catalogs[*].resources.a')).toEqual([false]);
    expect(leads('$.catalogs[*].constructor')).toEqual([false]);
  });
});
