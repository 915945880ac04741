import type { Geometry, Position } from '../../protocol/geojson.ts';
import { type Spot, vertexAt } from './spot.ts';
import { type Ring, unwrapLine, unwrapRing } from './unwrap.ts';

// A geometry of any type as the union of its points, lines and areas.

export interface Shape {
  points: Spot[];
  /** Positions one after the other, no two neighbours equal, unwrapped across the date line. */
  lines: Spot[][];
  areas: Area[];
}

/** The points inside an odd number of its rings. */
export type Area = Ring[];

export function shapeOf(geometry: Geometry): Shape {
  const shape: Shape = { points: [], lines: [], areas: [] };
  add(geometry, shape);
  return shape;
}

function add(geometry: Geometry, shape: Shape): void {
  if (geometry.type === 'Point') addPoint(geometry.coordinates, shape);
  if (geometry.type === 'MultiPoint') for (const each of geometry.coordinates) addPoint(each, shape);
  if (geometry.type === 'LineString') addLine(geometry.coordinates, shape);
  if (geometry.type === 'MultiLineString') for (const each of geometry.coordinates) addLine(each, shape);
  if (geometry.type === 'Polygon') addArea(geometry.coordinates, shape);
  if (geometry.type === 'MultiPolygon') for (const each of geometry.coordinates) addArea(each, shape);
  if (geometry.type === 'GeometryCollection') for (const each of geometry.geometries) add(each, shape);
}

function addPoint([longitude = 0, latitude = 0]: Position, shape: Shape): void {
  shape.points.push(vertexAt(longitude, latitude));
}

/** A line without length is a point. */
function addLine(positions: readonly Position[], shape: Shape): void {
  const spots = unwrapLine(positions);
  if (spots.length > 1) shape.lines.push(spots);
  else if (positions[0]) addPoint(positions[0], shape);
}

function addArea(rings: readonly Position[][], shape: Shape): void {
  const area = rings.map(unwrapRing).filter(({ spots }) => spots.length > 1);
  if (area.length > 0) shape.areas.push(area);
  else if (rings[0]?.[0]) addPoint(rings[0][0], shape);
}
