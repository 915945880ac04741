import type { IndexReader } from '../cache/caches.ts';

// Paths of geometries, and a bounded sample of what has geometries under them: each statement reads a limited number of rows, however large the index is.

/** Of the first and of the last geometries of a path, in the order of keys. */
const geometriesOfPath = 200;
const maxGeometryPaths = 1_000;
const maxPathLength = 300;

export interface GeometryPath {
  id: number;
  path: string;
}

/** Paths under which geometries were ever indexed, these among them where they were. */
export async function listGeometryPaths(
  reader: IndexReader,
  wanted: readonly string[],
): Promise<GeometryPath[]> {
  const { rows } = await reader.query<GeometryPath>(
    `select id, path from ${reader.index}.geometry_path where path = any ($1::text[])
     union
     (select id, path from ${reader.index}.geometry_path where length(path) <= ${maxPathLength} order by id limit ${maxGeometryPaths})`,
    [wanted],
  );
  return rows;
}

/** Keys of what has geometries under these paths, by the paths' numbers: all of them, unless there are many. */
export async function sampleGeometryKeys(
  reader: IndexReader,
  pathIds: readonly number[],
): Promise<Map<number, { keys: number[]; isAll: boolean }>> {
  const { rows } = await reader.query<{ path_id: number; key: number }>(
    `select wanted.path_id, key from unnest($1::integer[]) as wanted (path_id) cross join lateral (
       (select key from ${reader.index}.geometry where geometry.path_id = wanted.path_id
        order by key, position limit ${geometriesOfPath})
       union all
       (select key from ${reader.index}.geometry where geometry.path_id = wanted.path_id
        order by key desc, position desc limit ${geometriesOfPath})) as sampled`,
    [pathIds],
  );
  const samples = new Map(pathIds.map((id) => [id, { keys: [] as number[], isAll: true }]));
  for (const { path_id, key } of rows) samples.get(path_id)?.keys.push(key);
  for (const sample of samples.values()) sample.isAll = sample.keys.length < 2 * geometriesOfPath;
  return samples;
}
