import { findEdits } from '../../rules/text/typing-errors.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { WordMatch } from '../cache/word-cache.ts';

// Looks words of a query up in the dictionary.

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
  reader: IndexReader,
  words: readonly string[],
  hashes: readonly number[],
): Promise<Omit<WordMatch, 'edits'>[]> {
  if (words.length === 0) return [];
  const { rows } = await reader.query<Omit<WordMatch, 'edits'>>(
    `select id, word from ${reader.index}.word where id = any (array(
       select id from ${reader.index}.word where word = any ($1)
       union all
       select word_id from ${reader.index}.deletion where hash = any ($2::bigint[])
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
