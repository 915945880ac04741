import { addTo } from '../../group.ts';
import { findEdits } from '../../rules/text/typing-errors.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import { keyOf } from '../documents/keys.ts';
import type { KeyList } from '../lists/posting-list.ts';
import { readDocumentWords } from './dictionary.ts';

// Looks words of a query up in the dictionary, and counts and reads their postings.

interface MatchedWords {
  /** The indexed words that each word stands for, in spite of typing errors. */
  matches: { word: string; matches: readonly WordMatch[] }[];
  /** How many documents there are, about. */
  documents: number;
}

/** Matches words of a query with indexed words, through a cache (cache/word-cache.ts). */
export async function matchWords(
  reader: IndexReader,
  words: readonly string[],
  typingKeysOf: (word: string) => Iterable<number>,
): Promise<MatchedWords> {
  const cache = reader.caches.words;
  const known = new Map(words.map((word) => [word, cache.find(word)]));
  const unknown = words.filter((word) => known.get(word) === undefined);
  const { found, mayKeep } = await readForCache(reader, () =>
    Promise.all([
      findCloseWords(
        reader,
        unknown,
        unknown.flatMap((word) => [...typingKeysOf(word)]),
      ),
      cache.documents ?? countDocuments(reader),
    ]),
  );
  const [candidates, documents] = found;
  if (mayKeep) cache.documents = documents;
  for (const word of unknown) {
    const matches = selectMatches(word, candidates);
    known.set(word, matches);
    if (mayKeep) cache.keep(word, matches);
  }
  return { matches: words.map((word) => ({ word, matches: known.get(word) ?? [] })), documents };
}

/** The indexed words among these, and those that have one of the hashes of typing errors. */
async function findCloseWords(
  queryable: Queryable,
  words: readonly string[],
  hashes: readonly number[],
): Promise<Omit<WordMatch, 'edits'>[]> {
  if (words.length === 0) return [];
  const { rows } = await queryable.query<Omit<WordMatch, 'edits'>>(
    `select id, word from discovery.word where id = any (array(
       select id from discovery.word where word = any ($1)
       union all
       select word_id from discovery.deletion where hash = any ($2::bigint[])
     ))`,
    [words, bigintArray(hashes)],
    { prepared: true },
  );
  return rows;
}

function selectMatches(word: string, candidates: readonly Omit<WordMatch, 'edits'>[]): WordMatch[] {
  return candidates.flatMap((each) => {
    const edits = findEdits(word, each.word);
    return edits === undefined ? [] : [{ ...each, edits }];
  });
}

/** A catalog with its provider is one, and every resource and offer: counted where they are few, otherwise as the database estimates. */
async function countDocuments(queryable: Queryable): Promise<number> {
  const { rows } = await queryable.query<{ documents: number }>(
    `select case when estimated >= ${fewDocuments} then estimated
       else ${tables.map((name) => `(select count(*) from (select from ${name} limit ${fewDocuments}) as few)`).join(' + ')} end as documents
     from (
       select coalesce(sum(greatest(reltuples, 0)), 0)::bigint as estimated from pg_class
       where oid = any (array[${tables.map((name) => `'${name}'`)}]::regclass[])
     ) as statistics`,
    [],
    { prepared: true },
  );
  return rows[0]?.documents ?? 0;
}

const tables = ['discovery.catalog', 'discovery.resource', 'discovery.offer'];
const fewDocuments = 5_000;

/** How many keys lists have, by their numbers; more than some forty thousand count as that, however many runs they have. */
export async function countLists(
  queryable: Queryable,
  lists: readonly number[],
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let runs = firstCountedRuns, left = lists; left.length > 0; runs *= countGrowth) {
    const { rows } = await queryable.query<{ list: number; count: number; runs: number }>(
      `select wanted.list, counted.* from unnest($1::bigint[]) as wanted (list)
       cross join lateral (
         select coalesce(sum(count), 0) as count, count(*) as runs
         from (select count from discovery.run where run.list = wanted.list limit $2) as runs
       ) as counted`,
      [bigintArray(left), runs],
      { prepared: true },
    );
    for (const { list, count } of rows) counts.set(list, Math.min(count, maxCounted));
    left = rows.filter((row) => row.runs === runs && row.count < maxCounted).map(({ list }) => list);
  }
  return counts;
}

/** A run has up to 320 keys, and seldom less than half of that where lists are compacted. */
const firstCountedRuns = 256;
const countGrowth = 16;
const maxCounted = firstCountedRuns * 160;

/** Where some words stand among these resources, whose keys are in order, and in what is said of their catalogs. */
export async function readWordsAmong(
  queryable: Queryable,
  ids: ReadonlySet<number>,
  keys: ArrayLike<number>,
): Promise<Map<number, KeyList>> {
  const { rows } = await queryable.query<{
    key: number;
    home: number;
    words: Buffer;
    head_words: Buffer | null;
  }>(
    `select resource.key, catalog_key as home, resource.words,
       case when row_number() over (partition by catalog_key order by resource.key) = 1 then catalog.words end as head_words
     from unnest($1::bigint[]) as wanted (key)
     join discovery.resource using (key)
     join discovery.catalog on catalog.key = catalog_key
     order by resource.key`,
    [bigintArray(keys)],
    { prepared: true },
  );
  const found = new Map<number, { key: number; weight: number }[]>();
  const note = (key: number, words: Buffer) =>
    readDocumentWords(words, (id, weight) => {
      if (ids.has(id)) addTo(found, id, { key, weight });
    });
  for (const { key, home, words, head_words } of rows) {
    if (head_words) note(keyOf(home, 0), head_words);
    note(key, words);
  }
  return new Map(
    [...found].map(([id, postings]) => [
      id,
      {
        keys: Float64Array.from(postings, ({ key }) => key),
        weights: Uint8Array.from(postings, ({ weight }) => weight),
      },
    ]),
  );
}
