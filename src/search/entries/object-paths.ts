import { textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';

// The paths at which some document has an object (attributes.ts).

/** Paths are never removed. They are added outside the transaction, like new words, so writers with the same new path do not wait. */
export async function addObjectPaths(tx: Transaction, index: string, paths: readonly string[]) {
  const known = await findObjectPaths(tx, index, paths);
  const missing = paths.filter((path) => !known.has(path));
  if (missing.length === 0) return;
  await tx.apart.query(
    `insert into ${index}.object_path (digest)
     select md5(path)::uuid from unnest($1::text[]) as path order by 1 on conflict do nothing`,
    [textArray(missing)],
  );
}

/** Selects the paths at which some document has an object. */
export async function findObjectPaths(queryable: Queryable, index: string, paths: readonly string[]) {
  if (paths.length === 0) return new Set<string>();
  const found = await queryable.column<string>(
    `select path from unnest($1::text[]) as path join ${index}.object_path on digest = md5(path)::uuid`,
    [textArray(paths)],
  );
  return new Set(found);
}
