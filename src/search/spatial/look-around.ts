import { encloses, gapBetween, type SphereBox, touches, unite } from '../../rules/geometry/sphere-box.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
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
/** A request with more paths, or longer ones, is not cached: it could fill the cache with their names. */
const maxPaths = 10;
const maxPathLength = 300;

/** How many geometries there are in a region, counted up to a limit under each path. */
export async function countGeometries(reader: IndexReader, region: Region, limit: number): Promise<number> {
  const known = await lookInto(reader, region);
  return known ? known.length : countRegion(reader, region, limit);
}

/** The next ones of a region, in the order of keys. */
export async function findInOrder(
  reader: IndexReader,
  region: Region,
  page: { after?: StoredGeometry; limit: number },
): Promise<readonly StoredGeometry[]> {
  const known = await lookInto(reader, region);
  if (known === undefined) return readRegion(reader, region, page);
  const { after, limit } = page;
  const left = after ? known.filter((each) => byKey(each, after) > 0) : known;
  return left.sort(byKey).slice(0, limit);
}

function byKey(a: StoredGeometry, b: StoredGeometry): number {
  return a.key - b.key || a.position - b.position;
}

/** The first ones of a region, the nearest boxes first. */
export async function findNearby(
  reader: IndexReader,
  region: Region,
  from: SphereBox,
  limit: number,
): Promise<Nearby> {
  const known = await lookInto(reader, region);
  if (known === undefined) return readNearby(reader, region, from, limit);
  const all = known.map((geometry) => ({ geometry, gap: gapBetween(geometry.box, from) }));
  const nearest = all.sort((a, b) => a.gap - b.gap || byKey(a.geometry, b.geometry)).slice(0, limit);
  const isAll = all.length < limit;
  return {
    geometries: nearest.map(({ geometry }) => geometry),
    reach: isAll ? Number.POSITIVE_INFINITY : (nearest.at(-1)?.gap ?? 0),
  };
}

/** All that stands in a region; undefined where the database has to be asked. */
async function lookInto(reader: IndexReader, { paths, box }: Region): Promise<BoxedGeometry[] | undefined> {
  const isShort = paths.length <= maxPaths && paths.every(({ length }) => length <= maxPathLength);
  const cells = box && isShort ? cellsOf(box) : undefined;
  if (!box || !cells || !(await isUpToDate(reader))) return undefined;
  const cache = reader.caches.geometries;
  const known: KnownCell[] = [];
  const unknown: { path: string; cell: Cell }[] = [];
  for (const path of paths)
    for (const cell of cells) {
      const found = cache.find(path, cell);
      if (found) known.push(found);
      else unknown.push({ path, cell });
    }
  const isCrowded = () => known.some(({ geometries }) => geometries === undefined);
  if (!isCrowded() && unknown.length > 0) known.push(...(await readCells(reader, unknown)));
  return isCrowded() ? undefined : selectTouching(box, known);
}

/** The geometries that changed catalogs have now are read first. When something changes meanwhile, the database is asked instead. */
async function isUpToDate(reader: IndexReader): Promise<boolean> {
  const cache = reader.caches.geometries;
  const catalogs = [...cache.unread];
  if (catalogs.length === 0) return true;
  const read = () => readGeometriesOf(reader, catalogs, changeLimits);
  const { found, mayKeep } = await readForCache(reader, read);
  if (!mayKeep) return false;
  if (found) cache.noteRead(catalogs, found);
  else cache.clear();
  return true;
}

async function readCells(
  reader: IndexReader,
  unknown: readonly { path: string; cell: Cell }[],
): Promise<KnownCell[]> {
  const paths = [...new Set(unknown.map(({ path }) => path))];
  const box = unite(unknown.map(({ cell }) => cell.box));
  const read = () => readBoxed(reader, { paths, box }, cellLimits);
  const { found, mayKeep } = await readForCache(reader, read);
  const cache = reader.caches.geometries;
  return unknown.map(({ path, cell }) => {
    const isHere = (each: BoxedGeometry) => each.path === path && touches(each.box, cell.box);
    const known: KnownCell = { path, box: cell.box, geometries: found?.filter(isHere) };
    if (mayKeep) cache.keep(cell, known);
    return known;
  });
}

/** Those that touch a box, each once: what is not inside of one cell stands in others, too. */
function selectTouching(box: SphereBox, cells: readonly KnownCell[]): BoxedGeometry[] {
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
