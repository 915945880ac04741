import { findEdits } from '../../rules/text/typing-errors.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import { catalogKeyOf, keyOf } from '../documents/keys.ts';
import type { Keys } from '../lists/key-sets.ts';
import type { KeyList, WholeList } from '../lists/posting-list.ts';
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

/** Where some words stand among these resources, whose keys are in order, and in what is said of their catalogs. */
export async function readWordsAmong(
  queryable: Queryable,
  ids: ReadonlySet<number>,
  keys: Keys,
): Promise<Map<number, WholeList>> {
  const homes = [...new Set(Array.from(keys, catalogKeyOf))];
  const packed = `string_agg(int8send(key) || int4send(length(words)) || words, '' order by key)`;
  const { rows } = await queryable.query<{ heads: Buffer | null; others: Buffer | null }>(
    `select
       (select ${packed} from unnest($1::bigint[]) as wanted (key) join discovery.catalog using (key)) as heads,
       (select ${packed} from unnest($2::bigint[]) as wanted (key) join discovery.resource using (key)) as others`,
    [bigintArray(homes), bigintArray(keys)],
    { prepared: true },
  );
  const heads = findIn(rows[0]?.heads, ids, (catalogKey) => keyOf(catalogKey, 0));
  const others = findIn(rows[0]?.others, ids, (key) => key);
  return new Map(
    Array.from(ids, (id) => [id, { heads: toList(heads.get(id)), others: toList(others.get(id)) }]),
  );
}

interface FoundPostings {
  keys: number[];
  weights: number[];
}

/** The words among those of documents, which come one after the other: key, how many bytes its words have, and these. */
function findIn(
  documents: Buffer | null | undefined,
  ids: ReadonlySet<number>,
  keyFor: (key: number) => number,
): Map<number, FoundPostings> {
  const found = new Map(Array.from(ids, (id): [number, FoundPostings] => [id, { keys: [], weights: [] }]));
  for (let at = 0; documents && at < documents.length; ) {
    const key = keyFor(documents.readInt32BE(at) * 2 ** 32 + documents.readUInt32BE(at + 4));
    const start = at + 12;
    at = start + documents.readInt32BE(at + 8);
    readDocumentWords(documents.subarray(start, at), (id, weight) => {
      const postings = found.get(id);
      postings?.keys.push(key);
      postings?.weights.push(weight);
    });
  }
  return found;
}

function toList({ keys, weights }: FoundPostings = { keys: [], weights: [] }): KeyList {
  return { keys: Float64Array.from(keys), weights: Uint8Array.from(weights) };
}
