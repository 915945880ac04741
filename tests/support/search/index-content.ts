import { describeList } from '../../../src/search/lists/list-numbers.ts';
import { entriesOf, type StoredRun, unshare } from '../../../src/search/lists/runs.ts';
import type { Database } from '../../../src/storage/database.ts';

/** Everything that a generation of the index stores about each document, as sorted lines: with words as text, because their numbers mean nothing. */
export async function readIndexContent(database: Database, index = 'index_1'): Promise<string[]> {
  const words = await database.query<{ id: number; word: string }>(`select id, word from ${index}.word`);
  const wordOf = new Map(words.rows.map(({ id, word }) => [`${id}`, word]));
  const { rows: runs } = await database.query<StoredRun>(`select * from ${index}.run`);
  const lines = runs.flatMap(entriesOf).map((entry) => {
    const { list, key, mark } = unshare(entry);
    return `${list >= 0 ? list : ''} ${nameOf(list)} ${key} ${mark}`.trim();
  });
  function nameOf(list: number): string {
    return (
      describeList(list).replace(/\d+/, (id) => wordOf.get(id) ?? '?') + (list < -(2 ** 51) ? ` ${list}` : '')
    );
  }
  const { rows: geometries } = await database.query<{ line: string }>(
    `select key || ' ' || path || ' ' || shape::jsonb || ' ' || cube_subset(box, array[1, 2, 3]) as line from ${index}.geometry join ${index}.geometry_path on id = path_id`,
  );
  return [...lines, ...geometries.map(({ line }) => line)].sort();
}
