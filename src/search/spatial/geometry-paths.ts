import { findGeometryFault, type Geometry } from '../../protocol/geojson.ts';
import { isJsonObject, type Json, quoteName } from '../../protocol/json.ts';
import { parseQuery } from '../../rules/jsonpath/parse.ts';

// Geometries at any depth of a document, each under its path: the text that `targets` of an intent must equal (catalog spec: POST
// /discover). Bracket and dot spelling are the same path, and array elements share one.

export interface FoundGeometry {
  path: string;
  geometry: Geometry;
}

/** Where documents stand, as paths of an intent see them. */
export const roots = {
  provider: '$.catalogs[*].provider',
  resource: '$.catalogs[*].resources[*]',
  offer: '$.catalogs[*].offers[*]',
} as const;

/** What looks like a geometry and has impossible coordinates is none. */
export function geometriesOf(document: Json, root: string): FoundGeometry[] {
  const found: FoundGeometry[] = [];
  collect(document, root, found);
  return found;
}

function collect(value: Json, path: string, found: FoundGeometry[]): void {
  if (Array.isArray(value)) {
    for (const element of value) collect(element, `${path}[*]`, found);
  } else if (isJsonObject(value)) {
    if (isGeometry(value)) found.push({ path, geometry: value });
    else for (const name of Object.keys(value)) collect(value[name] as Json, path + pathStep(name), found);
  }
}

const geometryTypes: ReadonlySet<unknown> = new Set([
  ...[
    'Point',
    'MultiPoint',
    'LineString',
    'MultiLineString',
    'Polygon',
    'MultiPolygon',
    'GeometryCollection',
  ],
]);

function isGeometry(value: object): value is Geometry {
  return 'type' in value && geometryTypes.has(value.type) && findGeometryFault(value) === undefined;
}

/** A step of a path to the member of this name, as paths are spelled here. */
export function pathStep(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${quoteName(name)}]`;
}

/** The spelling under which geometries are indexed; undefined for a target that no indexed path can equal. */
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
