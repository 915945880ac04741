import type { Geometry } from '../../protocol/geojson.ts';
import { type GlobeFigure, globeFigureOf, isInside } from './globe-figure.ts';
import { angleBetween, angleToArc, arcsCross, chord, earthRadiusMeters, type Vector } from './sphere.ts';

// Distances on the sphere, along great circles: 0 where two geometries touch or one is inside an area of the other.

export function distanceBetween(stored: Geometry, query: Geometry): number {
  return prepareDistance(query)(stored);
}

/** The same for many stored geometries and one query. */
export function prepareDistance(query: Geometry): (stored: Geometry) => number {
  const figure = globeFigureOf(query);
  return (stored) => metersBetween(globeFigureOf(stored), figure);
}

export function metersBetweenPoints(a: Vector, b: Vector): number {
  return toMeters(angleBetween(a, b));
}

function metersBetween(first: GlobeFigure, second: GlobeFigure): number {
  if (hasSampleInside(first, second) || hasSampleInside(second, first)) return 0;
  let meters = Number.POSITIVE_INFINITY;
  let reach = Number.POSITIVE_INFINITY;
  for (const here of first.runs) {
    for (const there of second.runs) {
      if (chord(here.center, there.center) - here.radius - there.radius > reach) continue;
      meters = Math.min(meters, toMeters(angleBetweenRuns(here.vectors, there.vectors)));
      if (meters === 0) return 0;
      reach = Math.min(reach, chordOf(meters));
    }
  }
  return meters;
}

function hasSampleInside(inner: GlobeFigure, outer: GlobeFigure): boolean {
  return outer.areas !== undefined && inner.samples.some((sample) => isInside(outer, sample));
}

function toMeters(angle: number): number {
  return angle < resolution ? 0 : angle * earthRadiusMeters;
}

/** The chord of a distance, a hair too long: what lies beyond it lies beyond the distance. */
function chordOf(meters: number): number {
  const angle = meters / earthRadiusMeters;
  return angle < Math.PI ? 2 * Math.sin(angle / 2) + resolution : 2;
}

/** Two arcs are nearest where they cross, or at an end of one of them. */
function angleBetweenRuns(first: readonly Vector[], second: readonly Vector[]): number {
  if (first.length === 1) return angleFromPlaces(first, second);
  if (second.length === 1) return angleFromPlaces(second, first);
  let angle = Math.min(angleFromPlaces(first, second), angleFromPlaces(second, first));
  for (let i = 1; i < first.length; i++) {
    for (let j = 1; j < second.length; j++) {
      const [a, b, c, d] = [first[i - 1], first[i], second[j - 1], second[j]];
      if (a && b && c && d && arcsCross(a, b, c, d)) angle = 0;
    }
  }
  return angle;
}

function angleFromPlaces(places: readonly Vector[], arcs: readonly Vector[]): number {
  let angle = Number.POSITIVE_INFINITY;
  for (const place of places) {
    let from = arcs[0];
    if (from && arcs.length === 1) angle = Math.min(angle, angleBetween(place, from));
    for (const to of arcs) {
      if (from && to !== from) angle = Math.min(angle, angleToArc(place, from, to));
      from = to;
    }
  }
  return angle;
}

/** Radians; 10^-8 metres, about what the last digit of a coordinate is worth. */
const resolution = 2e-15;
