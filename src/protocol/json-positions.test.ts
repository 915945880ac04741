import { expect, it } from 'vitest';
import { jsonPath } from './json.ts';
import { locateValues, segmentsOf } from './json-positions.ts';

const text = `{
  "a": { "b": [1, {"c": "x\\"]"}, true] },
  "é": "ü", "d e": null
}`;

it('finds the line and column of values, also behind strings that hold brackets', () => {
  const paths = [['a', 'b', 1, 'c'], ['a', 'b', 2], ['d e'], [], ['a', 'b', 0]];
  expect(locateValues(text, paths)).toEqual([
    { line: 2, column: 25 },
    { line: 2, column: 34 },
    { line: 3, column: 20 },
    { line: 1, column: 1 },
    { line: 2, column: 16 },
  ]);
});

it('gives the place of what a missing value would stand in', () => {
  expect(
    locateValues(text, [
      ['a', 'missing'],
      ['a', 'b', 1, 'no', 'more'],
    ]),
  ).toEqual([
    { line: 2, column: 8 },
    { line: 2, column: 19 },
  ]);
});

it('reads paths as they are written', () => {
  for (const segments of [['message', 'catalogs', 0, 'id'], ['a b', "it's", 'x"y', 3], []])
    expect(segmentsOf(jsonPath(segments))).toEqual(segments);
});
