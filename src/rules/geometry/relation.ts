// DE-9IM (OGC 06-103r4 section 6.1.15.3): the dimensions of the shared parts of the interior, boundary and exterior of two geometries, -1 for none.

export type Relation = number[];

export type Location = 0 | 1 | 2;
export const interior = 0;
export const boundary = 1;
export const exterior = 2;

export function unrelated(): Relation {
  return [-1, -1, -1, -1, -1, -1, -1, -1, 2];
}

export function raise(relation: Relation, first: Location, second: Location, dimension: number): void {
  const cell = 3 * first + second;
  if ((relation[cell] ?? -1) < dimension) relation[cell] = dimension;
}

export function transpose([ii, ib, ie, bi, bb, be, ei, eb, ee]: Relation): Relation {
  return [ii, bi, ei, ib, bb, eb, ie, be, ee] as Relation;
}
