import { orient, type Spot } from './spot.ts';

export interface SweptPart {
  readonly edge: number;
  readonly a: Spot;
  readonly b: Spot;
}

/** The parts at the line of a sweep, from south to north: indexes into an array of them. Typed, because it moves tens of thousands of entries. */
export class SweepLine {
  private readonly parts: readonly SweptPart[];
  private readonly order: Int32Array;
  private size = 0;

  constructor(parts: readonly SweptPart[]) {
    this.parts = parts;
    this.order = new Int32Array(parts.length);
  }

  /** Replaces the parts through a place. Returns the new parts there, and the position of the first. */
  replaceAt(place: Spot, replace: (through: number[]) => number[]): { from: number; parts: number[] } {
    const from = this.findFirst(place, 0, (where) => where <= 0);
    const end = this.findFirst(place, from, (where) => where < 0);
    const parts = replace([...this.order.subarray(from, end)]);
    const to = from + parts.length;
    this.order.copyWithin(to, end, this.size);
    this.order.set(parts, from);
    this.size += to - end;
    return { from, parts };
  }

  at(position: number): number | undefined {
    return position < this.size ? this.order[position] : undefined;
  }

  positionOf(part: number): number {
    return this.order.subarray(0, this.size).indexOf(part);
  }

  /** Deletes all parts of an edge. Returns those that were next to them in the south. */
  delete(edge: number): number[] {
    const souths: number[] = [];
    for (let position = this.size - 1; position >= 0; position -= 1) {
      if (this.partAt(position).edge !== edge) continue;
      this.order.copyWithin(position, position + 1, this.size);
      this.size -= 1;
      if (position > 0) souths.push(this.order[position - 1] as number);
    }
    return souths;
  }

  private partAt(position: number): SweptPart {
    return this.parts[this.order[position] as number] as SweptPart;
  }

  /** Binary search for the first part that the place is on or south of. */
  private findFirst(place: Spot, from: number, isFound: (where: number) => boolean): number {
    let [low, high] = [from, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { a, b } = this.partAt(middle);
      if (isFound(side(a, b, place))) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Like `orient`, and faster if a place is close to a line: ends of edges are not computed places. */
export function side(a: Spot, b: Spot, p: Spot): number {
  const left = (b.x - a.x) * (p.y - a.y);
  const right = (b.y - a.y) * (p.x - a.x);
  const determinant = left - right;
  const doubt = rounding * (Math.abs(left) + Math.abs(right));
  return determinant > doubt || determinant < -doubt ? determinant : orient(a, b, p);
}

/** Rounding error of a difference of products, relative to these. */
const rounding = 3.4e-16;
