import type { SphereBox } from '../../rules/geometry/sphere-box.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { boxText, pathDistance } from './write-geometries.ts';

// Reads geometries from the spatial index (a GiST index of bounding boxes). A geometry stands under the key of what it belongs to: of a resource or an offer, or under the head of a catalog, if it
// is its provider's.

/** Where to look: under one of some paths, perhaps within a box. */
export interface Region {
  paths: readonly string[];
  box?: SphereBox;
}

export interface KeyedShape {
  key: number;
  /** GeoJSON text. */
  shape: string;
}

export interface StoredGeometry extends KeyedShape {
  position: number;
}

/** How many geometries there are in a region, counted up to a limit under each path. */
export async function countRegion(queryable: Queryable, region: Region, limit: number): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    `select coalesce(sum(counted.count), 0) as count from discovery.geometry_path as path
     cross join lateral (
       select count(*) from (select from discovery.geometry where ${insideCondition(region)} limit $3) as within
     ) as counted
     where path = any ($1)`,
    [region.paths, boxParameter(region), limit],
    { prepared: true },
  );
  return Number(rows[0]?.count);
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

/** The nearest of a region. */
export interface Nearby {
  geometries: readonly KeyedShape[];
  /** How far they reach, from box to box through the sphere of radius 1, which is never more than from geometry to geometry; infinite where they are all. */
  reach: number;
}

/** Whether there are no others in the region. */
export function isAll({ reach }: Nearby): boolean {
  return reach === Number.POSITIVE_INFINITY;
}

/** The first ones of a region, the nearest boxes first. In one row: their texts, which have no line breaks, line by line. */
export async function readNearby(
  queryable: Queryable,
  region: Region,
  from: SphereBox,
  limit: number,
): Promise<Nearby> {
  const { rows } = await queryable.query<{ keys: string; shapes: string; reach: number } | NothingNear>(
    `select string_agg(key::text, ',') as keys, string_agg(shape::text, E'\\n') as shapes, max(chord) as reach from (
       select key, shape, chord
       from discovery.geometry_path as path
       cross join lateral (
         select key, shape, box <-> ${boxAt('$3')} as chord from discovery.geometry
         where ${insideCondition(region)}
         order by box <-> ${boxAt('$3')} limit $4
       ) as near
       where path = any ($1)
       order by chord limit $4
     ) as nearest`,
    [region.paths, boxParameter(region), boxText(from), limit],
    { prepared: true },
  );
  const [found] = rows;
  if (!found?.keys) return { geometries: [], reach: Number.POSITIVE_INFINITY };
  const shapes = found.shapes.split('\n');
  const geometries = found.keys
    .split(',')
    .map((key, index) => ({ key: Number(key), shape: shapes[index] ?? '' }));
  return { geometries, reach: geometries.length === limit ? found.reach : Number.POSITIVE_INFINITY };
}

interface NothingNear {
  keys: null;
}

/** Those of some keys under some paths. */
export async function readGeometries(
  queryable: Queryable,
  keys: readonly number[],
  paths: readonly string[],
): Promise<KeyedShape[]> {
  const { rows } = await queryable.query<KeyedShape>(
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
