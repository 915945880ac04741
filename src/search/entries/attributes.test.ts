import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../protocol/json.ts';
import { attributeEntries, hash53, type Level, lookupOf, presenceFact, valueFact } from './attributes.ts';

describe('the facts and numbers of a document', () => {
  it.each<Level>(['catalog', 'resource', 'offer'])(
    'of a %s are found by lookups of the path and the value of each',
    (level) => {
      fc.assert(
        fc.property(fc.jsonValue(), (document) => {
          const { facts, numbers } = attributeEntries(document as Json, level);
          const [expectedFacts, expectedNumbers] = [new Set<number>(), new Map<number, Set<number>>()];
          visit(document as Json, [], (path, value) => {
            const { path: text } = lookupOf(path, level);
            if (typeof value !== 'number' && path.length > 0) expectedFacts.add(presenceFact(text));
            if (typeof value === 'object' && value !== null) return;
            if (typeof value !== 'number') expectedFacts.add(valueFact(text, value));
            else
              expectedNumbers.set(hash53(text), (expectedNumbers.get(hash53(text)) ?? new Set()).add(value));
          });
          expect(facts).toEqual(expectedFacts);
          expect(numbers).toEqual(expectedNumbers);
        }),
      );
    },
  );
});

type Path = Parameters<typeof lookupOf>[0];

function visit(value: Json, path: Path, see: (path: Path, value: Json) => void): void {
  see(path, value);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) for (const element of value) visit(element, [...path, 'element'], see);
  else for (const [name, member] of Object.entries(value)) visit(member as Json, [...path, { name }], see);
}
