import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../protocol/json.ts';
import { attributeEntries, lookupOf, numberPath, valueFact } from './attribute-entries.ts';

describe('the facts and numbers of a document', () => {
  it('are found by lookups of the path and the value of each', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        const { facts, numbers } = attributeEntries(document as Json);
        const [expectedFacts, expectedNumbers] = [new Set<number>(), new Map<number, Set<number>>()];
        visit(document as Json, [], (path, value) => {
          const { path: text } = lookupOf(path);
          if (typeof value !== 'number') expectedFacts.add(valueFact(text, value));
          else
            expectedNumbers.set(
              numberPath(text),
              (expectedNumbers.get(numberPath(text)) ?? new Set()).add(value),
            );
        });
        expect(facts).toEqual(expectedFacts);
        expect(numbers).toEqual(expectedNumbers);
      }),
    );
  });
});

type Path = Parameters<typeof lookupOf>[0];

function visit(
  value: Json,
  path: Path,
  see: (path: Path, value: string | number | boolean | null) => void,
): void {
  if (typeof value !== 'object' || value === null) see(path, value);
  else if (Array.isArray(value)) for (const element of value) visit(element, [...path, 'element'], see);
  else for (const [name, member] of Object.entries(value)) visit(member as Json, [...path, { name }], see);
}
