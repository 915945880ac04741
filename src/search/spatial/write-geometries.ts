import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { KeyRange } from '../keys.ts';

// Writes geometries in bulk, with their bounding boxes. The writer knows what has changed, so other entries are not touched.

export interface GeometryRow {
  key: number;
  path: string;
  position: number;
  /** GeoJSON. */
  shape: object;
  /** Box of the shape on the unit sphere. */
  low: readonly number[];
  high: readonly number[];
}

/** The stored geometries of a range of keys, their shapes as GeoJSON texts. */
export function readGeometryRows(queryable: Queryable, index: string, { from, end }: KeyRange) {
  return queryable.rows<Omit<GeometryRow, 'position' | 'shape'> & { shape: string }>(
    `select key, path, shape::text as shape, array[cube_ll_coord(box, 1), cube_ll_coord(box, 2), cube_ll_coord(box, 3)] as low,
       array[cube_ur_coord(box, 1), cube_ur_coord(box, 2), cube_ur_coord(box, 3)] as high
     from ${index}.geometry join ${index}.geometry_path as path on path.id = path_id
     where key >= $1::bigint and key < $2::bigint`,
    [from, end],
  );
}

/** Replaces the geometries of these keys. */
export async function replaceGeometries(
  tx: Transaction,
  index: string,
  keys: readonly number[],
  rows: readonly GeometryRow[],
): Promise<void> {
  if (keys.length > 0)
    await tx.query(`delete from ${index}.geometry where key = any ($1::bigint[])`, [bigintArray(keys)]);
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

/** The path is the fourth dimension, which separates paths. Shapes have a thickness there, or the index would group them at any distance. */
function cubeText(box: { low: readonly number[]; high: readonly number[] }, pathId: number): string {
  const start = pathId * pathDistance;
  return `(${[...box.low, start]}),(${[...box.high, start + 1]})`;
}

/** More than the maximum distance on the unit sphere. */
export const pathDistance = 10;

/** The numbers of paths. New ones are added outside the transaction, like new words, so writers with the same new path do not wait. */
async function numberPaths(tx: Transaction, index: string, paths: ReadonlySet<string>) {
  const select = `select id, path from ${index}.geometry_path where path = any ($1)`;
  const find = () => tx.rows<{ id: number; path: string }>(select, [[...paths]]);
  let rows = await find();
  const known = new Set(rows.map(({ path }) => path));
  const missing = [...paths].filter((path) => !known.has(path)).sort();
  if (missing.length > 0) {
    const insert = `insert into ${index}.geometry_path (path) select * from unnest($1::text[]) on conflict do nothing`;
    await tx.apart.query(insert, [missing]);
    rows = await find();
  }
  return new Map(rows.map(({ id, path }) => [path, id]));
}
