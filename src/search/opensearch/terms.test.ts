import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberRange, numberTerm } from './terms.ts';

const path = fc.integer({ min: 0, max: 2 ** 53 - 1 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('numbers in an index of OpenSearch', () => {
  it('are in a range whose bounds they are between', () => {
    fc.assert(
      fc.property(path, fc.tuple(number, number, number), (hash, numbers) => {
        const [low = 0, value = 0, high = 0] = numbers.sort((a, b) => a - b);
        for (const bounds of [{ low, high }, { low }, { high }, {}])
          expect(isWithin(numberTerm(hash, value), numberRange(hash, bounds))).toBe(true);
      }),
    );
  });

  it('are not in the range of another path, but for the few that share its 16 bits', () => {
    expect(isWithin(numberTerm(1, 5), numberRange(2, {}))).toBe(false);
    expect(isWithin(numberTerm(2 ** 16 + 2, 5), numberRange(2, {}))).toBe(true);
  });

  it('are told apart where they differ in ten digits', () => {
    expect(isWithin(numberTerm(7, 1.000_000_001), numberRange(7, { high: 1 }))).toBe(false);
    expect(isWithin(numberTerm(7, -3), numberRange(7, { low: -2.999_999_999 }))).toBe(false);
    expect(numberTerm(7, -0)).toBe(numberTerm(7, 0));
  });
});

function isWithin(term: string, { gte, lte }: { gte: string; lte: string }): boolean {
  return BigInt(gte) <= BigInt(term) && BigInt(term) <= BigInt(lte);
}
