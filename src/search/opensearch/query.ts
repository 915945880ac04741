import type { IndexCondition, IndexLeaf } from '../../rules/filters/index-condition.ts';
import type { LocatedPart, Search, WordLookup } from '../candidates.ts';
import { catalogKeyOf } from '../documents/keys.ts';
import { findObjectPaths } from '../filter/object-paths.ts';
import type { AttributeFormat, IndexFormat } from '../format/index-format.ts';
import { roots } from '../spatial/geometry-paths.ts';
import { areasOf } from './boxes.ts';
import { everyNetwork } from './mapping.ts';
import { targetTerm } from './read-resources.ts';
import { numberRange, termOf } from './terms.ts';

// An intent as a query of OpenSearch: a conjunction of what every resource of the answer satisfies. What cannot be said is left out, so that the query is never narrower than the intent.

export type Clause = Record<string, unknown>;

interface Parts {
  words?: WordLookup;
  located?: readonly LocatedPart[];
}

/** Undefined where nothing can be said but the network. */
export async function buildQuery(
  search: Search,
  { attributes }: IndexFormat,
  { words, located = [] }: Parts,
): Promise<Clause | undefined> {
  const { filter, scope } = search.plan;
  const clauses = [
    ...(filter ? [await filterClause(search, attributes, filter.condition)] : []),
    ...(words ? [textClause(words)] : []),
    ...located.map(spatialClause),
  ].filter((clause) => clause !== undefined);
  if (clauses.length === 0) return undefined;
  if (scope.networkId !== undefined) clauses.push({ terms: { networks: [scope.networkId, everyNetwork] } });
  return { bool: { filter: clauses } };
}

async function filterClause(
  { database }: Search,
  format: AttributeFormat,
  condition: IndexCondition,
): Promise<Clause | undefined> {
  const asked = leavesOf(condition).flatMap(({ path }) => format.lookupOf(path).unlessObjects);
  const objects = asked.length > 0 ? await findObjectPaths(database, asked) : new Set<string>();
  return conditionClause(condition, format, objects);
}

function leavesOf(condition: IndexCondition): IndexLeaf[] {
  if ('conditions' in condition) return condition.conditions.flatMap(leavesOf);
  return 'path' in condition ? [condition] : [];
}

/** Undefined for what holds always, as far as the index knows. */
function conditionClause(
  condition: IndexCondition,
  format: AttributeFormat,
  objects: ReadonlySet<string>,
): Clause | undefined {
  switch (condition.kind) {
    case 'always':
      return undefined;
    case 'never':
      return { match_none: {} };
    case 'and': {
      const clauses = condition.conditions.flatMap((each) => conditionClause(each, format, objects) ?? []);
      return clauses.length > 0 ? { bool: { filter: clauses } } : undefined;
    }
    case 'or': {
      const clauses = condition.conditions.map((each) => conditionClause(each, format, objects));
      if (clauses.includes(undefined)) return undefined;
      return { bool: { should: clauses, minimum_should_match: 1 } };
    }
    default:
      return leafClause(condition, format, objects);
  }
}

function leafClause(
  leaf: IndexLeaf,
  { lookupOf, numberPath, valueFact, maxFactText }: AttributeFormat,
  objects: ReadonlySet<string>,
): Clause | undefined {
  const { path, unlessObjects } = lookupOf(leaf.path);
  // A resource is an object: as its child, anything may stand anywhere.
  if (leaf.path[0] === 'child' || unlessObjects.some((each) => objects.has(each))) return undefined;
  const exists = { term: { paths: termOf(numberPath(path)) } };
  switch (leaf.kind) {
    case 'exists':
      return exists;
    case 'range': {
      const bound = leaf.operator.startsWith('>') ? { low: leaf.value } : { high: leaf.value };
      return { range: { numbers: numberRange(numberPath(path), bound) } };
    }
    case 'equals': {
      const { value } = leaf;
      if (typeof value === 'number')
        return { range: { numbers: numberRange(numberPath(path), { low: value, high: value }) } };
      if (typeof value === 'string' && value.length > maxFactText) return exists;
      return { term: { facts: termOf(valueFact(path, value)) } };
    }
  }
}

/** One of the words, or an offer of another catalog with one of them. */
function textClause({ ids, heads, others }: WordLookup): Clause {
  const should: Clause[] = [{ terms: { words: ids.map(termOf) } }, { term: { hasAnyWord: true } }];
  if (heads.length > 0) should.push({ terms: { catalog: Array.from(heads, catalogKeyOf) } });
  if (others.length > 0) should.push({ ids: { values: Array.from(others, String) } });
  return { bool: { should, minimum_should_match: 1 } };
}

/** Whatever satisfies it has a geometry under one of its paths; and, unless it may be far away, one that meets the box. */
function spatialClause({ paths, region }: LocatedPart): Clause | undefined {
  if (paths.some(isOfOffers)) return undefined;
  const hasGeometry = { terms: { targets: paths.map(targetTerm) } };
  if (region.box === undefined) return hasGeometry;
  const meets = areasOf(region.box).map((shape) => ({
    geo_shape: { shapes: { shape, relation: 'intersects' } },
  }));
  return { bool: { filter: [hasGeometry], should: meets, minimum_should_match: 1 } };
}

function isOfOffers(path: string): boolean {
  return path.startsWith(roots.offer);
}
