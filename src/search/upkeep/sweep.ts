import { arraysOf, bigintArray, integerArray } from '../../storage/binary-arrays.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { type Generation, lockGenerations } from '../generations/in-use.ts';
import { offerList, wordList } from '../lists/list-numbers.ts';
import { inBatches } from '../set/sorted.ts';

// Deletes unused words, with their keys for typing errors, and unused paths of geometries. A writer may have read the number of one that it is about to use. So nobody may write during the deletion: every writer
// holds a lock until its end (generations/in-use.ts). If a writer takes longer than others may wait, the next sweep tries again.

/** Words of a sweep: more than the number of new words between two walks of compaction. */
const seenAtOnce = 10_000;
/** Words of one transaction, with about 37 keys each: about ten milliseconds. */
const deletedAtOnce = 100;
/** Writers wait behind a sweep meanwhile. */
const lockWaitMs = 100;

/** Checks some words, from a random start, and returns the number of deleted ones. */
export async function sweepWords(database: Database, generation: Generation): Promise<number> {
  const { index } = generation;
  const part = (is: '>' | '<=') =>
    `(select id, word from ${index}.word where id ${is} (select id from start) order by id limit ${seenAtOnce})`;
  const unused = await database.rows<Word>(
    `with start as materialized (select coalesce(floor(random() * max(id)), 0)::integer as id from ${index}.word)
     select id, word from (${part('>')} union all ${part('<=')} limit ${seenAtOnce}) as word where not ${hasPostings(index)}`,
  );
  let count = 0;
  for (const some of inBatches(unused, deletedAtOnce)) {
    const deleted = await whileNobodyWrites(database, (tx) => deleteUnused(tx, generation, some));
    if (deleted === undefined) break;
    count += deleted;
  }
  return count;
}

export async function sweepPaths(database: Database, index: string): Promise<number> {
  const unused = `${index}.geometry_path as path where not exists (select from ${index}.geometry where path_id = path.id)`;
  if (!(await database.has(`select from ${unused} limit 1`))) return 0;
  const work = (tx: Transaction) => tx.count(`delete from ${unused}`);
  return (await whileNobodyWrites(database, work)) ?? 0;
}

/** Undefined if a writer does not finish in time. */
function whileNobodyWrites<T>(database: Database, work: (tx: Transaction) => Promise<T>) {
  return database.transaction(async (tx) =>
    (await lockGenerations(tx, { withinMs: lockWaitMs })) ? work(tx) : undefined,
  );
}

type Word = { id: number; word: string };

function hasPostings(index: string): string {
  return `exists (select from ${index}.run where list = any (array[${[wordList, offerList].map(listText)}]))`;
}

/** The number of a list as SQL: each is linear in the number of the word. */
function listText(listOf: (wordId: number) => number): string {
  return `${listOf(0)} + ${listOf(1) - listOf(0)} * word.id::bigint`;
}

function deleteUnused(tx: Transaction, { index, format }: Generation, words: readonly Word[]) {
  const keys = words.flatMap(({ id, word }) => format.typing.index(word).map((hash) => ({ id, hash })));
  return tx.value<number>(
    `with gone as (
       delete from ${index}.word where id = any ($1::integer[]) and not ${hasPostings(index)} returning id
     ), keys as (
       delete from ${index}.deletion using unnest($2::bigint[], $3::integer[]) as key (hash, word_id), gone
       where key.word_id = gone.id and (deletion.hash, deletion.word_id) = (key.hash, key.word_id)
     )
     select count(*) from gone`,
    [...arraysOf(words, { id: integerArray }), ...arraysOf(keys, { hash: bigintArray, id: integerArray })],
  );
}
