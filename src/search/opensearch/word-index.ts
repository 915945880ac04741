import { LruCache } from '../../lru-cache.ts';
import { type TextWord, textWords } from '../../rules/text/forms.ts';
import { isKnown, type TextQuery } from '../../rules/text/rank.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { farLookup, type Lookup, type MatchedWord, nearLookup } from '../text/match-words.ts';
import { type AskedText, weighWords } from '../text/read-words.ts';
import type { OpenSearch } from './client.ts';
import { wordsOf, writeBulk } from './indexes.ts';

// The dictionary: the words of the documents, and the keys that find them despite typing errors.

/** Words that this process has sent or found in the index. */
const knownWords = 200_000;

/** Adds words. They are never removed: a word without documents finds nothing. */
export function createWordWriter(client: OpenSearch, { typing }: IndexFormat) {
  const known = new LruCache<string, true>(knownWords);
  return async (index: string, words: readonly string[]): Promise<void> => {
    const nameOf = (word: string) => `${index} ${word}`;
    const missing = [...new Set(words)].filter((word) => !known.find(nameOf(word)));
    const items = missing.map((word) => {
      const content = { key: word, length: word.length, hashes: typing.index(word).join(' ') };
      return `{"create":${JSON.stringify({ _id: word })}}\n${JSON.stringify(content)}`;
    });
    await writeBulk(client, wordsOf(index), items);
    for (const word of missing) known.keep(nameOf(word), true);
  };
}

/** Maximum of cached matches of lookups, and of cached document counts, until the index changes. */
const kept = { lookups: 20_000, counts: 100_000 };
/** Number of words that one request counts. */
const countedAtOnce = 200;
const candidatesAtOnce = 10_000;

/** Reads the words of a query, with their matches. `reading`: the version of the index. */
export function createWordReader(client: OpenSearch) {
  let newest = { version: -1, ...emptyCaches() };
  return async (asked: AskedText, reading: Promise<number>): Promise<TextQuery> => {
    // Usually the index has not changed, so read before the version is known.
    const caches = newest;
    const query = readWords(client, caches, asked);
    query.catch(() => undefined);
    const version = await reading;
    if (version === caches.version) return query;
    if (version !== newest.version) newest = { version, ...emptyCaches() };
    return readWords(client, newest, asked);
  };
}

type WordCaches = ReturnType<typeof emptyCaches>;

async function readWords(
  client: OpenSearch,
  { found, counts }: WordCaches,
  { format, languages, text = '' }: AskedText,
): Promise<TextQuery> {
  const find = (lookups: readonly Lookup[]) => findCandidates(client, found, lookups);
  const count = (words: readonly string[]) => countDocuments(client, counts, words);
  const words = textWords(format.tokenizer.query(text));
  const documentsOf = (word: string) => counts.find(word) ?? 0;
  const nearLookups = words.map((word) => nearLookup(word, format, languages));
  const isNew = ({ joins }: TextWord, index: number) =>
    !joins && found.find(nearLookups[index]?.name ?? '') === undefined;
  const farLookups = words.filter(isNew).map((word) => farLookup(word, format));
  const [near] = await Promise.all([
    // It is not known yet whether the index has the new words.
    find([...nearLookups, ...farLookups]),
    count([everyDocument, ...words.map(({ word }) => word)]),
  ]);
  const asked: MatchedWord[] = words.map((word, index) => ({ ...word, near: near[index] ?? [] }));
  // The word itself was already counted.
  const gone = asked.filter(({ joins, near }) => {
    return !joins && !isKnown(near.map((match) => ({ ...match, documents: documentsOf(match.word) })));
  });
  const far = await find(gone.map((word) => farLookup(word, format)));
  const matched = asked.map((each) => ({ ...each, far: far[gone.indexOf(each)] }));
  await count(matched.flatMap((each) => [...each.near, ...(each.far ?? [])]).map(({ word }) => word));
  return weighWords(matched, documentsOf, documentsOf(everyDocument));
}

function emptyCaches() {
  return {
    found: new LruCache<string, Candidates>(kept.lookups),
    counts: new LruCache<string, number>(kept.counts),
  };
}

/** Used instead of a word. */
const everyDocument = '';

async function findCandidates(client: OpenSearch, found: WordCaches['found'], lookups: readonly Lookup[]) {
  const missing = lookups.filter(({ name }) => !found.find(name));
  const searches = missing.flatMap(({ words, hashes, range }) => [
    { size: candidatesAtOnce, query: anyTerm(words, hashes.map(String)) },
    ...(range ? [searchRange(range)] : []),
  ]);
  const answers = await multiSearch(client, wordsOf(client.prefix), searches);
  for (const { name, range, select } of missing) {
    const own = answers.splice(0, range ? 2 : 1).flatMap(({ hits }) => hits.hits ?? []);
    const words = [...new Set(own.map(({ _id }) => _id))];
    found.keep(name, select(words.map((word) => ({ id: 0, word }))));
  }
  return lookups.map(({ name }) => found.find(name) ?? []);
}

async function countDocuments(client: OpenSearch, counts: WordCaches['counts'], words: readonly string[]) {
  const missing = [...new Set(words)].filter((word) => counts.find(word) === undefined);
  for (let start = 0; start < missing.length; start += countedAtOnce) {
    const some = missing.slice(start, start + countedAtOnce);
    const searches = some.map((word) => ({
      ...{ size: 0, track_total_hits: true },
      query: word === everyDocument ? { match_all: {} } : { term: { own: word } },
    }));
    const answers = await multiSearch(client, client.prefix, searches);
    for (const [index, word] of some.entries()) counts.keep(word, answers[index]?.hits.total.value ?? 0);
  }
}

type Candidates = ReturnType<Lookup['select']>;

function anyTerm(key: readonly string[], hashes: readonly string[]): object {
  return { bool: { should: [{ terms: { key } }, { terms: { hashes } }] } };
}

function searchRange({ beginning, maxLength, most }: NonNullable<Lookup['range']>): object {
  const filter = [{ prefix: { key: beginning } }, { range: { length: { lte: maxLength } } }];
  return { size: most, sort: [{ length: 'asc' }, { key: 'asc' }], query: { bool: { filter } } };
}

type Answer = { error?: object; hits: { total: { value: number }; hits?: { _id: string }[] } };

const asked = 'responses.error,responses.hits.total.value,responses.hits.hits._id';

async function multiSearch(client: OpenSearch, index: string, searches: readonly object[]) {
  if (searches.length === 0) return [];
  const body = searches.flatMap((search) => ['{}', JSON.stringify(search)]);
  const path = `/${index}/_msearch?filter_path=${asked}`;
  const { responses } = await client.ask<{ responses: Answer[] }>(path, { body });
  const failed = responses.find(({ error }) => error !== undefined);
  if (failed)
    throw new Error(`OpenSearch could not read words: ${JSON.stringify(failed.error).slice(0, 300)}`);
  return responses;
}
