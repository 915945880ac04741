import { LruCache } from '../../lru-cache.ts';
import { textWords } from '../../rules/text/forms.ts';
import { isKnown, type TextQuery } from '../../rules/text/rank.ts';
import { SearchIndexUnavailable } from '../../storage/unavailable.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { farLookup, type Lookup, type MatchedWord, nearLookup } from '../text/match-words.ts';
import { type AskedText, weighWords } from '../text/read-words.ts';
import { type OpenSearch, RefusedByOpenSearch } from './client.ts';
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
/** Maximum of candidates for a word, and of searches in one request. */
const [candidatesAtOnce, searchesAtOnce] = [10_000, 200];

/** Reads the words of a query, with their matches. `reading`: the version of the index. */
export function createWordReader() {
  let newest = { version: -1, ...emptyCaches() };
  return async (client: OpenSearch, asked: AskedText, reading: Promise<number>): Promise<TextQuery> => {
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

async function readWords(client: OpenSearch, caches: WordCaches, asked: AskedText): Promise<TextQuery> {
  const { format, languages, text = '' } = asked;
  const words = textWords(format.tokenizer.query(text));
  const documentsOf = (word: string) => caches.counts.find(word) ?? 0;
  const nearLookups = words.map((word) => nearLookup(word, format, languages));
  const near = await find(client, caches, nearLookups, [everyDocument, ...words.map(({ word }) => word)]);
  const known: MatchedWord[] = words.map((word, index) => ({ ...word, near: near[index] ?? [] }));
  const gone = known.filter(({ joins, near }) => {
    return !joins && !isKnown(near.map((match) => ({ ...match, documents: documentsOf(match.word) })));
  });
  const farLookups = gone.map((word) => farLookup(word, format));
  const far = await find(client, caches, farLookups, near.flat().map(wordOf));
  await find(client, caches, [], far.flat().map(wordOf));
  const matched = known.map((each) => ({ ...each, far: far[gone.indexOf(each)] }));
  return weighWords(matched, documentsOf, documentsOf(everyDocument));
}

const wordOf = ({ word }: Candidates[number]) => word;

function emptyCaches() {
  const found = new LruCache<string, Candidates>(kept.lookups);
  const counts = new LruCache<string, number>(kept.counts);
  return { found, counts };
}

/** Used instead of a word. */
const everyDocument = '';

/** The matches of some lookups. The same request counts the documents with some words. */
async function find(client: OpenSearch, caches: WordCaches, lookups: readonly Lookup[], words: string[]) {
  const { found, counts } = caches;
  const unknown = lookups.filter(({ name }) => !found.find(name));
  const uncounted = [...new Set(words)].filter((word) => counts.find(word) === undefined);
  const candidates = unknown.flatMap(({ words, hashes, range }) => [
    sorted({ size: candidatesAtOnce, query: anyTerm(words, hashes.map(String)) }),
    ...(range ? [searchRange(range)] : []),
  ]);
  const answers = await multiSearch(client, [
    ...candidates.map((search) => ({ index: wordsOf(client.prefix), search })),
    ...uncounted.map((word) => ({ index: client.prefix, search: countDocuments(word) })),
  ]);
  for (const { name, range, select } of unknown) {
    const own = answers.splice(0, range ? 2 : 1).flatMap(({ hits }) => hits.hits ?? []);
    const words = [...new Set(own.map(({ sort }) => sort.at(-1) as string))];
    found.keep(name, select(words.map((word) => ({ id: 0, word }))));
  }
  for (const [index, word] of uncounted.entries()) counts.keep(word, answers[index]?.hits.total.value ?? 0);
  return lookups.map(({ name }) => found.find(name) ?? []);
}

function countDocuments(word: string): object {
  const query = word === everyDocument ? { match_all: {} } : { term: { own: word } };
  return { size: 0, track_total_hits: true, query };
}

type Candidates = ReturnType<Lookup['select']>;

function anyTerm(key: readonly string[], hashes: readonly string[]): object {
  return { bool: { should: [{ terms: { key } }, { terms: { hashes } }] } };
}

function searchRange({ beginning, maxLength, most }: NonNullable<Lookup['range']>): object {
  const filter = [{ prefix: { key: beginning } }, { range: { length: { lte: maxLength } } }];
  return sorted({ size: most, query: { bool: { filter } } }, { length: 'asc' });
}

/** The word is read as the last value of the order: reading ids from stored fields takes three times as long. */
function sorted(search: object, ...first: object[]): object {
  return { ...search, _source: false, stored_fields: '_none_', sort: [...first, { key: 'asc' }] };
}

type Hits = { total: { value: number }; hits?: { sort: unknown[] }[] };
type Answers = { responses: { status: number; error?: object; hits: Hits }[] };

const asked = 'responses.status,responses.error,responses.hits.total.value,responses.hits.hits.sort';

async function multiSearch(client: OpenSearch, searches: readonly { index: string; search: object }[]) {
  const answers: Answers['responses'] = [];
  for (let start = 0; start < searches.length; start += searchesAtOnce) {
    const some = searches.slice(start, start + searchesAtOnce);
    const head = (index: string) => JSON.stringify({ index, allow_partial_search_results: false });
    const body = some.flatMap(({ index, search }) => [head(index), JSON.stringify(search)]);
    const { responses } = await client.ask<Answers>(`/_msearch?filter_path=${asked}`, { body });
    const failed = responses.find(({ error }) => error !== undefined);
    const refusal = failed && new RefusedByOpenSearch(failed.status, JSON.stringify(failed.error));
    if (refusal) throw refusal.status === 400 ? refusal : new SearchIndexUnavailable(refusal);
    answers.push(...responses);
  }
  return answers;
}
