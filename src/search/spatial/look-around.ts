import { encloses, gapBetween, type SphereBox, touches, unite } from '../../rules/geometry/sphere-box.ts';
import type { Queryable } from '../../storage/database.ts';
import { geometryCache, readForCache } from '../cache/caches.ts';
import type { KnownCell } from '../cache/geometry-cache.ts';
import { type Cell, cellsOf } from './grid.ts';
import {
  type BoxedGeometry,
  countRegion,
  type Nearby,
  type Region,
  readBoxed,
  readGeometriesOf,
  readNearby,
  readRegion,
  type StoredGeometry,
} from './read-geometries.ts';

// Finds geometries in a region, nearest first or in the order of keys, through the cache of cells. Wide or crowded regions are left to the database.

/** When there is more in the cells that are read at a time, they are left to the database. */
const cellLimits = { geometries: 2_500, characters: 500_000 };
/** When catalogs that have changed have more, all is read again as it is needed. */
const changeLimits = { geometries: 100, characters: 100_000 };
/** Who asks for more paths at a time, or longer ones, could fill the memory with their names. */
const maxPaths = 10;
const maxPathLength = 300;

/** How many geometries there are in a region, counted up to a limit under each path; undefined where no path is known. */
export async function countGeometries(
  queryable: Queryable,
  region: Region,
  limit: number,
): Promise<number | undefined> {
  const known = await lookInto(queryable, region);
  if (known === undefined) return countRegion(queryable, region, limit);
  return known.isPathKnown ? known.geometries.length : undefined;
}

/** The next ones of a region, in the order of keys. */
export async function findInOrder(
  queryable: Queryable,
  region: Region,
  page: { after?: StoredGeometry; limit: number },
): Promise<readonly StoredGeometry[]> {
  const known = await lookInto(queryable, region);
  if (known === undefined) return readRegion(queryable, region, page);
  const { after, limit } = page;
  const left = after ? known.geometries.filter((each) => byKey(each, after) > 0) : known.geometries;
  return left.sort(byKey).slice(0, limit);
}

function byKey(a: StoredGeometry, b: StoredGeometry): number {
  return a.key - b.key || a.position - b.position;
}

/** The first ones of a region, the nearest boxes first; undefined where no path is known. */
export async function findNearby(
  queryable: Queryable,
  region: Region,
  from: SphereBox,
  limit: number,
): Promise<Nearby | undefined> {
  const known = await lookInto(queryable, region);
  if (known === undefined) return readNearby(queryable, region, from, limit);
  if (!known.isPathKnown) return undefined;
  const all = known.geometries.map((geometry) => ({ geometry, gap: gapBetween(geometry.box, from) }));
  const nearest = all.sort((a, b) => a.gap - b.gap || byKey(a.geometry, b.geometry)).slice(0, limit);
  const isAll = all.length < limit;
  return {
    geometries: nearest.map(({ geometry }) => geometry),
    reach: isAll ? Number.POSITIVE_INFINITY : (nearest.at(-1)?.gap ?? 0),
  };
}

interface Known {
  isPathKnown: boolean;
  geometries: BoxedGeometry[];
}

/** All that stands in a region; undefined where the database has to be asked. */
async function lookInto(queryable: Queryable, { paths, box }: Region): Promise<Known | undefined> {
  const isShort = paths.length <= maxPaths && paths.every(({ length }) => length <= maxPathLength);
  const cells = box && isShort ? cellsOf(box) : undefined;
  if (!box || !cells || !(await isUpToDate(queryable))) return undefined;
  const cache = geometryCache(queryable);
  const known: KnownCell[] = [];
  const unknown: { path: string; cell: Cell }[] = [];
  for (const path of paths)
    for (const cell of cells) {
      const found = cache.find(path, cell);
      if (found) known.push(found);
      else unknown.push({ path, cell });
    }
  const isCrowded = () => known.some(({ geometries }) => geometries === undefined);
  if (!isCrowded() && unknown.length > 0) known.push(...(await readCells(queryable, unknown)));
  if (isCrowded()) return undefined;
  return { isPathKnown: known.some(({ isPathKnown }) => isPathKnown), geometries: within(box, known) };
}

/** The geometries that changed catalogs have now are read first. When something changes meanwhile, the database is asked instead. */
async function isUpToDate(queryable: Queryable): Promise<boolean> {
  const cache = geometryCache(queryable);
  const catalogs = [...cache.unread];
  if (catalogs.length === 0) return true;
  const read = () => readGeometriesOf(queryable, catalogs, changeLimits);
  const { found, mayKeep } = await readForCache(queryable, read);
  if (!mayKeep) return false;
  if (found) cache.noteRead(catalogs, found);
  else cache.clear();
  return true;
}

async function readCells(
  queryable: Queryable,
  unknown: readonly { path: string; cell: Cell }[],
): Promise<KnownCell[]> {
  const paths = [...new Set(unknown.map(({ path }) => path))];
  const box = unite(unknown.map(({ cell }) => cell.box));
  const read = () => readBoxed(queryable, { paths, box }, cellLimits);
  const { found, mayKeep } = await readForCache(queryable, read);
  const cache = geometryCache(queryable);
  return unknown.map(({ path, cell }) => {
    const isPathKnown = found.paths.has(path);
    const isHere = (each: BoxedGeometry) => each.path === path && touches(each.box, cell.box);
    const known: KnownCell = {
      ...{ path, box: cell.box, isPathKnown },
      ...(found.geometries && { geometries: found.geometries.filter(isHere) }),
    };
    if (mayKeep) cache.keep(cell, known);
    return known;
  });
}

/** Those that touch a box, each once: what is not inside of one cell stands in others, too. */
function within(box: SphereBox, cells: readonly KnownCell[]): BoxedGeometry[] {
  const found: BoxedGeometry[] = [];
  const seen = new Set<string>();
  for (const cell of cells)
    for (const geometry of cell.geometries ?? []) {
      if (!touches(geometry.box, box)) continue;
      if (!encloses(cell.box, geometry.box)) {
        const { key, position, path } = geometry;
        const name = `${key} ${position} ${path}`;
        if (seen.has(name)) continue;
        seen.add(name);
      }
      found.push(geometry);
    }
  return found;
}
