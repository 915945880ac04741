import type { Surroundings } from './look-around.ts';
import { boundary, exterior, interior, type Location } from './relation.ts';
import { compareX, compareY, margin, moved, type Spot, vertexAt } from './spot.ts';

// A place where the two geometries meet. It is inside an area only if every piece of an edge that ends there has the area on both sides. The highest dimension decides, as in JTS.

export interface Node {
  spot: Spot;
  members: [Member, Member];
}

interface Member {
  /** Some piece of an edge of either geometry ends here. */
  isReached: boolean;
  onArea: boolean;
  onLine: boolean;
  isCovered: boolean;
  isSurrounded: boolean;
  /** The number of ends of lines of this geometry here: an odd number is a boundary. */
  lineEnds: number;
  isPoint: boolean;
}

export function reach({ members }: Node, which: 0 | 1, around: Surroundings): void {
  const member = members[which];
  member.isReached = true;
  member.onArea ||= around.onArea;
  member.onLine ||= around.onLine;
  member.isCovered ||= around.first || around.second;
  member.isSurrounded &&= around.first && around.second;
}

export function locate({ onArea, onLine, isCovered, isSurrounded, lineEnds, isPoint }: Member): Location {
  if (isCovered) return onArea && !isSurrounded ? boundary : interior;
  if (onLine) return lineEnds % 2 === 1 ? boundary : interior;
  return onArea || isPoint ? interior : exterior;
}

/** Returns the node at a place. One place has one node, however it was computed; the same is true of a pole. */
export class Nodes {
  readonly all: Node[] = [];
  private readonly cells = new Map<number, Node[]>();

  at(spot: Spot): Node {
    const place = canonical(spot);
    const known = this.cells.get(cellOf(place.x))?.find((node) => isSame(node.spot, place));
    if (known) return known;
    if (this.all.length === maxNodes) throw new TooManyMeetings();
    const node: Node = { spot: place, members: [unreached(), unreached()] };
    this.all.push(node);
    // The same place, computed differently, may be rounded into the next cell.
    for (const cell of new Set([cellOf(place.x - margin), cellOf(place.x + margin)])) {
      const nodes = this.cells.get(cell);
      if (nodes) nodes.push(node);
      else this.cells.set(cell, [node]);
    }
    return node;
  }
}

/** This many nodes take seconds and 150 MB. Two equal geometries of 50,000 vertices each have fewer. */
const maxNodes = 150_000;

class TooManyMeetings extends RangeError {
  readonly code = 'TOO_MANY_MEETINGS';

  constructor() {
    super(`two geometries meet in more than ${maxNodes} places`);
  }
}

function canonical(spot: Spot): Spot {
  if (Math.abs(spot.y) === 90) return vertexAt(0, spot.y);
  return moved(spot, -Math.floor((spot.x + 180 + seam) / 360));
}

function isSame(p: Spot, q: Spot): boolean {
  return Math.abs(p.y - q.y) < margin && compareX(p, q) === 0 && compareY(p, q) === 0;
}

function cellOf(x: number): number {
  return Math.floor(x * cellsPerDegree);
}

function unreached(): Member {
  return {
    isReached: false,
    onArea: false,
    onLine: false,
    isCovered: false,
    isSurrounded: true,
    lineEnds: 0,
    isPoint: false,
  };
}

const cellsPerDegree = 1e4;
/** Degrees; counting starts beside the date line, so that rounding does not separate places on it. */
const seam = 1.2345678e-6;
