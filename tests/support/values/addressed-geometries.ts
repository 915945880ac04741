import type { Catalog, Offer, Resource } from '../../../src/protocol/catalog.ts';
import { findGeometryFault, type Geometry } from '../../../src/protocol/geojson.ts';
import { isJsonObject, type Json } from '../../../src/protocol/json.ts';
import { parseQuery } from '../../../src/rules/jsonpath/parse.ts';

/** The geometries at some targets that concern a resource: its own, its provider's, and those of its offers. Found by walking through all values. */
export function addressedGeometries(
  targets: readonly string[],
  resource: Resource,
  { provider }: Catalog,
  offers: readonly Offer[],
): Geometry[] {
  const payload = { catalogs: [{ provider, resources: [resource], offers }] };
  const wanted = new Set(targets.flatMap((target) => findSteps(target) ?? []));
  return geometriesIn(payload as unknown as Json, [])
    .filter(({ steps }) => wanted.has(JSON.stringify(steps)))
    .map(({ geometry }) => geometry);
}

/** The names in a path, with null for any element; undefined if it is not such a path. */
function findSteps(target: string): string | undefined {
  try {
    const steps = parseQuery(target).segments.map(({ descendants, selectors: [selector, ...more] }) => {
      if (descendants || more.length > 0) return undefined;
      if (selector?.kind === 'wildcard') return null;
      return selector?.kind === 'name' ? selector.name : undefined;
    });
    return steps.includes(undefined) ? undefined : JSON.stringify(steps);
  } catch {
    return undefined;
  }
}

function geometriesIn(
  value: Json,
  steps: (string | null)[],
): { steps: (string | null)[]; geometry: Geometry }[] {
  if (Array.isArray(value)) return value.flatMap((element) => geometriesIn(element, [...steps, null]));
  if (!isJsonObject(value)) return [];
  if (findGeometryFault(value) === undefined) return [{ steps, geometry: value as unknown as Geometry }];
  return Object.entries(value).flatMap(([name, member]) => geometriesIn(member, [...steps, name]));
}
