import {
  abroadList,
  entriesOf,
  isOfNumbers,
  type StoredRun,
  siblingList,
  standingList,
  wideList,
} from '../../../src/search/lists/runs.ts';
import type { Database } from '../../../src/storage/database.ts';

/** Everything that the index has of each document, as lines in order: words by themselves, as their numbers say nothing. */
export async function readIndexContent(database: Database): Promise<string[]> {
  const words = await database.query<{ id: number; word: string }>('select id, word from discovery.word');
  const wordOf = new Map(words.rows.map(({ id, word }) => [id, word]));
  const { rows: runs } = await database.query<StoredRun>('select * from discovery.run');
  const lines = runs.flatMap((run) => {
    const { keys, marks } = entriesOf(run.list, [run]);
    return keys.map((key, index) => `${nameOf(run.list, wordOf)} ${key} ${marks[index]}`);
  });
  const { rows: geometries } = await database.query<{ line: string }>(
    "select key || ' ' || path || ' ' || shape::jsonb || ' ' || box as line from discovery.geometry join discovery.geometry_path on id = path_id",
  );
  const { rows: stored } = await database.query<{ key: number; words: Buffer | null }>(
    `select key, words from discovery.resource union all select key, words from discovery.offer
     union all select key << 26, words from discovery.catalog`,
  );
  const beside = stored.map(({ key, words: bytes }) => {
    const own = Array.from({ length: (bytes?.length ?? 0) / 5 }, (_, at) =>
      [wordOf.get(bytes?.readInt32BE(at * 5) ?? 0), bytes?.readUInt8(at * 5 + 4)].join(' '),
    );
    return `beside ${key}: ${bytes === null ? 'nothing' : own.sort().join(', ')}`;
  });
  return [...lines, ...geometries.map(({ line }) => line), ...beside].sort();
}

function nameOf(list: number, wordOf: ReadonlyMap<number, string>): string {
  if (list >= 0) return `fact ${list}`;
  if (list === -1) return 'every resource';
  if (isOfNumbers(list)) return `numbers ${list}`;
  if (list === siblingList) return 'siblings';
  if (list === abroadList) return 'abroad';
  if (list === wideList) return 'wide';
  if (list < standingList(0)) return `word of standing offers ${wordOf.get(standingList(0) - list)}`;
  return list % 2 === 0 ? `word ${wordOf.get(-list / 2)}` : `word of offers ${wordOf.get((-list - 1) / 2)}`;
}
