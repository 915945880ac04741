import { isJsonObject, type Json } from '../../protocol/json.ts';
import { type AskedPath, leadsSomewhere, listAskedPaths } from '../../rules/filters/asked-paths.ts';
import { findEditDistance } from '../../rules/text/typing-errors.ts';
import type { IndexReader } from '../cache/caches.ts';
import { type SampledCatalog, sampleCatalogs } from '../documents/sample-catalogs.ts';
import { type Scope, selectSearched } from '../documents/scope.ts';
import { pathStep, roots } from '../entries/geometry-paths.ts';
import type { Plan } from '../plan.ts';
import type { SearchEngine } from '../search.ts';
import { readRegion } from '../spatial/read-geometries.ts';
import type { Tools } from '../tools.ts';

// Targets and filter paths that match nothing, and the closest paths in a sample of the catalogs that the request searches.

export interface NearMiss {
  code:
    | 'network-empty'
    | 'schema-unused'
    | 'wrong-root'
    | 'unknown-target'
    | 'unknown-path'
    | 'swapped-coordinates'
    | 'offset-beyond-last';
  says: string;
  /** The culprit in the request. */
  path: string;
  /** The known paths closest to an unknown one. */
  close?: string[];
}

/** Longer paths are shortened or omitted. */
const maxNamedLength = 150;
const maxNamed = 3;
/** Maximum of constraints of an intent, and of targets of each. */
const [maxConstraints, maxTargets] = [2, 2];
/** Limits of a filter. In longer filters, unknown paths are not searched. */
const [maxUnknownPaths, maxExpression] = [2, 2_000];
const maxKnownPaths = 2_000;
/** Geometries read at a target. If none of these is in scope, others may be. */
const geometriesSeen = 400;

export async function* findUnknownTargets(
  { indexed }: SearchEngine,
  { reader, deadline }: Pick<Tools, 'reader' | 'deadline'>,
  { spatial, scope, format }: Plan,
) {
  const hasPlace = (paths: readonly string[]) =>
    indexed ? indexed.hasPlace({ deadline }, scope, paths) : isPlaceListed(reader, scope, paths);
  for (const [index, { constraint, paths }] of spatial.slice(0, maxConstraints).entries()) {
    if (await hasPlace(paths)) continue;
    const known = (await sampleCatalogs(reader, scope)).flatMap(({ head, resources, offers }) => [
      ...format.geometries.find(JSON.parse(head).provider ?? null, roots.provider),
      ...resources.flatMap((text) => format.geometries.find(JSON.parse(text), roots.resource)),
      ...offers.flatMap((text) => format.geometries.find(JSON.parse(text), roots.offer)),
    ]);
    const others = [...new Set(known.map(({ path }) => path))].filter(
      (path) => path.length <= maxNamedLength,
    );
    const targets = constraint.targets.slice(0, maxTargets).map(shorten);
    const close = targets.flatMap((target) => findClosePaths(target, others, maxNamed));
    yield describeUnknown('unknown-target', {
      says: `There is no geometry at ${targets.join(' or ')}`,
      path: `$.message.intent.spatial[${index}].targets`,
      close: [...new Set(close)].slice(0, maxNamed),
    });
  }
}

async function isPlaceListed(reader: IndexReader, scope: Scope, paths: readonly string[]) {
  const keys = await readRegion(reader, { paths }, -1, geometriesSeen);
  return keys.length === geometriesSeen || (await selectSearched(reader, keys, scope)).length > 0;
}

export async function* findUnknownPaths(reader: IndexReader, { filter, scope }: Plan) {
  if (filter === undefined || filter.source.expression.length > maxExpression) return;
  const asked = listAskedPaths(filter.filter.query);
  if (asked.length === 0) return;
  const catalogs = (await sampleCatalogs(reader, scope)).map(buildView);
  if (catalogs.length === 0) return;
  const unknown = asked
    .filter((path) => !catalogs.some((catalog) => leadsSomewhere(path, catalog)))
    .map(formatPath)
    .sort((a, b) => a.length - b.length);
  const known = new Set<string>();
  for (const catalog of catalogs) collectPaths(catalog, '$', known);
  // Paths below an unknown one are unknown, too.
  const first = unknown.filter(
    (path, index) => !unknown.slice(0, index).some((other) => path.startsWith(other)),
  );
  const sample = `In a sample of ${catalogs.length} ${catalogs.length === 1 ? 'catalog' : 'catalogs'}`;
  for (const path of first.slice(0, maxUnknownPaths))
    yield describeUnknown('unknown-path', {
      says: `${sample} there is no value at ${shorten(path)}`,
      path: '$.message.intent.filters.expression',
      close: findClosePaths(shorten(path), [...known], maxNamed),
    });
}

/** In the form that a filter sees. */
function buildView({ head, resources, offers }: SampledCatalog): Json {
  const list = (texts: string[]): Json[] => texts.map((text) => JSON.parse(text));
  return { catalogs: [{ ...JSON.parse(head), resources: list(resources), offers: list(offers) }] };
}

function formatPath(path: AskedPath): string {
  return `$${path.map((step) => (step === 'any' ? '[*]' : pathStep(step.name))).join('')}`;
}

/** Only members: a missing path is not a missing element. */
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

function describeUnknown(
  code: 'unknown-target' | 'unknown-path',
  { says, path, close }: { says: string; path: string; close: string[] },
): NearMiss {
  const what = code === 'unknown-target' ? 'targets' : 'paths';
  const nearest = close.length === 0 ? '' : `; the nearest known ${what} are ${close.join(', ')}`;
  return { code, says: `${says}${nearest}.`, path, close };
}

/** A part of the request for a message, on one line. */
export function shorten(text: string): string {
  const line = text.slice(0, 2 * maxNamedLength).replace(/[\p{Cc}\s]+/gu, ' ');
  return line.length > maxNamedLength ? `${line.slice(0, maxNamedLength - 1)}…` : line;
}

/** The known paths closest to an unknown one: first those with the same or a similar last name, in any case, then those with most names in common. */
export function findClosePaths(asked: string, known: readonly string[], atMost: number): string[] {
  const names = namesOf(asked);
  return known
    .map((path) => {
      const others = namesOf(path);
      const shared =
        others.filter((name) => names.includes(name)).length / Math.max(others.length, names.length);
      return { path, ending: compareNames(names.at(-1) ?? '', others.at(-1) ?? ''), shared };
    })
    .sort((a, b) => a.ending - b.ending || b.shared - a.shared || (a.path < b.path ? -1 : 1))
    .slice(0, atMost)
    .map(({ path }) => path);
}

/** Names with more different letters are not similar. */
const maxNameEdits = 3;

/** 0: equal except for case. Then the number of different letters, then one contained in the other, then not similar. */
function compareNames(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  const most = Math.min(maxNameEdits, Math.floor(Math.min(a.length, b.length) / 2));
  return findEditDistance(a, b, most) ?? maxNameEdits + (a.includes(b) || b.includes(a) ? 1 : 2);
}

function namesOf(path: string): string[] {
  return path.match(/[^.[\]'"$*]+/g) ?? [];
}
