import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../tests/support/reproducible.ts';
import { goForm, jcsForm } from '../protocol/canonical-json.ts';
import type { Json } from '../protocol/json.ts';
import { canonicalPieces } from './seal.ts';

describe.each([
  ['of RFC 8785', jcsForm],
  ['of Go', goForm],
])('canonical pieces in the form %s', (_name, form) => {
  const joined = (value: Json) => Buffer.concat([...canonicalPieces(value, form)]).toString();

  it('are the canonical form, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(joined(value as Json)).toBe(form.write(value as Json));
      }),
    );
  });

  it('are so for lists of any length', () => {
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
          for (const written of [list, replaced, list.slice(1)]) {
            expect(joined({ list: written, other: 1 })).toBe(form.write({ list: written, other: 1 }));
            expect(joined(written)).toBe(form.write(written));
          }
        },
      ),
      { numRuns: runs(50) },
    );
  });
});
