import type { Language } from '../../languages.ts';
import {
  farMeaning,
  maxBegun,
  minBegun,
  nearForms,
  partsOf,
  shortestFirst,
  type TextWord,
} from '../../rules/text/forms.ts';
import { findEdits } from '../../rules/text/typing-errors.ts';
import { arraysOf, bigintArray, integerArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import type { IndexFormat } from '../entries/index-format.ts';

// Looks words of a query up in the dictionary, through a cache (cache/word-cache.ts).

export interface MatchedWord extends TextWord {
  /** The indexed words that are the word, a form of it, or the word in another script. */
  near: readonly WordMatch[];
  /** Where the dictionary does not have the word: those that begin with it, misspelt ones, and what may be parts of it. */
  far?: readonly WordMatch[];
}

/** What the dictionary is asked for a word, and how the words that it finds are meant. */
interface Lookup {
  /** Under which its matches are kept. */
  name: string;
  words: readonly string[];
  hashes: readonly number[];
  /** Words that begin so, up to a length: the shortest of them, so many at most. */
  range?: { beginning: string; maxLength: number; most: number };
  /** The word that the dictionary must not have. */
  unless?: string;
  select(candidates: readonly IndexedWord[]): WordMatch[];
  standsFor(indexedWord: string, isAlike: boolean): boolean;
}

interface IndexedWord {
  id: number;
  word: string;
}

/** In one statement, whatever is misspelt. */
export async function matchWords(
  reader: IndexReader,
  words: readonly TextWord[],
  format: IndexFormat,
  languages: readonly Language[],
): Promise<MatchedWord[]> {
  const asked = words.map((word) => {
    const near = nearLookup(word, format, languages);
    const isKnown = reader.caches.words.find(near.name)?.some(({ form }) => form === 'exact');
    const far = word.joins || isKnown ? undefined : { ...farLookup(word, format), unless: word.word };
    return { word, near, far };
  });
  const lookups = asked.flatMap(({ near, far }) => (far ? [near, far] : [near]));
  const found = await find(reader, lookups);
  return asked.map(({ word, near, far }) => ({
    ...word,
    near: found.get(near.name) ?? [],
    far: far && found.get(far.name),
  }));
}

/** What words may be meant to be that the dictionary still has, but no document. */
export async function matchFar(reader: IndexReader, words: readonly TextWord[], format: IndexFormat) {
  const lookups = words.map((word) => farLookup(word, format));
  const found = await find(reader, lookups);
  return new Map(words.map((word, index) => [word, found.get(lookups[index]?.name ?? '') ?? []]));
}

function nearLookup(asked: TextWord, { typing }: IndexFormat, languages: readonly Language[]): Lookup {
  const { word, joins } = asked;
  const { beginning, maxLength, meaningOf } = nearForms(asked, languages);
  return {
    ...{ name: joins ? `+${word}` : word, words: [word], hashes: joins ? [] : typing.otherScripts(word) },
    ...(beginning !== undefined && { range: { beginning, maxLength, most: maxForms } }),
    select: (found) => selectMeant(found, meaningOf),
    standsFor: (indexed) => meaningOf(indexed) !== undefined,
  };
}

function farLookup(asked: TextWord, { typing }: IndexFormat): Lookup {
  const { word, isLast } = asked;
  const parts = partsOf(word).flat();
  const isBegun = isLast && word.length >= minBegun;
  return {
    ...{ name: `-${word}${isLast ? '*' : ''}`, words: parts, hashes: typing.query(word) },
    ...(isBegun && { range: { beginning: word, maxLength: longestWord, most: maxBegun } }),
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

/** The matches of lookups by their names; none of those whose word the dictionary has. */
async function find(
  reader: IndexReader,
  lookups: readonly Lookup[],
): Promise<Map<string, readonly WordMatch[]>> {
  const cache = reader.caches.words;
  const matches = new Map<string, readonly WordMatch[]>();
  for (const { name } of lookups) {
    const kept = cache.find(name);
    if (kept) matches.set(name, kept);
  }
  const unknown = lookups.filter(({ name }) => !matches.has(name));
  const { found, mayKeep } = await readForCache(reader, () => findCandidates(reader, unknown));
  const indexed = new Set(found.map(({ word }) => word));
  for (const { name, unless, select, standsFor } of unknown) {
    if (unless !== undefined && indexed.has(unless)) continue;
    const selected = select(found);
    matches.set(name, selected);
    if (mayKeep) cache.keep(name, selected, standsFor);
  }
  return matches;
}

async function findCandidates(reader: IndexReader, lookups: readonly Lookup[]): Promise<IndexedWord[]> {
  if (lookups.length === 0) return [];
  const hashes = lookups.flatMap(({ hashes, unless = '' }) => hashes.map((hash) => ({ hash, unless })));
  const ranges = lookups.flatMap(({ range, unless = '' }) => (range ? [{ ...range, unless }] : []));
  const { rows } = await reader.query<IndexedWord>(
    `with known as (select array(select word from ${reader.index}.word where word = any ($1)) as words)
     select id, word from ${reader.index}.word where id = any (array(
       select id from ${reader.index}.word where word = any ($1)
       union all
       select word_id from ${reader.index}.deletion where hash = any (array(
         select hash from unnest($2::bigint[], $3::text[]) as asked (hash, unless), known where unless <> all (words)
       ))
       union all
       select found.id
       from unnest($4::text[], $5::integer[], $6::integer[], $7::text[]) as range (beginning, longest, most, unless), known,
         lateral (
           select id from ${reader.index}.word
           where word >= beginning and word < beginning || U&'\\+10FFFF' and length(word) <= longest
           order by length(word), word limit most
         ) as found
       where unless <> all (words)
     ))`,
    [
      textArray(lookups.flatMap(({ words }) => words)),
      ...arraysOf(hashes, { hash: bigintArray, unless: textArray }),
      ...arraysOf(ranges, {
        ...{ beginning: textArray, maxLength: integerArray, most: integerArray, unless: textArray },
      }),
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
