import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonPath } from './json.ts';
import { locateValues, type Position, positionsAt, segmentsOf } from './json-positions.ts';

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

it('counts lines and characters in one pass as if each offset were counted alone', () => {
  const unit = fc.constantFrom('a', '\n', '\r', 'é', '😀', '\ud83d', '\ude00');
  const texts = fc.array(unit, { maxLength: 60 }).map((units) => units.join(''));
  fc.assert(
    fc.property(texts, fc.array(fc.nat(120)), (generated, numbers) => {
      const offsets = numbers.map((number) => number % (generated.length + 1));
      expect(positionsAt(generated, offsets)).toEqual(offsets.map((offset) => countAlone(generated, offset)));
    }),
  );
});

function countAlone(whole: string, offset: number): Position {
  const lines = whole.slice(0, offset).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

it('reads paths as they are written', () => {
  for (const segments of [['message', 'catalogs', 0, 'id'], ['a b', "it's", 'x"y', 3], []])
    expect(segmentsOf(jsonPath(segments))).toEqual(segments);
});
