import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../protocol/canonical-json.ts';
import type { Json } from '../protocol/json.ts';
import { canonicalPieces } from './canonical-pieces.ts';

describe('canonical pieces', () => {
  it('are the canonical form, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(joined(value as Json)).toBe(canonicalJson(value as Json));
      }),
    );
  });

  it('are so for lists of any length, also when some items were written before and others are new', () => {
    const item = fc.record({ id: fc.string(), value: fc.jsonValue() }).map((drawn) => drawn as Json);
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 3 }),
        fc.integer({ max: 1600 }),
        item,
        (items, length, other) => {
          const list = Array.from(
            { length: Math.max(0, length) },
            (_, index) => items[index % items.length] as Json,
          );
          const replaced = list.map((one, index) => (index === list.length - 1 ? other : one));
          for (const written of [list, list, replaced, list.slice(1), list]) {
            expect(joined({ list: written, other: 1 })).toBe(canonicalJson({ list: written, other: 1 }));
            expect(joined(written)).toBe(canonicalJson(written));
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});

function joined(value: Json): string {
  return Buffer.concat([...canonicalPieces(value)]).toString();
}
