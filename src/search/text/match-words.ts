import { farMeaning, type Meaning, nearMeaning } from '../../rules/text/forms.ts';
import { findEdits } from '../../rules/text/typing-errors.ts';
import { bigintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import type { IndexFormat } from '../entries/index-format.ts';

// Looks words of a query up in the dictionary, through a cache (cache/word-cache.ts).

export interface MatchedWord {
  word: string;
  matches: readonly WordMatch[];
}

interface IndexedWord {
  id: number;
  word: string;
}

/** What the dictionary is asked for a word, and how the words that it finds are meant. */
interface Lookup {
  /** Under which its matches are kept. */
  name: string;
  words: readonly string[];
  hashes: readonly number[];
  meaningOf(indexedWord: string): Meaning | undefined;
  standsFor(indexedWord: string, isAlike: boolean): boolean;
}

/** The indexed words that are the word. */
export function matchNear(reader: IndexReader, words: readonly string[]): Promise<MatchedWord[]> {
  return match(reader, words, (word) => ({
    ...{ name: word, words: [word], hashes: [] },
    meaningOf: (indexed) => nearMeaning(word, indexed),
    standsFor: (indexed) => indexed === word,
  }));
}

/** Of words that the index does not have: those that they may be misspelt of. */
export function matchFar(
  reader: IndexReader,
  words: readonly string[],
  { typing }: IndexFormat,
): Promise<MatchedWord[]> {
  return match(reader, words, (word) => ({
    ...{ name: `-${word}`, words: [], hashes: typing.query(word) },
    meaningOf: (indexed) => farMeaning(word, indexed),
    standsFor: (indexed, isAlike) => isAlike && findEdits(word, indexed) !== undefined,
  }));
}

function selectMeant(
  candidates: readonly IndexedWord[],
  meaningOf: (word: string) => Meaning | undefined,
): WordMatch[] {
  return candidates.flatMap((each) => {
    const meaning = meaningOf(each.word);
    return meaning ? [{ ...each, ...meaning }] : [];
  });
}

async function match(
  reader: IndexReader,
  words: readonly string[],
  lookupOf: (word: string) => Lookup,
): Promise<MatchedWord[]> {
  const cache = reader.caches.words;
  const asked = words.map((word) => ({ word, lookup: lookupOf(word) }));
  const known = new Map(asked.map(({ lookup: { name } }) => [name, cache.find(name)]));
  const unknown = asked.flatMap(({ lookup }) => (known.get(lookup.name) ? [] : [lookup]));
  const { found, mayKeep } = await readForCache(reader, () => findCandidates(reader, unknown));
  for (const { name, meaningOf, standsFor } of unknown) {
    const matches = selectMeant(found, meaningOf);
    known.set(name, matches);
    if (mayKeep) cache.keep(name, matches, standsFor);
  }
  return asked.map(({ word, lookup }) => ({ word, matches: known.get(lookup.name) ?? [] }));
}

async function findCandidates(reader: IndexReader, lookups: readonly Lookup[]): Promise<IndexedWord[]> {
  if (lookups.length === 0) return [];
  const { rows } = await reader.query<IndexedWord>(
    `select id, word from ${reader.index}.word where id = any (array(
       select id from ${reader.index}.word where word = any ($1)
       union all
       select word_id from ${reader.index}.deletion where hash = any ($2::bigint[])
     ))`,
    [textArray(lookups.flatMap(({ words }) => words)), bigintArray(lookups.flatMap(({ hashes }) => hashes))],
    { prepared: true },
  );
  return rows;
}

/** How many documents there are, about. */
export async function countDocuments(reader: IndexReader): Promise<number> {
  const cache = reader.caches.words;
  const { found, mayKeep } = await readForCache(reader, async () => cache.documents ?? count(reader));
  if (mayKeep) cache.documents = found;
  return found;
}

/** A catalog with its provider is one, and every resource and offer: counted where they are few, otherwise as the database estimates. */
async function count(queryable: Queryable): Promise<number> {
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
