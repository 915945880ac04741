import type { Geometry } from '../../protocol/geojson.ts';
import { type Json, quoteName } from '../../protocol/json.ts';
import { findGeometries } from '../../rules/geometry/find-geometries.ts';
import { parseQuery } from '../../rules/jsonpath/parse.ts';

// Geometries at any depth of a document, each under its path: the text that `targets` of an intent must equal (catalog spec: POST /discover). Array elements share a path.

export interface FoundGeometry {
  path: string;
  geometry: Geometry;
}

/** Locations of documents, in the paths of an intent. */
export const roots = {
  provider: '$.catalogs[*].provider',
  resource: '$.catalogs[*].resources[*]',
  offer: '$.catalogs[*].offers[*]',
} as const;

export function geometriesOf(document: Json, root: string): FoundGeometry[] {
  return findGeometries(document).map(({ at, geometry }) => ({
    path: root + at.map((step) => (typeof step === 'number' ? '[*]' : pathStep(step))).join(''),
    geometry,
  }));
}

/** The step of a path to the member with this name, as spelled here. */
export function pathStep(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${quoteName(name)}]`;
}

/** The spelling under which geometries are indexed; undefined for a target that equals no indexed path. */
export function findTargetPath(target: string): string | undefined {
  try {
    const steps = parseQuery(target).segments.map(({ descendants, selectors: [selector, ...more] }) => {
      if (descendants || more.length > 0) return undefined;
      if (selector?.kind === 'wildcard') return '[*]';
      return selector?.kind === 'name' ? pathStep(selector.name) : undefined;
    });
    return steps.includes(undefined) ? undefined : `$${steps.join('')}`;
  } catch {
    return undefined;
  }
}
