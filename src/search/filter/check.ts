import { neededCount } from '../../rules/discover/page-answer.ts';
import { type Candidates, gather, type Search } from '../candidates.ts';
import { countDocuments } from '../documents/documents.ts';
import { catalogKeyOf, inBatches } from '../documents/keys.ts';
import { expandMembers, hasCatalogs } from '../documents/members.ts';
import { findListings } from '../documents/read-wide-offers.ts';
import { findSearched } from '../documents/searched-catalogs.ts';
import type { Listing } from '../documents/wide-offers.ts';
import { readPassing, readPassingDocuments } from './check-documents.ts';
import { selectByOffers } from './check-offers.ts';
import { evaluateUrl, selectInCatalogs, testDocuments } from './evaluate.ts';
import type { FilterPlan } from './plan.ts';
import { readCatalogTexts } from './read-catalogs.ts';

// The check of a filter: which candidates are in scope and selected by it. Where the index is exact, the index decides. Otherwise documents are evaluated, batch by batch, until the caller
// has enough. No connection is held between batches, because the evaluation in between needs connections of its own.

/** Candidates whose documents are read and evaluated at a time. */
const documentsAtOnce = 500;
/** Keys that are filtered by scope and looked up at a time: hardly more than an answer counts, as more may have to be ranked first. */
const keysAtOnce = 1_200;
/** A cheap filter on fewer characters is evaluated here rather than in a thread, to which they would have to be copied. */
const maxInlineCharacters = 1_000_000;

/** Evaluates documents now, where that has to be; otherwise the check is left to the statement that reads the page. */
export function checkCandidates(search: Search, candidates: Candidates): Candidates {
  if (search.plan.filter?.exact === false && !candidates.isSelected)
    return { keys: filterCandidates(search, candidates), isSettled: true };
  const keys = filterByScope(search, candidates.keys);
  return { ...candidates, keys: candidates.check ? keys : expandCatalogs(search, keys) };
}

/** Replaces heads by resources, so that resources are counted, and no more catalogs are filtered than have enough of them. */
async function* expandCatalogs(
  { database, plan: { paging } }: Search,
  parts: AsyncIterable<ArrayLike<number>>,
): AsyncGenerator<ArrayLike<number>> {
  const atMost = 2 * neededCount(paging);
  for await (const keys of parts)
    yield hasCatalogs(keys) ? await expandMembers(database, keys, atMost) : keys;
}

/** Drops candidates out of scope, as far as the caller reads. */
async function* filterByScope(
  { database, plan: { scope } }: Search,
  parts: AsyncIterable<ArrayLike<number>>,
): AsyncGenerator<Float64Array> {
  for await (const part of parts)
    for (const batch of inBatches(part, keysAtOnce)) yield await findSearched(database, batch, scope);
}

/** Resources that the filter selects, in the order of the candidates. */
export function filterCandidates(
  search: Search,
  { keys, check, isSelected }: Candidates,
): AsyncGenerator<number[]> {
  const { filter } = search.plan;
  const candidates = { keys: filterByScope(search, keys), check };
  if (filter === undefined || filter.exact || isSelected) return checkByIndex(search, candidates);
  if (filter.test) return filterByResources(search, filter, candidates);
  return filterWith(search, candidates, filter.offers ? selectByOffers(search) : selectByCatalogs(search));
}

async function* checkByIndex(search: Search, { keys, check }: Candidates): AsyncGenerator<number[]> {
  for await (const part of gather(keys, keysAtOnce)) {
    search.deadline.check();
    const passed = await readPassing(search.database, { keys: Array.from(part), check });
    search.count(part.length, passed.length);
    yield passed;
  }
}

/** By a filter that looks at each resource by itself. */
async function* filterByResources(
  search: Search,
  filter: FilterPlan,
  { keys, check }: Candidates,
): AsyncGenerator<number[]> {
  for await (const part of gather(keys, documentsAtOnce))
    for (const batch of inBatches(part, documentsAtOnce)) {
      if (!filter.cheap) await search.evaluation.begin();
      const candidates = await readPassingDocuments(search.database, { keys: batch, check });
      const texts = candidates.map(({ document }) => document);
      const positions = await testResources(search, filter, texts);
      search.count(texts.length, positions.length);
      yield positions.map((position) => candidates[position]?.key ?? 0);
    }
}

async function testResources(search: Search, filter: FilterPlan, texts: string[]): Promise<number[]> {
  search.deadline.check();
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  if (filter.cheap && characters <= maxInlineCharacters) {
    return texts.flatMap((text, position) => (filter.test?.(JSON.parse(text)) ? [position] : []));
  }
  return search.evaluation.run<number[]>('filter', {
    module: evaluateUrl,
    name: testDocuments.name,
    input: { ...search.plan.filterSource, list: 'resources', texts },
  });
}

/** Selects among resources, in their order. */
type Select = (keys: readonly number[]) => Promise<number[]>;

async function* filterWith(search: Search, candidates: Candidates, select: Select): AsyncGenerator<number[]> {
  for await (const part of checkByIndex({ ...search, count: () => {} }, candidates)) {
    const keys = await select(part);
    search.count(part.length, keys.length);
    yield keys;
  }
}

/** By a filter that looks at whole catalogs: each is evaluated once, whichever of its resources are candidates. */
export function selectByCatalogs(search: Search): Select {
  const known = new Map<number, ReadonlySet<number>>();
  return async (keys) => {
    const unseen = new Set(keys.map(catalogKeyOf).filter((key) => !known.has(key)));
    for (const [key, resources] of await selectInBatches(search, [...unseen])) known.set(key, resources);
    return keys.filter((key) => known.get(catalogKeyOf(key))?.has(key));
  };
}

/** The selected resources of each catalog. As many catalogs at a time as have not more documents than are kept in memory at once. */
async function selectInBatches(
  search: Search,
  catalogKeys: readonly number[],
): Promise<Map<number, ReadonlySet<number>>> {
  const selected = new Map<number, ReadonlySet<number>>();
  for (const keys of await batchCatalogs(search, catalogKeys)) {
    await search.evaluation.begin();
    const { catalogs, offers } = await readCatalogTexts(search.database, keys, search.plan.scope);
    const positions = await search.evaluation.run<Uint32Array[]>('filter', {
      module: evaluateUrl,
      name: selectInCatalogs.name,
      input: { ...search.plan.filterSource, catalogs, offers },
    });
    for (const [index, { key, resources }] of catalogs.entries())
      selected.set(
        key,
        new Set(Array.from(positions[index] ?? [], (position) => resources.keys[position] ?? 0)),
      );
  }
  return selected;
}

/** Catalogs that together have not more resources and wide offers than that, or single ones. */
async function batchCatalogs(
  { database, plan }: Search,
  catalogKeys: readonly number[],
): Promise<number[][]> {
  if (catalogKeys.length <= 1) return [[...catalogKeys]].filter(({ length }) => length > 0);
  const counts = await countDocuments(database, catalogKeys);
  const listings = await findListings(database, catalogKeys, plan.scope);
  const batches: number[][] = [];
  let left = 0;
  let shared = new Set<Listing>();
  for (const key of catalogKeys) {
    const listing = listings.get(key);
    // Catalogs that list the same offers share their texts.
    const wide = listing && !shared.has(listing) ? listing.common.length : 0;
    const own = listing?.departures.get(key)?.own.length ?? 0;
    const size = (counts.get(key)?.resources ?? 0) + wide + own;
    if (batches.length === 0 || size > left) {
      batches.push([]);
      left = maxAtOnce;
      shared = new Set();
    }
    batches.at(-1)?.push(key);
    left -= size;
    if (listing) shared.add(listing);
  }
  return batches;
}

const maxAtOnce = 50_000;
