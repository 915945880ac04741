// Document keys (docs/index-format.md, "Keys"): 2^26 for each catalog. The first, its head, stands for the catalog with all its resources.

export const span = 2 ** 26;
const firstOffer = 2 ** 25;

/** Resources of a catalog have numbers from 1, its offers from 2^25. */
export function keyOf(catalogKey: number, number: number): number {
  return catalogKey * span + number;
}

export function catalogKeyOf(key: number): number {
  return Math.floor(key / span);
}

/** The number of a document in its catalog; 0: the catalog itself. `%` of large numbers takes ten times as long. */
export function numberOf(key: number): number {
  return key - headOf(key);
}

/** The key of the catalog itself, for any key of its range. Keys are integers below 2^53, so dividing by a power of two is exact. */
export function headOf(key: number): number {
  return Math.floor(key / span) * span;
}

export function kindOf(key: number): 'catalog' | 'resource' | 'offer' {
  const number = numberOf(key);
  if (number === 0) return 'catalog';
  return isResource(number) ? 'resource' : 'offer';
}

export function isResource(number: number): boolean {
  return number > 0 && number < firstOffer;
}

export const firstNumbers = { resource: 1, offer: firstOffer } as const;
export const lastNumbers = { resource: firstOffer - 1, offer: span - 1 } as const;

export interface KeyRange {
  from: number;
  /** The first key after the range. */
  end: number;
}

/** A catalog with all its documents. */
export function rangeOf(catalogKey: number): KeyRange {
  return { from: keyOf(catalogKey, 0), end: keyOf(catalogKey + 1, 0) };
}
