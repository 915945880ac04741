import { addTo } from '../../group.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';

// Writes geometries in bulk, with their bounding boxes. The writer knows what differs between the old documents and the new ones: an entry that stays is not touched.

export interface GeometryRow {
  key: number;
  path: string;
  position: number;
  /** GeoJSON. */
  shape: object;
  /** Of the shape on the unit sphere. */
  low: readonly number[];
  high: readonly number[];
}

/** A geometry as it is stored. */
export interface StoredGeometryRow {
  key: number;
  path: string;
  /** GeoJSON text. */
  shape: string;
  low: readonly number[];
  high: readonly number[];
}

/** The geometries of documents, by their keys, in the order in which they were found. */
export async function readGeometryRows(
  queryable: Queryable,
  index: string,
  keys: readonly number[],
): Promise<Map<number, StoredGeometryRow[]>> {
  const found = new Map<number, StoredGeometryRow[]>();
  if (keys.length === 0) return found;
  const { rows } = await queryable.query<StoredGeometryRow>(
    `select key, path, shape::text as shape, array[cube_ll_coord(box, 1), cube_ll_coord(box, 2), cube_ll_coord(box, 3)] as low,
       array[cube_ur_coord(box, 1), cube_ur_coord(box, 2), cube_ur_coord(box, 3)] as high
     from unnest($1::bigint[]) as wanted (key) join ${index}.geometry using (key)
     join ${index}.geometry_path as path on path.id = path_id
     order by key, position`,
    [bigintArray(keys)],
    { prepared: true },
  );
  for (const row of rows) addTo(found, row.key, row);
  return found;
}

/** Replaces the geometries of these keys. */
export async function replaceGeometries(
  tx: Transaction,
  index: string,
  keys: readonly number[],
  rows: readonly GeometryRow[],
): Promise<void> {
  if (keys.length > 0) {
    await tx.query(`delete from ${index}.geometry where key = any ($1::bigint[])`, [bigintArray(keys)]);
  }
  if (rows.length === 0) return;
  const pathIds = await numberPaths(tx, index, new Set(rows.map(({ path }) => path)));
  const records = rows.map(({ key, path, position, shape, low, high }) => {
    const pathId = pathIds.get(path) ?? 0;
    return { key, path_id: pathId, position, shape, box: cubeText({ low, high }, pathId) };
  });
  await tx.query(
    `insert into ${index}.geometry (key, path_id, position, shape, box)
     select key, path_id, position, shape, box::cube
     from json_to_recordset($1::json) as incoming (key bigint, path_id integer, position integer, shape json, box text)`,
    [JSON.stringify(records)],
  );
}

/** A box in three dimensions. */
export function boxText({ low, high }: { low: readonly number[]; high: readonly number[] }): string {
  return `(${low}),(${high})`;
}

/**
 * The path is the fourth dimension: shapes of different paths are far from each other. They are a little thick there, because the index puts
 * together what takes little room, and what has no thickness takes none however far apart it is.
 */
function cubeText(box: { low: readonly number[]; high: readonly number[] }, pathId: number): string {
  const start = pathId * pathDistance;
  return `(${[...box.low, start]}),(${[...box.high, start + 1]})`;
}

/** More than any two places on the unit sphere are apart. */
export const pathDistance = 10;

/** The numbers of paths. New ones are added outside of the transaction, as new words are, so that writers with the same new path do not wait for each other. */
async function numberPaths(
  tx: Transaction,
  index: string,
  paths: ReadonlySet<string>,
): Promise<Map<string, number>> {
  const numbers = await findPaths(tx, index, [...paths]);
  const missing = [...paths].filter((path) => !numbers.has(path)).sort();
  if (missing.length === 0) return numbers;
  await tx.apart.query(
    `insert into ${index}.geometry_path (path) select * from unnest($1::text[]) on conflict do nothing`,
    [missing],
  );
  for (const [path, number] of await findPaths(tx, index, missing)) numbers.set(path, number);
  return numbers;
}

async function findPaths(
  queryable: Queryable,
  index: string,
  paths: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await queryable.query<{ id: number; path: string }>(
    `select id, path from ${index}.geometry_path where path = any ($1)`,
    [paths],
  );
  return new Map(rows.map(({ id, path }) => [path, id]));
}
