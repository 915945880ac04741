import { type SphereBox, unite } from '../rules/geometry/sphere-box.ts';
import type { Queryable } from './database.ts';
import {
  countRegion,
  type Nearby,
  type Region,
  readNearby,
  readPlaced,
  readPlacesOf,
  readRegion,
} from './discovery-geometries.ts';
import { placeMemory, readToKeep } from './index-memory.ts';
import { type Cell, cellsOf, gapBetween, isInside, touches } from './place-grid.ts';
import type { KnownCell, PlacedGeometry, StoredGeometry } from './place-memory.ts';

// Geometries as a search asks for them. What stands in the cells that it looks into is remembered; wide or crowded regions are left to the database.

/** More are not remembered of the cells that one search looks into. */
const maxGeometries = 4_000;
/** When more catalogs have changed, or they have more geometries, all is read again as it is needed. */
const maxUnread = 100;
const maxUnreadGeometries = 500;

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
export async function findGeometries(
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
  const nearest = all.sort((a, b) => a.gap - b.gap).slice(0, limit);
  const isAll = all.length < limit;
  return {
    geometries: nearest.map(({ geometry }) => geometry),
    reach: isAll ? Number.POSITIVE_INFINITY : (nearest.at(-1)?.gap ?? 0),
  };
}

interface Known {
  isPathKnown: boolean;
  geometries: PlacedGeometry[];
}

/** All that stands in a region; undefined where the database has to be asked. */
async function lookInto(queryable: Queryable, { paths, box }: Region): Promise<Known | undefined> {
  const cells = box && cellsOf(box);
  if (!box || !cells || !(await isUpToDate(queryable))) return undefined;
  const memory = placeMemory(queryable);
  const known: KnownCell[] = [];
  const unknown: { path: string; cell: Cell }[] = [];
  for (const path of paths)
    for (const cell of cells) {
      const found = memory.find(path, cell);
      if (found) known.push(found);
      else unknown.push({ path, cell });
    }
  const isCrowded = () => known.some(({ geometries }) => geometries === undefined);
  if (!isCrowded() && unknown.length > 0) known.push(...(await readCells(queryable, unknown)));
  if (isCrowded()) return undefined;
  return { isPathKnown: known.some(({ isPathKnown }) => isPathKnown), geometries: within(box, known) };
}

/** Where the geometries of changed catalogs stand now is read first. When something changes meanwhile, the database is asked instead. */
async function isUpToDate(queryable: Queryable): Promise<boolean> {
  const memory = placeMemory(queryable);
  const catalogs = [...memory.unread];
  if (catalogs.length === 0) return true;
  if (catalogs.length <= maxUnread) {
    const read = () => readPlacesOf(queryable, catalogs, maxUnreadGeometries + 1);
    const { found, mayKeep } = await readToKeep(queryable, read);
    if (!mayKeep) return false;
    if (found.length <= maxUnreadGeometries) {
      memory.noteRead(catalogs, found);
      return true;
    }
  }
  memory.clear();
  return true;
}

async function readCells(
  queryable: Queryable,
  unknown: readonly { path: string; cell: Cell }[],
): Promise<KnownCell[]> {
  const paths = [...new Set(unknown.map(({ path }) => path))];
  const box = unite(unknown.map(({ cell }) => cell.box));
  const read = () => readPlaced(queryable, { paths, box }, maxGeometries + 1);
  const { found, mayKeep } = await readToKeep(queryable, read);
  const isCrowded = found.geometries.length > maxGeometries;
  const memory = placeMemory(queryable);
  return unknown.map(({ path, cell }) => {
    const isPathKnown = found.paths.has(path);
    const isHere = (each: PlacedGeometry) => each.path === path && touches(each.box, cell.box);
    const known: KnownCell = {
      ...{ path, box: cell.box, isPathKnown },
      ...(!isCrowded && { geometries: found.geometries.filter(isHere) }),
    };
    if (mayKeep) memory.keep(cell, known);
    return known;
  });
}

/** Those that touch a box, each once: what is not inside of one cell stands in others, too. */
function within(box: SphereBox, cells: readonly KnownCell[]): PlacedGeometry[] {
  const found: PlacedGeometry[] = [];
  const seen = new Set<string>();
  for (const cell of cells)
    for (const geometry of cell.geometries ?? []) {
      if (!touches(geometry.box, box)) continue;
      if (!isInside(geometry.box, cell.box)) {
        const { key, position, path } = geometry;
        const name = `${key} ${position} ${path}`;
        if (seen.has(name)) continue;
        seen.add(name);
      }
      found.push(geometry);
    }
  return found;
}
