import type { Geometry } from '../../protocol/geojson.ts';
import { type Box, type EdgeIndex, indexEdges } from './edges.ts';
import { type Shape, shapeOf } from './shape.ts';
import { margin, type Spot } from './spot.ts';

export class Figure {
  readonly points: readonly Spot[];
  /** Contains all of it; its longitudes may continue past 180. */
  readonly box: Box;
  /** Dimension of its lines and areas: 1 or 2, or -1 if there are none. */
  readonly bodyDimension: number;
  private readonly shape: Shape;
  private edges: EdgeIndex | undefined;

  constructor(geometry: Geometry) {
    this.shape = shapeOf(geometry);
    this.points = this.shape.points;
    this.box = boxOf(this.shape);
    this.bodyDimension = this.shape.areas.length > 0 ? 2 : this.shape.lines.length > 0 ? 1 : -1;
  }

  /** Its lines and areas. Made on demand: the boxes decide about most figures. */
  get index(): EdgeIndex {
    this.edges ??= indexEdges(this.shape);
    return this.edges;
  }
}

export function boxesMeet(first: Box, second: Box): boolean {
  if (first.south > second.north || first.north < second.south) return false;
  const turns = Math.ceil((first.west - second.east - margin) / 360);
  return second.west + 360 * turns <= first.east + margin;
}

function boxOf({ points, lines, areas }: Shape): Box {
  const box = { west: Infinity, east: -Infinity, south: Infinity, north: -Infinity };
  include(box, points);
  for (const line of lines) include(box, line);
  for (const area of areas) {
    for (const { spots, pole } of area) {
      include(box, spots);
      if (pole === 'north') box.north = 90;
      if (pole === 'south') box.south = -90;
    }
  }
  // A pole has every longitude.
  return box.north === 90 || box.south === -90 ? { ...box, west: -180, east: 180 } : box;
}

function include(box: Box, spots: readonly Spot[]): void {
  for (const { x, y } of spots) {
    if (x < box.west) box.west = x;
    if (x > box.east) box.east = x;
    if (y < box.south) box.south = y;
    if (y > box.north) box.north = y;
  }
}
