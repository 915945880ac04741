import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { joinJson, splitJson } from './json-pieces.ts';

describe('a JSON value in pieces', () => {
  it('is the same value again, with its members in their order', () => {
    const large = (seed: string) => Array.from({ length: 900 }, (_, index) => `${seed} ${index}`.repeat(9));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (first, second) => {
        const value = { first, large: large('a'), second, in: { here: [large('b'), first], after: second } };
        expect(JSON.stringify(joined(splitJson(value as Json)))).toBe(JSON.stringify(value));
      }),
    );
  });

  it.each([
    ['null', null],
    ['a number', 7],
    ['an empty array', [[]]],
    ['an empty object', {}],
    ['one long text', 'x'.repeat(100_000)],
    ['a member named __proto__', JSON.parse('{"__proto__":{"a":1}}')],
  ])('also %s', (_name, value) => {
    expect(JSON.stringify(joined(splitJson(value)))).toBe(JSON.stringify(value));
  });

  it('has no members without a value, as in JSON.stringify', () => {
    const value = { none: undefined, list: Array.from({ length: 20_000 }, String), in: { none: undefined } };
    const again = joined(splitJson(value as unknown as Json)) as object;
    expect(again).not.toHaveProperty('none');
    expect(JSON.stringify(again)).toBe(JSON.stringify(value));
  });

  it('keeps a large member named __proto__ as plain data', () => {
    const value = JSON.parse(`{"__proto__":${JSON.stringify(Array.from({ length: 20_000 }, String))},"b":1}`);
    const again = joined(splitJson(value)) as object;
    expect(Object.getPrototypeOf(again)).toBe(Object.prototype);
    expect(JSON.stringify(again)).toBe(JSON.stringify(value));
  });

  it('is cut wherever it is large: long arrays, objects of many members, and both inside each other', () => {
    const members = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, index) => [`member-${index}`, index]),
    );
    const pieces = splitJson({ deep: { deeper: [members, [members]] } });
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000);
    expect(JSON.stringify(joined(pieces))).toBe(JSON.stringify({ deep: { deeper: [members, [members]] } }));
  });
});

function joined(pieces: string[]): Json {
  const join = joinJson(pieces);
  while (join.next());
  return join.value();
}
