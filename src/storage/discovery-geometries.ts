import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import { boxText, pathDistance } from './discovery-index.ts';

// Geometries as a search asks for them. A geometry stands under the key of what it belongs to: of a resource, an offer, or a catalog, where its
// provider's stand.

/** A box on the sphere of radius 1. */
export interface Box {
  low: readonly number[];
  high: readonly number[];
}

/** Where to look: under one of some paths, perhaps within a box. */
export interface Region {
  paths: readonly string[];
  box?: Box;
}

export interface StoredGeometry {
  key: number;
  position: number;
  /** GeoJSON text. */
  shape: string;
}

/** How many geometries there are in a region, counted up to a limit under each path; undefined where no path is known. */
export async function findRegionCount(
  queryable: Queryable,
  region: Region,
  limit: number,
): Promise<number | undefined> {
  const { rows } = await queryable.query<{ count: number | null }>(
    `select sum(counted.count) as count from discovery.geometry_path as path
     cross join lateral (
       select count(*) from (select from discovery.geometry where ${insideCondition(region)} limit $3) as within
     ) as counted
     where path = any ($1)`,
    [region.paths, boxParameter(region), limit],
    { prepared: true },
  );
  const count = rows[0]?.count;
  return count === null || count === undefined ? undefined : Number(count);
}

/** The next ones of a region, in the order of keys. */
export async function readRegion(
  queryable: Queryable,
  region: Region,
  {
    after = { key: 0, position: 0 },
    limit,
  }: { after?: Pick<StoredGeometry, 'key' | 'position'>; limit: number },
): Promise<StoredGeometry[]> {
  const { rows } = await queryable.query<StoredGeometry>(
    `select key, position, shape
     from discovery.geometry_path as path
     cross join lateral (
       select key, position, shape from discovery.geometry
       where ${insideCondition(region)} and (key, position) > ($3, $4)
       order by key, position limit $5
     ) as within
     where path = any ($1)
     order by key, position limit $5`,
    [region.paths, boxParameter(region), after.key, after.position, limit],
    { prepared: true },
  );
  return rows;
}

export interface NearbyGeometry extends StoredGeometry {
  /** From box to box, through the sphere of radius 1: never more than from geometry to geometry. */
  chord: number;
}

/** The first ones of a region, the nearest boxes first; undefined where no path is known. */
export async function findNearby(
  queryable: Queryable,
  region: Region,
  from: Box,
  limit: number,
): Promise<NearbyGeometry[] | undefined> {
  const { rows } = await queryable.query<NearbyGeometry | Record<keyof NearbyGeometry, null>>(
    `select key, position, shape, chord
     from discovery.geometry_path as path
     left join lateral (
       select key, position, shape, box <-> ${boxAt('$3')} as chord from discovery.geometry
       where ${insideCondition(region)}
       order by box <-> ${boxAt('$3')} limit $4
     ) as near on true
     where path = any ($1)
     order by chord limit $4`,
    [region.paths, boxParameter(region), boxText(from), limit],
    { prepared: true },
  );
  if (rows.length === 0) return undefined;
  return rows.filter((row): row is NearbyGeometry => row.key !== null);
}

/** Those of some keys under some paths. */
export async function readGeometries(
  queryable: Queryable,
  keys: readonly number[],
  paths: readonly string[],
): Promise<{ key: number; shape: string }[]> {
  const { rows } = await queryable.query<{ key: number; shape: string }>(
    `select geometry.key, shape
     from unnest($1::bigint[]) as wanted (key)
     join discovery.geometry on geometry.key = wanted.key
     where path_id in (select id from discovery.geometry_path where path = any ($2))`,
    [bigintArray(keys), paths],
    { prepared: true },
  );
  return rows;
}

function boxParameter({ box }: Region): string | null {
  return box ? boxText(box) : null;
}

/** The path is part of the box, so that one index finds both; without a box, all that stands under the path. */
function insideCondition({ box }: Region): string {
  return box ? `box && ${boxAt('$2')}` : `path_id = path.id and $2::cube is null`;
}

/** A box in the dimension of the path as well. */
function boxAt(box: string): string {
  return `cube(${box}::cube, (path.id * ${pathDistance})::float8, (path.id * ${pathDistance} + 1)::float8)`;
}
