import type { Geometry } from '../../protocol/geojson.ts';
import { withArcs } from './arcs.ts';
import { type Edge, type EdgeIndex, edgesAt, firstTurn, indexEdges, lastTurn } from './edges.ts';
import { toggle } from './look-around.ts';
import { type Shape, shapeOf } from './shape.ts';
import { chord, dot, leftOf, toVector, type Vector } from './sphere.ts';
import { compareX, moved, type Spot } from './spot.ts';

// A geometry on the sphere whose edges are arcs of great circles, prepared for distances.

export interface GlobeFigure {
  readonly runs: readonly Run[];
  /** One place of each point, line and ring: if no edges cross, a line is entirely inside or outside an area. */
  readonly samples: readonly Spot[];
  readonly areas: EdgeIndex | undefined;
  /** For each edge of the areas, from west to east, the direction of north; filled on demand. */
  readonly norths: (Vector | undefined)[];
}

/** Places with arcs between neighbours, all of it within a ball. */
export interface Run {
  readonly vectors: readonly Vector[];
  readonly center: Vector;
  readonly radius: number;
}

export function globeFigureOf(geometry: Geometry): GlobeFigure {
  const shape = shapeOf(geometry);
  return shape.lines.length + shape.areas.length === 0 ? figureOfPoints(shape.points) : figureOfShape(shape);
}

function figureOfPoints(points: readonly Spot[]): GlobeFigure {
  const runs = points.map(({ lon, y }) => {
    const center = toVector(lon, y);
    return { vectors: [center], center, radius: 0 };
  });
  return { runs, samples: points, areas: undefined, norths: [] };
}

function figureOfShape(shape: Shape): GlobeFigure {
  const { points, lines, areas } = withArcs(shape);
  const rings = areas.flatMap((area) => area.map(({ spots }) => spots));
  const chains = [...points.map((point) => [point]), ...lines, ...rings];
  return {
    runs: chains.flatMap(runsAlong),
    samples: chains.flatMap((spots) => spots.slice(0, 1)),
    areas: areas.length > 0 ? indexEdges({ lines: [], areas }) : undefined,
    norths: [],
  };
}

function runsAlong(spots: readonly Spot[]): Run[] {
  const vectors = spots.map(({ lon, y }) => toVector(lon, y));
  const runs = [];
  for (let start = 0; start === 0 || start < vectors.length - 1; start += arcsPerRun) {
    runs.push(runOf(vectors.slice(start, start + arcsPerRun + 1)));
  }
  return runs;
}

/** Within less than a quarter of the world around a centre, every arc between its places is inside. */
function runOf(vectors: readonly Vector[]): Run {
  const center = middleOf(vectors);
  let radius = 0;
  for (const vector of vectors) radius = Math.max(radius, chord(vector, center));
  return { vectors, center, radius: radius < quarterChord ? radius : 2 };
}

function middleOf(vectors: readonly Vector[]): Vector {
  let [x, y, z] = [0, 0, 0];
  for (const vector of vectors) {
    x += vector[0];
    y += vector[1];
    z += vector[2];
  }
  const length = Math.hypot(x, y, z);
  return length > 0 ? [x / length, y / length, z / length] : [0, 0, 1];
}

/** Whether a place is inside an area of the figure, by a walk north from it as in lookAround. */
export function isInside({ areas, norths }: GlobeFigure, spot: Spot): boolean {
  if (!areas) return false;
  const vector = toVector(spot.lon, spot.y);
  const inside = areas.aroundNorthPole.slice();
  const last = lastTurn(areas, spot.x);
  for (let turns = firstTurn(areas, spot.x); turns <= last; turns++) {
    const here = moved(spot, turns);
    for (const edge of edgesAt(areas, here.x)) {
      if (edge.isMeridian || compareX(here, edge.a) < 0 || compareX(here, edge.b) >= 0) continue;
      if (isCrossed(edge, norths, vector)) toggle(inside, edge.area);
    }
  }
  return inside.length > 0;
}

function isCrossed(edge: Edge, norths: (Vector | undefined)[], vector: Vector): boolean {
  if (edge.isPole) return edge.a.y > 0;
  norths[edge.number] ??= leftOf(toVector(edge.a.lon, edge.a.y), toVector(edge.b.lon, edge.b.y));
  return dot(norths[edge.number] as Vector, vector) < 0;
}

const arcsPerRun = 8;
/** The chord of a quarter circle, minus more than rounding could add. */
const quarterChord = Math.SQRT2 - 1e-9;
