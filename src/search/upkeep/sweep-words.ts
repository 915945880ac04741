import { setTimeout as delay } from 'node:timers/promises';
import { bigintArray, integerArray } from '../../storage/binary-arrays.ts';
import type { Database } from '../../storage/database.ts';
import type { Generation } from '../generations/in-use.ts';
import { offerList, wordList } from '../lists/list-numbers.ts';

// Mark and sweep of the dictionary: words that stand in no posting list any more are deleted, with their keys for typing errors, while everybody goes on writing.
//
//   mark   a word without postings is marked. Whoever numbers such a word takes the mark away (text/dictionary.ts)
//   wait   until the transactions have ended that may have read the number of a word before the mark: they may be about to write postings of it
//   sweep  the word is deleted if it still has the mark and no postings. Whoever brings it from then on adds it with another number
//
// A transaction that writes the index has a transaction id before it numbers words (write/catalog-rows.ts), so that it can be waited for. A word that is locked is skipped: nobody waits for a
// sweep that waits. One that keeps its mark, because the wait took too long, has its turn in the next sweep.

/** Words that are looked at together. */
const seenAtOnce = 5_000;
/** Words of one transaction, with some 37 keys each. */
const deletedAtOnce = 100;
const longestWaitMs = 5_000;
const pauseMs = 50;

export interface SweepStep {
  deleted: number;
  /** The last word that was looked at; undefined when there are no more. */
  rest?: number;
}

/** Looks at the next words, from one number on. */
export async function sweepWords(
  database: Database,
  generation: Generation,
  from: number,
  signal: AbortSignal,
): Promise<SweepStep> {
  const { last, unused } = await readUnused(database, generation.index, from);
  const step: SweepStep = { deleted: 0, rest: last };
  if (unused.length === 0) return step;
  await markWords(
    database,
    generation.index,
    unused.map(({ id }) => id),
  );
  if (!(await waitForWriters(database, signal))) return step;
  for (let at = 0; at < unused.length; at += deletedAtOnce)
    step.deleted += await deleteMarked(database, generation, unused.slice(at, at + deletedAtOnce));
  return step;
}

interface UnusedWord {
  id: number;
  word: string;
}

function hasPostings(index: string): string {
  return `exists (select from ${index}.run where list = any (array[${[wordList, offerList].map(listText)}]))`;
}

/** The number of a list as SQL: each is linear in the number of the word. */
function listText(listOf: (wordId: number) => number): string {
  return `${listOf(0)} + ${listOf(1) - listOf(0)} * word.id::bigint`;
}

async function readUnused(
  database: Database,
  index: string,
  from: number,
): Promise<{ last?: number; unused: UnusedWord[] }> {
  const { rows } = await database.query<{ last: number | null; count: number }>(
    `select max(id) as last, count(*) as count
     from (select id from ${index}.word where id > $1 order by id limit ${seenAtOnce}) as next`,
    [from],
  );
  const { last, count } = rows[0] ?? { last: null, count: 0 };
  if (last === null) return { unused: [] };
  const { rows: unused } = await database.query<UnusedWord>(
    `select id, word from ${index}.word where id > $1 and id <= $2 and not ${hasPostings(index)}`,
    [from, last],
  );
  return { unused, ...(count === seenAtOnce && { last }) };
}

async function markWords(database: Database, index: string, ids: readonly number[]): Promise<void> {
  await database.query(
    `update ${index}.word set in_use = false where id = any (array(
       select id from ${index}.word where id = any ($1::integer[]) and in_use for update skip locked))`,
    [integerArray(ids)],
  );
}

/** Waits for the end of all transactions that began to write before now; false where that takes too long. */
async function waitForWriters(database: Database, signal: AbortSignal): Promise<boolean> {
  // An id that is assigned now is above those of all of them.
  const { rows } = await database.query<{ id: string }>('select pg_current_xact_id()::text as id');
  for (const end = performance.now() + longestWaitMs; performance.now() < end && !signal.aborted; ) {
    const { rowCount } = await database.query(
      'select where pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8',
      [rows[0]?.id],
    );
    if (rowCount > 0) return true;
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

async function deleteMarked(
  database: Database,
  { index, format }: Generation,
  words: readonly UnusedWord[],
): Promise<number> {
  const [ids, hashes]: [number[], number[]] = [[], []];
  for (const { id, word } of words) {
    for (const hash of format.typing.index(word)) {
      ids.push(id);
      hashes.push(hash);
    }
  }
  const { rows } = await database.query<{ count: number }>(
    `with gone as (
       delete from ${index}.word where id = any (array(
         select id from ${index}.word where id = any ($1::integer[]) and not in_use and not ${hasPostings(index)} for update skip locked))
       returning id
     ), keys as (
       delete from ${index}.deletion using unnest($2::bigint[], $3::integer[]) as key (hash, word_id), gone
       where key.word_id = gone.id and (deletion.hash, deletion.word_id) = (key.hash, key.word_id)
     )
     select count(*) as count from gone`,
    [integerArray(words.map(({ id }) => id)), bigintArray(hashes), integerArray(ids)],
  );
  return rows[0]?.count ?? 0;
}
