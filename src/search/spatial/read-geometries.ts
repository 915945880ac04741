import type { Vector } from '../../rules/geometry/sphere.ts';
import type { SphereBox } from '../../rules/geometry/sphere-box.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { readKeys } from '../documents/members.ts';
import { firstNumbers, lastNumbers } from '../keys.ts';
import type { Keys } from '../set/sorted.ts';
import { boxText, pathDistance } from './write-geometries.ts';

// Reads geometries from the spatial index (a GiST index of bounding boxes). Those of a provider have the head of the catalog as their key.

/** Where to search: under one of some paths, and within a box if there is one. */
export interface Region {
  paths: readonly string[];
  box?: SphereBox;
}

export interface KeyedShape {
  key: number;
  /** GeoJSON text. */
  shape: string;
}

/** The number of geometries in a region, counted up to a limit under each path. */
export function countRegion(reader: IndexReader, region: Region, limit: number): Promise<number> {
  return reader.value(
    `select coalesce(sum(counted.count), 0)::float8 from ${reader.index}.geometry_path as path
     cross join lateral (
       select count(*) from (select key from ${reader.index}.geometry where ${insideCondition(region)} limit $3) as within
     ) as counted
     where path = any ($1)`,
    [region.paths, boxParameter(region), limit],
    { prepared: true },
  );
}

/** The keys of geometries of a region above a key, in order. */
export function readRegion(reader: IndexReader, region: Region, after: number, limit: number): Promise<Keys> {
  return readKeys(
    reader,
    `select distinct key from ${reader.index}.geometry_path as path cross join lateral (
       select distinct key from ${reader.index}.geometry where ${insideCondition(region)} and key > $3 order by key limit $4
     ) as within
     where path = any ($1) order by key limit $4`,
    [region.paths, boxParameter(region), after, limit],
  );
}

/**
 * The nearest geometries of a region from the index of boxes, without reading shapes. `found`: the documents, each with its point on the unit sphere if its geometry is a point. `chord`: distance of the
 * farthest, from box to box through the unit sphere, which never exceeds that between the geometries; undefined if these are all.
 */
export async function readNearby(
  reader: IndexReader,
  { region, around }: { region: Region; around: SphereBox },
  limit: number,
) {
  const nearest = await reader.first<{ bytes: Buffer | null; chord: number | null }>(
    `select string_agg(int8send(key) || float8send(case when ${isPoint} then cube_ll_coord(box, 1) else 'NaN' end)
       || float8send(cube_ll_coord(box, 2)) || float8send(cube_ll_coord(box, 3)), '') as bytes, max(chord) as chord from (
       select key, box, chord
       from ${reader.index}.geometry_path as path
       cross join lateral (
         select key, box, box <-> ${boxAt('$3')} as chord from ${reader.index}.geometry
         where ${insideCondition(region)}
         order by box <-> ${boxAt('$3')} limit $4
       ) as near
       where path = any ($1)
       order by chord limit $4
     ) as nearest`,
    [region.paths, boxParameter(region), boxText(around), limit],
    { prepared: true },
  );
  const bytes = nearest?.bytes ?? Buffer.alloc(0);
  const found = Array.from({ length: bytes.length / nearbyBytes }, (_, index) => {
    const at = index * nearbyBytes;
    const x = bytes.readDoubleBE(at + 8);
    const point: Vector = [x, bytes.readDoubleBE(at + 16), bytes.readDoubleBE(at + 24)];
    return { key: Number(bytes.readBigInt64BE(at)), point: Number.isNaN(x) ? undefined : point };
  });
  return { found, chord: found.length < limit ? undefined : (nearest?.chord ?? 0) };
}

const isPoint = [1, 2, 3]
  .map((axis) => `cube_ll_coord(box, ${axis}) = cube_ur_coord(box, ${axis})`)
  .join(' and ');
/** A key and three coordinates. */
const nearbyBytes = 32;

/** Geometries of some keys under some paths. */
export function readGeometries(reader: IndexReader, keys: readonly number[], paths: readonly string[]) {
  return reader.rows<KeyedShape>(
    `select geometry.key, shape::text as shape
     from unnest($1::bigint[]) as wanted (key)
     join ${reader.index}.geometry on geometry.key = wanted.key
     where path_id in (select id from ${reader.index}.geometry_path where path = any ($2))`,
    [bigintArray(keys), paths],
    { prepared: true },
  );
}

/** The keys of the offers of catalogs (given by their heads) that have geometries under some paths. */
export function listLocatedOffers(reader: IndexReader, heads: Keys, paths: readonly string[]): Promise<Keys> {
  return readKeys(
    reader,
    `select distinct located.key from unnest($1::bigint[]) as wanted (head) cross join lateral (
       select key from ${reader.index}.geometry
       where geometry.key >= wanted.head + ${firstNumbers.offer} and geometry.key <= wanted.head + ${lastNumbers.offer}
         and path_id in (select id from ${reader.index}.geometry_path where path = any ($2)) offset 0) as located`,
    [bigintArray(heads), paths],
  );
}

function boxParameter({ box }: Region): string | null {
  return box ? boxText(box) : null;
}

/** The path is part of the box, so one index finds both. Without a box: everything under the path. */
function insideCondition({ box }: Region): string {
  return box ? `box && ${boxAt('$2')}` : `path_id = path.id and $2::cube is null`;
}

/** A box that includes the dimension of the path. */
function boxAt(box: string): string {
  return `cube(${box}::cube, (path.id * ${pathDistance})::float8, (path.id * ${pathDistance} + 1)::float8)`;
}
