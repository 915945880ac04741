import { compareStanding } from '../../rules/discover/order.ts';
import { maxLimit, neededCount } from '../../rules/discover/page-answer.ts';
import type { TextQuery } from '../../rules/text/rank.ts';
import { SearchIndexUnavailable } from '../../storage/unavailable.ts';
import { confirmHits } from '../confirm/match-subjects.ts';
import type { Scope } from '../documents/scope.ts';
import { type Hit, hitsOf, sortHits } from '../hit.ts';
import type { Plan } from '../plan.ts';
import { findBox, type SpatialPlan } from '../spatial/constraint.ts';
import type { Tools } from '../tools.ts';
import { askIndex, askServed, type IndexQuestion, slackMeters } from './ask-index.ts';
import { type OpenSearch, RefusedByOpenSearch } from './client.ts';
import { placeFact } from './document.ts';
import { maxResults } from './indexes.ts';

// A search in OpenSearch: one question returns the first hits in order, and their total number. Each hit is compared with the documents (confirm/),
// which may move it back. So it is returned when no unread hit can come before it.

/** Hits beyond the page that are read with it, because they may change places with its last ones. */
const beyondPage = { usual: 1, banded: 10 };
/** Maximum of hits that are compared at once: their documents are in memory, and no other work gets a turn. */
const comparedAtOnce = maxLimit + beyondPage.banded;
/** Each further request reads this many times as many hits. */
const growth = 4;
/** Ranks of OpenSearch have seven digits. */
const relativeSlack = 1e-6;

export interface FindOptions {
  /** The search is repeated if the page has changed meanwhile. */
  isFirst?: boolean;
  /** Starts reading resources of the page during the comparison. */
  readAhead?(keys: readonly number[]): void;
}

/** Hits in the order of the answer, in batches, and the number of further hits. */
export async function* findIndexedHits(
  { client, readQuery }: { client: OpenSearch; readQuery(tools: Tools, plan: Plan): Promise<TextQuery> },
  tools: Tools,
  plan: Plan,
  { isFirst = false, readAhead }: FindOptions = {},
): AsyncGenerator<Hit[] | number> {
  const { deadline, trace } = tools;
  const hasText = plan.text !== undefined;
  const existing = hasText ? undefined : readVersion(tools);
  existing?.catch(() => undefined); // thrown when awaited
  const text = hasText ? await trace.time('read words', () => readQuery(tools, plan)) : undefined;
  if (text?.words.every(({ variants }) => variants.length === 0)) return;
  const locate = async (each: SpatialPlan) => ({ ...each, around: await findBox(tools, each) });
  const places = await Promise.all(plan.spatial.map(locate));
  const question = askIndex(plan, places, text);
  const { limit = maxLimit, offset = 0 } = plan.paging;
  const beyond = question.sortedBy.includes('band') ? beyondPage.banded : beyondPage.usual;
  const wanted = offset + limit;
  const isCompared = !isFirst || !isCheckedOnPage(plan, question);
  const most = isCompared ? comparedAtOnce : maxResults;
  let { isExact } = question;
  let size = isExact ? Math.min(wanted + beyond, most) : comparedAtOnce;
  let pending: Hit[] = [];
  const known = new Set<number>();
  let [read, sent] = [0, 0];
  for (let after: unknown[] | undefined; ; ) {
    deadline.check();
    // What was read is subtracted from the count, which has four bytes.
    const counted = Math.min(neededCount(plan.paging) + read + size, 2 ** 31 - 1);
    const ask = () => askPage(client, question, { size, counted, after });
    const count = ({ total, hits }: Answer) => ({ hits: hits.length, total });
    const { total, wide, hits } = await trace.time('ask OpenSearch', ask, count);
    await existing;
    isExact &&= !wide;
    // A hit that has changed meanwhile may come again.
    const keys = hits.map(({ sort }) => sort.at(-1) as number).filter((key) => !known.has(key));
    for (const key of keys) known.add(key);
    if (isCompared && isExact && after === undefined) readAhead?.(keys.slice(offset));
    const confirm = async () => (isCompared ? confirmHits(tools, plan, text, keys) : hitsOf(keys));
    const confirmed = await trace.time('compare documents', confirm, (found) => ({ left: found.length }));
    pending = sortHits([...pending, ...confirmed]);
    read += hits.length;
    const last = hits.at(-1);
    const isAll = hits.length < size || last === undefined;
    const bound = isAll ? undefined : readBound(question, last);
    const open = bound ? pending.findIndex((hit) => !isSettled(hit, bound)) : -1;
    const settled = pending.splice(0, open < 0 ? pending.length : open);
    sent += settled.length;
    yield settled;
    if (isAll) return;
    after = last.sort;
    size = Math.max(size, Math.min(size * growth, comparedAtOnce));
    // The rest is only counted. Hits that were read but are not settled also match.
    if (isExact && sent >= wanted && !bound?.isWide) return yield Math.max(0, total - read) + pending.length;
  }
}

/** Reading the page detects changes and repeats the search. The repeated search compares the hits first. */
function isCheckedOnPage({ filter, spatial, text }: Plan, { isExact }: IndexQuestion): boolean {
  const isOfResources =
    filter === undefined || (filter.check && !filter.lookups.catalog && !filter.isOfOffers);
  return isExact && isOfResources === true && spatial.length === 0 && text === undefined;
}

/** The version of the index, or 503 if there is none yet. */
export async function readVersion({ reader }: Tools): Promise<number> {
  const select = 'select version from discovery.external_index where name is not null';
  const version = await reader.value<number | undefined>(select, [], { prepared: true });
  if (version === undefined) throw new SearchIndexUnavailable(undefined, 'is being built');
  return version;
}

/** The sort values of the question, and the key. */
type IndexHit = { sort: unknown[] };
type Wide = { wide: { value: number } };
type Answer = { total: number; wide?: number; hits: IndexHit[] };

async function askPage(
  client: OpenSearch,
  { query, postFilter, sort, wide }: Pick<IndexQuestion, 'query' | 'postFilter' | 'sort' | 'wide'>,
  { size, counted, after }: { size: number; counted: number; after?: unknown[] },
): Promise<Answer> {
  const path = `/${client.prefix}/_search?allow_partial_search_results=false&filter_path=hits.total.value,hits.hits.sort,aggregations`;
  const body = {
    ...{ query, sort, size, track_total_hits: counted, _source: false, stored_fields: '_none_' },
    ...(postFilter && { post_filter: postFilter }),
    ...(after ? { search_after: after } : wide && { aggs: { wide: { sum: { field: wide } } } }),
  };
  type Found = { hits: { total?: { value: number }; hits?: IndexHit[] }; aggregations?: Wide };
  const { hits, aggregations } = await client.ask<Found>(path, { body }).catch((error) => {
    const isMissing = error instanceof RefusedByOpenSearch && error.status === 404;
    throw isMissing ? new SearchIndexUnavailable(error, 'is being built') : error;
  });
  return { total: hits.total?.value ?? 0, wide: aggregations?.wide.value, hits: hits.hits ?? [] };
}

export async function hasPlace(client: OpenSearch, scope: Scope, paths: readonly string[]): Promise<boolean> {
  const query = { bool: { filter: [...askServed(scope), { terms: { facts: paths.map(placeFact) } }] } };
  const { total } = await askPage(client, { query, sort: [] }, { size: 0, counted: 1 });
  return total > 0;
}

/** Later hits rank at most as high as this. `isWide`: the geometry is not a point, so the distance is unknown. */
type Bound = Pick<Hit, 'rank' | 'band' | 'distance'> & { isWide: boolean };

function readBound({ sortedBy, hasDistance }: IndexQuestion, { sort }: IndexHit): Bound {
  const sortedValue = (name: IndexQuestion['sortedBy'][number]) => {
    const value = sort[sortedBy.indexOf(name)] ?? undefined;
    return value === undefined ? undefined : Number(value);
  };
  const [rank, band] = [sortedValue('rank'), sortedValue('band')];
  const isWide = sortedValue('wide') === 1;
  return {
    isWide,
    ...(rank !== undefined && { rank: rank * (1 - relativeSlack) }),
    ...(band !== undefined && { band: band * (1 + relativeSlack) }),
    ...(hasDistance && { distance: isWide ? 0 : (sortedValue('distance') ?? 0) }),
  };
}

/** Whether no later hit can come before this one. Distances are rounded to a centimetre. */
function isSettled(hit: Hit, bound: Bound): boolean {
  if (bound.distance === undefined) return compareStanding(hit, bound) <= 0;
  if (bound.band === undefined) return (hit.distance ?? 0) <= bound.distance + slackMeters;
  const isSameBand = Math.abs((hit.band ?? 0) - bound.band) <= 2 * relativeSlack * bound.band;
  return isSameBand ? (hit.distance ?? 0) < bound.distance - slackMeters : (hit.band ?? 0) > bound.band;
}
