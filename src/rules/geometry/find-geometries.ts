import { findGeometryFault, type Geometry, geometryTypes } from '../../protocol/geojson.ts';
import { isJsonObject, type Json } from '../../protocol/json.ts';

export interface FoundGeometry {
  at: (string | number)[];
  geometry: Geometry;
}

/** The geometries at any depth of a document. A candidate with impossible coordinates is not a geometry. */
export function findGeometries(document: Json): FoundGeometry[] {
  const found: FoundGeometry[] = [];
  collect(document, [], found);
  return found;
}

/** `at` is the path of the value and is restored afterwards: most values are no geometries and need no copy of it. */
function collect(value: Json, at: (string | number)[], found: FoundGeometry[]): void {
  const enter = (step: string | number, member: Json) => {
    at.push(step);
    collect(member, at, found);
    at.pop();
  };
  if (Array.isArray(value)) for (const [index, element] of value.entries()) enter(index, element);
  else if (isJsonObject(value)) {
    if (isGeometry(value)) found.push({ at: [...at], geometry: value });
    else for (const name of Object.keys(value)) enter(name, value[name] as Json);
  }
}

const knownTypes: ReadonlySet<unknown> = new Set(geometryTypes);

function isGeometry(value: object): value is Geometry {
  return 'type' in value && knownTypes.has(value.type) && findGeometryFault(value) === undefined;
}
