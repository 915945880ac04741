import { isJsonObject, type Json } from '../../protocol/json.ts';
import { type AskedPath, leadsSomewhere, listAskedPaths } from '../../rules/filters/asked-paths.ts';
import type { Queryable } from '../../storage/database.ts';
import type { IndexReader } from '../cache/caches.ts';
import { type SampledCatalog, sampleCatalogs } from '../documents/sample-catalogs.ts';
import { selectSearched } from '../documents/scope.ts';
import { pathStep } from '../entries/geometry-paths.ts';
import type { Plan } from '../plan.ts';
import { keysOf } from '../set/sorted.ts';
import type { SpatialPlan } from '../spatial/constraint.ts';
import { findClosePaths } from './close-paths.ts';
import { type GeometryPath, listGeometryPaths, sampleGeometryKeys } from './geometry-paths.ts';

// Targets and filter paths that nothing stands at, and the known ones that come close. Known is only what stands in catalogs that are searched for the
// request.

export interface NearMiss {
  code: NearMissCode;
  says: string;
  /** The culprit in the request. */
  path: string;
  /** The known paths that come close to an unknown one. */
  close?: string[];
}

export type NearMissCode =
  | 'network-empty'
  | 'schema-unused'
  | 'wrong-root'
  | 'unknown-target'
  | 'unknown-path'
  | 'swapped-coordinates'
  | 'offset-beyond-last';

/** Longer ones are not named, or not in full. */
const maxNamedLength = 150;
/** Likely paths that are held against what is searched. */
const maxLikely = 10;
const maxNamed = 3;
/** Of an intent, and targets of each. */
const maxConstraints = 2;
const maxTargets = 2;
/** Of a filter; in longer ones than this, nobody looks for a typing error. */
const maxUnknownPaths = 2;
const maxExpression = 2_000;
const maxKnownPaths = 2_000;

export async function findUnknownTargets(database: IndexReader, plan: Plan): Promise<NearMiss[]> {
  const constraints = plan.spatial.slice(0, maxConstraints);
  if (constraints.length === 0) return [];
  const known = await listGeometryPaths(
    database,
    constraints.flatMap(({ paths }) => paths),
  );
  const found: NearMiss[] = [];
  for (const [index, spatial] of constraints.entries()) {
    const close = await findClose(database, plan, spatial, known);
    if (close === undefined) continue;
    found.push({
      code: 'unknown-target',
      says: `No geometry stands at ${spatial.constraint.targets.slice(0, maxTargets).map(shorten).join(' or ')}${describeNearest('targets', close)}.`,
      path: `$.message.intent.spatial[${index}].targets`,
      close,
    });
  }
  return found;
}

/** Undefined where something stands at one of its targets, as far as can be told. */
async function findClose(
  database: IndexReader,
  { scope }: Plan,
  { constraint, paths }: SpatialPlan,
  known: readonly GeometryPath[],
): Promise<string[] | undefined> {
  const byPath = new Map(known.map((each) => [each.path, each]));
  const own = paths.flatMap((path) => byPath.get(path) ?? []);
  const others = known.map(({ path }) => path).filter((path) => path.length <= maxNamedLength);
  const likely = constraint.targets
    .slice(0, maxTargets)
    .flatMap((target) => findClosePaths(shorten(target), others, maxLikely))
    .flatMap((path) => byPath.get(path) ?? []);
  const samples = await sampleGeometryKeys(
    database,
    [...new Set([...own, ...likely])].slice(0, own.length + maxLikely).map(({ id }) => id),
  );
  const keys = keysOf([...samples.values()].flatMap((sample) => sample.keys));
  const searched = new Set(await selectSearched(database, keys, scope));
  const isKnown = ({ id }: GeometryPath) => samples.get(id)?.keys.some((key) => searched.has(key)) ?? false;
  if (own.some((each) => isKnown(each) || samples.get(each.id)?.isAll === false)) return undefined;
  return [...new Set(likely.filter(isKnown).map(({ path }) => path))].slice(0, maxNamed);
}

export async function* findUnknownPaths(
  database: Queryable,
  { filter, scope }: Plan,
): AsyncGenerator<NearMiss> {
  if (filter === undefined || filter.source.expression.length > maxExpression) return;
  const asked = listAskedPaths(filter.filter.query);
  if (asked.length === 0) return;
  const catalogs = (await sampleCatalogs(database, scope)).map(buildView);
  if (catalogs.length === 0) return;
  const unknown = asked
    .filter((path) => !catalogs.some((catalog) => leadsSomewhere(path, catalog)))
    .map(formatPath)
    .sort((a, b) => a.length - b.length);
  const known = [...listKnown(catalogs)];
  // Below a path that nothing stands at, there is nothing either.
  const first = unknown.filter(
    (path, index) => !unknown.slice(0, index).some((other) => path.startsWith(other)),
  );
  for (const path of first.slice(0, maxUnknownPaths)) {
    const close = findClosePaths(shorten(path), known, maxNamed);
    const sample = `In a sample of ${catalogs.length} ${catalogs.length === 1 ? 'catalog' : 'catalogs'}`;
    yield {
      code: 'unknown-path',
      says: `${sample} nothing stands at ${shorten(path)}${describeNearest('paths', close)}.`,
      path: '$.message.intent.filters.expression',
      close,
    };
  }
}

/** As a filter sees it. */
function buildView({ head, resources, offers }: SampledCatalog): Json {
  const list = (texts: string[]): Json[] => texts.map((text) => JSON.parse(text));
  return { catalogs: [{ ...JSON.parse(head), resources: list(resources), offers: list(offers) }] };
}

function formatPath(path: AskedPath): string {
  return `$${path.map((step) => (step === 'any' ? '[*]' : pathStep(step.name))).join('')}`;
}

function listKnown(catalogs: readonly Json[]): Set<string> {
  const known = new Set<string>();
  for (const catalog of catalogs) collectPaths(catalog, '$', known);
  return known;
}

/** Members alone: who misses one does not miss an element. */
function collectPaths(value: Json, path: string, known: Set<string>): void {
  if (known.size >= maxKnownPaths) return;
  if (Array.isArray(value)) for (const element of value) collectPaths(element, `${path}[*]`, known);
  if (!isJsonObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const at = path + pathStep(name);
    if (at.length > maxNamedLength) continue;
    known.add(at);
    collectPaths(member as Json, at, known);
  }
}

function describeNearest(what: string, close: readonly string[]): string {
  return close.length === 0 ? '' : `; the nearest known ${what} are ${close.join(', ')}`;
}

/** What a request says is repeated in part, on one line. */
export function shorten(text: string): string {
  const line = text.slice(0, 2 * maxNamedLength).replace(/[\p{Cc}\s]+/gu, ' ');
  return line.length > maxNamedLength ? `${line.slice(0, maxNamedLength - 1)}…` : line;
}
