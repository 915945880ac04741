import { SettingsError } from '../../settings.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  type CandidateIndex,
  IndexGone,
  limitSelective,
  type Proposal,
  type Search,
  streamOnce,
} from '../candidates.ts';
import { catalogKeyOf, headOf, isHead } from '../documents/keys.ts';
import { type IndexFormats, newestOf } from '../format/index-format.ts';
import { hasKey, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { lowerBound } from '../lists/posting-list.ts';
import { isRadius } from '../spatial/constraint.ts';
import { createClient, type OpenSearchClient } from './client.ts';
import { OpenSearchFailure } from './failure.ts';
import { type CurrentIndex, readCurrent } from './index-rows.ts';
import { buildQuery, type Clause } from './query.ts';

// OpenSearch as the index that proposes candidates (adr/0013). It is asked for all parts of an intent at once. What was committed after its watermark is dropped from its hits, and proposed
// from PostgreSQL instead: so a search that begins after a commit sees it.

/** With more changes than that after the watermark, or more resources in catalogs that changed as a whole, the index is behind. */
const maxChanged = 2_000;
const maxInChanged = 20_000;
/** Of a catalog whose resources were not counted. */
const uncounted = 5_000;
/** A request takes no longer, whatever the search has left. */
const maxRequestMs = 3_000;
const firstHits = 500;
const streamedAtOnce = 2_000;

export interface OpenSearchIndex extends CandidateIndex {
  client: OpenSearchClient;
}

interface Options {
  SEARCH_INDEX: readonly string[];
  OPENSEARCH_URL: readonly string[];
}

/** Undefined where SEARCH_INDEX does not name it. */
export function createOpenSearchIndex(
  { SEARCH_INDEX, OPENSEARCH_URL }: Options,
  formats: IndexFormats,
): OpenSearchIndex | undefined {
  if (!SEARCH_INDEX.includes('opensearch')) return undefined;
  if (OPENSEARCH_URL.length === 0)
    throw new SettingsError('SEARCH_INDEX names opensearch: then OPENSEARCH_URL must say where it is.');
  const client = createClient(OPENSEARCH_URL);
  const isOnlyIndex = !SEARCH_INDEX.includes('postgres');
  const format = newestOf(formats);
  return {
    client,
    problem: () => client.problem(),
    isOnlyIndex,
    async propose(search, parts) {
      // Of very many, those with the rarest words come first: our own lists know them.
      if (parts.text?.isRankedTogether === false) return undefined;
      const query = await buildQuery(search, format, {
        words: parts.text?.lookup,
        located: parts.spatial?.located,
      });
      if (query === undefined) return undefined;
      if (client.isResting()) throw new IndexGone(client.problem());
      try {
        return await propose(search, client, { query, version: format.version });
      } catch (error) {
        if (!(error instanceof OpenSearchFailure)) throw error;
        if (!error.refusal) throw new IndexGone(error.message, { cause: error });
        search.trace.note('opensearch', { refuses: error.message });
        return undefined;
      }
    },
  };
}

/** Undefined where our own lists have to propose: the index is not built or behind, or there are so many candidates that their order matters. */
async function propose(
  search: Search,
  client: OpenSearchClient,
  { query, version }: { query: Clause; version: number },
): Promise<Proposal | undefined> {
  const { database, plan, trace, deadline } = search;
  const current = await readCurrent(database, version, maxChanged);
  const changes = current && (await findChanges(search, current));
  if (current === undefined || changes === undefined) {
    trace.note('opensearch', { is: current ? 'behind' : 'not built' });
    return undefined;
  }
  const atMost = limitSelective(plan);
  const timeoutMs = () => Math.max(1, Math.min(maxRequestMs, deadline.remainingMs()));
  const found = await trace.time(
    'ask opensearch',
    () =>
      findUpTo(client, { index: current.name, query, timeoutMs }, atMost).catch(async (error) => {
        const { name } = (await readCurrent(database, version, maxChanged)) ?? current;
        if (name === current.name) throw error;
      }),
    (answer) => ({ candidates: answer?.total, changed: changes.keys.length }),
  );
  // Another index has taken its place meanwhile.
  if (found === undefined) return propose(search, client, { query, version });
  const { keys, total } = found;
  const check = plan.filter?.checkBeside([]);
  const by = 'opensearch';
  if (total <= atMost) {
    const proposed = union([changes.drop(keys), changes.keys]);
    return { by, estimate: proposed.length, open: async () => ({ keys: streamOnce(proposed), check }) };
  }
  // The best and the nearest come first: our own lists know them.
  if (plan.text !== undefined || plan.spatial.some(isRadius)) return undefined;
  const stream = () => streamInOrder(client, { index: current.name, query, timeoutMs }, changes);
  return { by, estimate: Number.POSITIVE_INFINITY, open: async () => ({ keys: stream(), check }) };
}

interface Asked {
  index: string;
  query: Clause;
  timeoutMs(): number;
}

/** All of them, unless they are more than so many. Mostly they are few, or far too many. */
async function findUpTo(client: OpenSearchClient, { index, query, timeoutMs }: Asked, atMost: number) {
  const countUpTo = atMost + 1;
  const first = await client.find({ index, timeoutMs: timeoutMs() }, { query, size: firstHits, countUpTo });
  const { keys, total } = first;
  if (total > atMost || keys.length >= total) return first;
  const rest = await client.find(
    { index, timeoutMs: timeoutMs() },
    { query, size: atMost, after: keys.at(-1) },
  );
  return { keys: union([keys, rest.keys]), total };
}

/** What was committed after the watermark. */
interface Changes {
  /** Candidates instead of what the index has of them, in order; a head stands for all resources of its catalog. */
  keys: Keys;
  /** Without what the index may have outdated. */
  drop(keys: Keys): Keys;
}

/** Undefined where they are too many. */
async function findChanges({ database }: Search, { changed }: CurrentIndex): Promise<Changes | undefined> {
  if (changed.length > maxChanged) return undefined;
  const outdated = keysOf(changed);
  const heads = keysOf(changed.filter(isHead));
  let inCatalogs = 0;
  for (const head of heads) inCatalogs += database.caches.catalogs.findCount(catalogKeyOf(head)) ?? uncounted;
  if (inCatalogs > maxInChanged) return undefined;
  const others = changed.filter((key) => !hasKey(heads, headOf(key)));
  return {
    keys: union([heads, await findExisting(database, others)]),
    drop: (found) =>
      outdated.length === 0
        ? found
        : found.filter((key) => !hasKey(outdated, key) && !hasKey(outdated, headOf(key))),
  };
}

/** Some of the changes were removals. */
async function findExisting(queryable: Queryable, keys: readonly number[]): Promise<Keys> {
  if (keys.length === 0) return new Float64Array();
  const { rows } = await queryable.query<{ key: number }>(
    'select key from discovery.resource where key = any ($1::bigint[])',
    [bigintArray(keys)],
    { prepared: true },
  );
  return keysOf(rows.map(({ key }) => key));
}

/** In the order of keys, with the changes in between. */
async function* streamInOrder(
  client: OpenSearchClient,
  { index, query, timeoutMs }: Asked,
  changes: Changes,
): AsyncGenerator<Keys> {
  let pointInTime: string | undefined;
  try {
    pointInTime = await client.openPointInTime(index);
    let rest = changes.keys;
    for (let after: number | undefined; ; ) {
      const size = streamedAtOnce;
      const { keys } = await client.find({ pointInTime, timeoutMs: timeoutMs() }, { query, size, after });
      const last = keys.at(-1);
      const isEnd = last === undefined || keys.length < size;
      const upTo = isEnd ? rest.length : lowerBound(rest, last);
      yield union([changes.drop(keys), rest.subarray(0, upTo)]);
      if (isEnd) return;
      rest = rest.subarray(upTo);
      after = last;
    }
  } catch (error) {
    throw error instanceof OpenSearchFailure ? new IndexGone(error.message, { cause: error }) : error;
  } finally {
    if (pointInTime !== undefined) await client.closePointInTime(pointInTime).catch(() => undefined);
  }
}
