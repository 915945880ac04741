import { addTo } from '../../group.ts';
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
import { arraysOf, bigintArray, integerArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, isCached, readForCache, type WordMatch } from '../cache/caches.ts';
import type { IndexFormat } from '../entries/index-format.ts';

// Looks up words of a query in the dictionary, through a cache.

export interface MatchedWord extends TextWord {
  /** The indexed words that are the word, a form of it, or the word in another script. */
  near: readonly WordMatch[];
  /** If the dictionary lacks the word: words that begin with it, similar words, and possible parts of it. */
  far?: readonly WordMatch[];
}

/** A lookup of a word in the dictionary. */
export interface Lookup {
  /** The key of its matches in the cache. */
  name: string;
  words: readonly string[];
  hashes: readonly number[];
  /** The `most` shortest words with this beginning, up to a length. */
  range?: { beginning: string; maxLength: number; most: number };
  /** The lookup is skipped if the dictionary has this word. */
  unless?: string;
  select(candidates: readonly IndexedWord[]): WordMatch[];
}

interface IndexedWord {
  id: number;
  word: string;
}

/** Uses one statement for all words, also misspelt ones. */
export async function matchWords(
  reader: IndexReader,
  words: readonly TextWord[],
  format: IndexFormat,
  languages: readonly Language[],
): Promise<MatchedWord[]> {
  const asked = words.map((word) => {
    const near = nearLookup(word, format, languages);
    const isKnown =
      isCached(reader) && reader.caches.words.find(near.name)?.some(({ form }) => form === 'exact');
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

/** Matches of words that are in the dictionary, but in no document. */
export async function matchFar(reader: IndexReader, words: readonly TextWord[], format: IndexFormat) {
  const lookups = words.map((word) => farLookup(word, format));
  const found = await find(reader, lookups);
  return new Map(words.map((word, index) => [word, found.get(lookups[index]?.name ?? '') ?? []]));
}

export function nearLookup(asked: TextWord, { typing }: IndexFormat, languages: readonly Language[]): Lookup {
  const { word, joins } = asked;
  const { beginning, maxLength, meaningOf } = nearForms(asked, languages);
  return {
    ...{ name: joins ? `+${word}` : word, words: [word], hashes: joins ? [] : typing.otherScripts(word) },
    ...(beginning !== undefined && { range: { beginning, maxLength, most: maxForms } }),
    select: (found) => selectMeant(found, meaningOf),
  };
}

export function farLookup(asked: TextWord, { typing }: IndexFormat): Lookup {
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
  };
}

/** Maximum of words with the same beginning, shortest first, because these include forms of a short word. More would take too long. */
const maxForms = 500;
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

/** The matches of lookups by name, without lookups whose word is in the dictionary. */
async function find(reader: IndexReader, lookups: readonly Lookup[]) {
  const cache = reader.caches.words;
  const matches = new Map<string, readonly WordMatch[]>();
  for (const { name } of isCached(reader) ? lookups : []) {
    const kept = cache.find(name);
    if (kept) matches.set(name, kept);
  }
  const unknown = lookups.filter(({ name }) => !matches.has(name));
  const { found, mayKeep } = await readForCache(reader, () => findCandidates(reader, unknown));
  const idOf = new Map(found.map(({ word, id }) => [word, id]));
  const wordsOf = new Map<number, string[]>();
  for (const { lookup, word } of found) addTo(wordsOf, lookup, word);
  for (const [index, { name, words, unless, select }] of unknown.entries()) {
    if (unless !== undefined && idOf.has(unless)) continue;
    const own = new Set([...words.filter((word) => idOf.has(word)), ...(wordsOf.get(index) ?? [])]);
    const selected = select(Array.from(own, (word) => ({ word, id: idOf.get(word) as number })));
    matches.set(name, selected);
    // Keeps a copy: a substring would keep the whole original text in memory.
    if (mayKeep) cache.keep(Buffer.from(name, 'utf16le').toString('utf16le'), selected);
  }
  return matches;
}

/** Each candidate with the position of its lookup; -1 for exact words. */
async function findCandidates(reader: IndexReader, lookups: readonly Lookup[]) {
  if (lookups.length === 0) return [];
  const hashes = lookups.flatMap(({ hashes }, lookup) => hashes.map((hash) => ({ hash, lookup })));
  const ranges = lookups.flatMap(({ range }, lookup) => (range ? [{ ...range, lookup }] : []));
  const { rows } = await reader.query<IndexedWord & { lookup: number }>(
    `with asked as materialized (
       select ordinal - 1 as lookup from unnest($2::text[]) with ordinality as asked (unless, ordinal)
       where unless <> all (array(select word from ${reader.index}.word where word = any ($1)))
     )
     select -1 as lookup, id, word from ${reader.index}.word where word = any ($1)
     union all
     select lookup, id, word
     from unnest($3::bigint[], $4::integer[]) as key (hash, lookup) join asked using (lookup)
       cross join lateral (select word_id as id from ${reader.index}.deletion where deletion.hash = key.hash offset 0) as found
       cross join lateral (select word from ${reader.index}.word where word.id = found.id offset 0) as word
     union all
     select lookup, id, word
     from unnest($5::text[], $6::integer[], $7::integer[], $8::integer[]) as range (beginning, longest, most, lookup) join asked using (lookup)
       cross join lateral (
         select id, word from ${reader.index}.word
         where word >= beginning and word < beginning || U&'\\+10FFFF' and length(word) <= longest
         order by length(word), word limit most
       ) as found`,
    [
      textArray(lookups.flatMap(({ words }) => words)),
      textArray(lookups.map(({ unless = '' }) => unless)),
      ...arraysOf(hashes, { hash: bigintArray, lookup: integerArray }),
      ...arraysOf(ranges, {
        ...{ beginning: textArray, maxLength: integerArray, most: integerArray, lookup: integerArray },
      }),
    ],
    { prepared: true },
  );
  return rows;
}

/** The approximate number of documents. */
export async function countDocuments(reader: IndexReader): Promise<number> {
  const { caches } = reader;
  const { found, mayKeep } = await readForCache(reader, async () => caches.documents ?? count(reader));
  if (mayKeep) caches.documents = found;
  return found;
}

/** Counts each catalog (with its provider), resource and offer once. Few are counted exactly; for many, the database estimates. */
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
