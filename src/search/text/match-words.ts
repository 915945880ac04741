import type { Language } from '../../languages.ts';
import {
  farMeaning,
  joinedWeight,
  maxBegun,
  minBegun,
  nearForms,
  partsOf,
  shortestFirst,
  type TextWord,
} from '../../rules/text/forms.ts';
import { findEdits } from '../../rules/text/typing-errors.ts';
import { bigintArray, integerArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import type { IndexFormat } from '../entries/index-format.ts';

// Looks words of a query up in the dictionary, through a cache (cache/word-cache.ts).

export interface MatchedWord extends TextWord {
  matches: readonly WordMatch[];
}

/** What the dictionary is asked for a word, and how the words that it finds are meant. */
interface Lookup {
  /** Under which its matches are kept. */
  name: string;
  words: readonly string[];
  hashes: readonly number[];
  /** Words that begin so, up to a length. */
  range?: { beginning: string; maxLength: number };
  select(candidates: readonly IndexedWord[]): WordMatch[];
  standsFor(indexedWord: string, isAlike: boolean): boolean;
}

interface IndexedWord {
  id: number;
  word: string;
}

/** The indexed words that are the word, a form of it, or the word in another script. */
export function matchNear(
  reader: IndexReader,
  words: readonly TextWord[],
  { typing }: IndexFormat,
  languages: readonly Language[],
): Promise<MatchedWord[]> {
  return match(reader, words, maxForms, ({ word, joins }) => {
    if (joins)
      return {
        ...{ name: `+${word}`, words: [word], hashes: [] },
        select: (found) =>
          found.flatMap((each) =>
            each.word === word ? [{ ...each, form: 'joined', weight: joinedWeight }] : [],
          ),
        standsFor: (indexed) => indexed === word,
      };
    const { beginning, maxLength, meaningOf } = nearForms(word, languages);
    return {
      ...{ name: word, words: [word], hashes: typing.otherScripts(word) },
      ...(beginning !== undefined && { range: { beginning, maxLength } }),
      select: (found) => selectMeant(found, meaningOf),
      standsFor: (indexed) => meaningOf(indexed) !== undefined,
    };
  });
}

/** Of words that the index does not have: those that begin with it, misspelt ones, and what may be parts of it. */
export function matchFar(
  reader: IndexReader,
  words: readonly TextWord[],
  { typing }: IndexFormat,
): Promise<MatchedWord[]> {
  return match(reader, words, maxBegun, (asked) => {
    const { word, isLast } = asked;
    const parts = partsOf(word).flat();
    return {
      ...{ name: `-${word}${isLast ? '*' : ''}`, words: parts, hashes: typing.query(word) },
      ...(isLast && word.length >= minBegun && { range: { beginning: word, maxLength: longestWord } }),
      select(found) {
        const meant = selectMeant(found, (indexed) => farMeaning(asked, indexed));
        const begun = meant.filter(({ form }) => form === 'begun').map((each) => each.word);
        const counted = new Set(shortestFirst(begun));
        return [
          ...meant.filter((each) => each.form !== 'begun' || counted.has(each.word)),
          ...found
            .filter((each) => parts.includes(each.word))
            .map((each) => ({ ...each, form: 'part' as const, weight: 0 })),
        ];
      },
      standsFor: (indexed, isAlike) =>
        (isAlike && findEdits(word, indexed) !== undefined) ||
        (isLast && indexed.startsWith(word)) ||
        parts.includes(indexed),
    };
  });
}

/** Of words that begin alike: more than any dictionary has that are so short. */
const maxForms = 5_000;
const longestWord = 64;

function selectMeant(
  candidates: readonly IndexedWord[],
  meaningOf: (word: string) => Omit<WordMatch, 'id' | 'word'> | undefined,
): WordMatch[] {
  return candidates.flatMap((each) => {
    const meaning = meaningOf(each.word);
    return meaning ? [{ ...each, ...meaning }] : [];
  });
}

async function match(
  reader: IndexReader,
  words: readonly TextWord[],
  mostInRange: number,
  lookupOf: (word: TextWord) => Lookup,
): Promise<MatchedWord[]> {
  const cache = reader.caches.words;
  const asked = words.map((word) => ({ word, lookup: lookupOf(word) }));
  const known = new Map(asked.map(({ lookup: { name } }) => [name, cache.find(name)]));
  const unknown = asked.flatMap(({ lookup }) => (known.get(lookup.name) ? [] : [lookup]));
  const { found, mayKeep } = await readForCache(reader, () => findCandidates(reader, unknown, mostInRange));
  for (const { name, select, standsFor } of unknown) {
    const matches = select(found);
    known.set(name, matches);
    if (mayKeep) cache.keep(name, matches, standsFor);
  }
  return asked.map(({ word, lookup }) => ({ ...word, matches: known.get(lookup.name) ?? [] }));
}

async function findCandidates(
  reader: IndexReader,
  lookups: readonly Lookup[],
  mostInRange: number,
): Promise<IndexedWord[]> {
  if (lookups.length === 0) return [];
  const ranges = lookups.flatMap(({ range }) => range ?? []);
  const { rows } = await reader.query<IndexedWord>(
    `select id, word from ${reader.index}.word where id = any (array(
       select id from ${reader.index}.word where word = any ($1)
       union all
       select word_id from ${reader.index}.deletion where hash = any ($2::bigint[])
       union all
       select found.id from unnest($3::text[], $4::integer[]) as range (beginning, longest), lateral (
         select id from ${reader.index}.word
         where word >= beginning and word < beginning || U&'\\+10FFFF' and length(word) <= longest
         order by length(word), word limit $5
       ) as found
     ))`,
    [
      textArray(lookups.flatMap(({ words }) => words)),
      bigintArray(lookups.flatMap(({ hashes }) => hashes)),
      textArray(ranges.map(({ beginning }) => beginning)),
      integerArray(ranges.map(({ maxLength }) => maxLength)),
      mostInRange,
    ],
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
