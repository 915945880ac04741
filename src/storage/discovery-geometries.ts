import { numberArray } from './bulk.ts';
import type { Queryable } from './database.ts';
import { cubeText } from './discovery-index.ts';

// Geometries as a search asks for them. A geometry stands under the key of what it belongs to: of a resource, an offer, or a catalog, where its
// provider's stand.

/** A box on the sphere of radius 1. */
export interface Box {
  low: readonly number[];
  high: readonly number[];
}

/** Where to look: under one path, perhaps within a box. */
export interface Region {
  pathId: number;
  box?: Box;
}

export interface StoredGeometry {
  key: number;
  position: number;
  /** GeoJSON text. */
  shape: string;
}

/** How many geometries there are in each region, counted up to a limit. */
export async function countGeometries(
  queryable: Queryable,
  regions: readonly Region[],
  limit: number,
): Promise<number[]> {
  const values: unknown[] = [];
  const counts = regions.map((region) => {
    const inside = insideCondition(region, values);
    return `(select count(*) from (select from discovery.geometry where ${inside} limit ${Math.trunc(limit)}) as counted)`;
  });
  const { rows } = await queryable.query<{ counts: number[] }>(
    `select array[${counts.join(', ')}]::integer[] as counts`,
    values,
    { prepared: true },
  );
  return rows[0]?.counts ?? [];
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
  const values: unknown[] = [after.key, after.position];
  const { rows } = await queryable.query<StoredGeometry>(
    `select key, position, shape from discovery.geometry
     where ${insideCondition(region, values)} and (key, position) > ($1, $2)
     order by key, position limit ${Math.trunc(limit)}`,
    values,
    { prepared: true },
  );
  return rows;
}

export interface NearbyGeometry extends StoredGeometry {
  /** From box to box, through the sphere of radius 1: never more than from geometry to geometry. */
  chord: number;
}

/** The first ones of a region, the nearest boxes first. */
export async function readNearby(
  queryable: Queryable,
  region: Region,
  from: Box,
  limit: number,
): Promise<NearbyGeometry[]> {
  const values: unknown[] = [cubeText(from, region.pathId)];
  const { rows } = await queryable.query<NearbyGeometry>(
    `select key, position, shape, box <-> $1::cube as chord from discovery.geometry
     where ${insideCondition(region, values)}
     order by box <-> $1::cube limit ${Math.trunc(limit)}`,
    values,
    { prepared: true },
  );
  return rows;
}

/** Those of some keys under some paths. */
export async function readGeometries(
  queryable: Queryable,
  keys: readonly number[],
  pathIds: readonly number[],
): Promise<{ key: number; path_id: number; shape: string }[]> {
  const { rows } = await queryable.query<{ key: number; path_id: number; shape: string }>(
    `select key, path_id, shape from discovery.geometry
     where key = any ($1::bigint[]) and path_id = any ($2::integer[])`,
    [numberArray(keys), numberArray(pathIds)],
    { prepared: true },
  );
  return rows;
}

/** The path is part of the box: the index of boxes finds it as well. */
function insideCondition({ pathId, box }: Region, values: unknown[]): string {
  if (box === undefined) return `path_id = $${values.push(pathId)}`;
  return `box && $${values.push(cubeText(box, pathId))}::cube`;
}
