import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDuplicates, type OperatorPlace, spellDuplicates } from './duplicates.ts';
import { distanceBetween } from './geometry/distance.ts';

const place = (node: string, latitude: number, longitude = 9.19, operator = 'ABC'): OperatorPlace => ({
  ...{ operator, node, latitude, longitude },
});

describe('findDuplicates', () => {
  it('adds up the EVSE ids and the places that two nodes share, and names some', () => {
    const shared = { nodes: ['b', 'a'] as [string, string], count: 12, examples: ['DE*ABC*E1', 'DE*ABC*E2'] };
    const places = [place('a', 48.8973), place('b', 48.8974, 9.19, ' abc'), place('c', 48.9)];
    const [only, ...more] = findDuplicates([shared], places);
    expect(more).toEqual([]);
    expect(only).toEqual({
      ...{ nodes: ['a', 'b'], evseIds: 12, places: 1 },
      examples: ['DE*ABC*E1', 'DE*ABC*E2', 'ABC at 48.8973, 9.19'],
    });
    expect(only && spellDuplicates(only)).toBe(
      '12 EVSE ids and 1 place of the same operator are published by both a and b, for example DE*ABC*E1; DE*ABC*E2; ABC at 48.8973, 9.19.',
    );
  });

  it('knows places at both sides of the date line, and leaves other operators alone', () => {
    const places = [place('a', 0, 179.9999), place('b', 0, -179.9999), place('c', 0, 180, 'Other')];
    expect(findDuplicates([], places)).toMatchObject([{ nodes: ['a', 'b'], places: 1 }]);
  });

  it('finds exactly the pairs of nodes with places of one operator within 30 m', () => {
    const degrees = fc.integer({ min: 0, max: 12 }).map((step) => step * 0.0001);
    const any = fc.record({
      operator: fc.constantFrom('x', 'y'),
      node: fc.constantFrom('a', 'b', 'c'),
      longitude: degrees,
      latitude: degrees.map((value) => 60 + value),
    });
    const point = ({ longitude, latitude }: OperatorPlace) => ({
      ...{ type: 'Point' as const, coordinates: [longitude, latitude] as [number, number] },
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 12 }), (places) => {
        const expected = new Map<string, number>();
        for (const one of places) {
          const near = places.filter(
            (other) =>
              one.operator === other.operator &&
              one.node < other.node &&
              distanceBetween(point(one), point(other)) <= 30,
          );
          for (const node of new Set(near.map((other) => other.node)))
            expected.set(`${one.node} ${node}`, (expected.get(`${one.node} ${node}`) ?? 0) + 1);
        }
        const found = findDuplicates([], places).map((pair) => [pair.nodes.join(' '), pair.places] as const);
        expect(new Map(found)).toEqual(expected);
      }),
    );
  });
});
