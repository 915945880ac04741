import {
  type Candidate,
  type CandidateQuery,
  type Cursor,
  type Lead,
  readCandidates,
} from '../../storage/discovery-candidates.ts';
import { catalogKeyOf } from '../../storage/discovery-keys.ts';
import { readCatalogTexts } from './catalog-texts.ts';
import { evaluateUrl, selectInCatalogs, testDocuments } from './evaluate.ts';
import type { FilterPlan } from './plan-filter.ts';
import type { Search } from './search.ts';

// Which candidates belong to searched catalogs and are selected by the filter. Where the index can decide that, it does; otherwise documents
// are evaluated, page by page, until the caller has enough. No connection is held between pages: whoever evaluates in between needs others.

/** Candidates that are read and evaluated at a time. */
const pageSize = 500;
/** Keys that are looked up at a time. */
const keysAtOnce = 1_000;
/** A cheap filter on fewer characters is evaluated here rather than in a thread, to which they would have to be copied. */
const maxInlineCharacters = 1_000_000;

/** Keys of resources in the order of the lead. Whoever needs only the first ones says how many. */
export async function* passing(search: Search, lead: Lead, atMost?: number): AsyncGenerator<number[]> {
  const { filter } = search.plan;
  if (filter === undefined || filter.exact) {
    for await (const page of pages(search, lead, { limit: atMost ?? pageSize })) {
      search.count(page.length, page.length);
      yield page.map(({ key }) => key);
    }
  } else if (filter.test) {
    yield* testing(search, filter, lead);
  } else {
    yield* selecting(search, lead);
  }
}

async function* pages(
  search: Search,
  lead: Lead,
  options: { limit: number; documents?: boolean },
): AsyncGenerator<Candidate[]> {
  const { gate, filter } = search.plan;
  for (const each of cut(lead)) {
    const query: CandidateQuery = { lead: each, gate, check: filter?.check };
    // All resources of the named keys come at once: a catalog has as many as it has.
    const limit = each.kind === 'keys' ? Number.MAX_SAFE_INTEGER : options.limit;
    let after: Cursor | undefined;
    do {
      search.deadline.check();
      const { candidates, cursor } = await readCandidates(search.database, query, {
        ...options,
        limit,
        after,
      });
      after = cursor;
      if (candidates.length > 0) yield candidates;
    } while (after !== undefined);
  }
}

function* cut(lead: Lead): Generator<Lead> {
  if (lead.kind !== 'keys') return yield lead;
  for (let start = 0; start < lead.keys.length; start += keysAtOnce) {
    yield { kind: 'keys', keys: lead.keys.slice(start, start + keysAtOnce) };
  }
}

/** A filter that looks at each resource by itself. */
async function* testing(search: Search, filter: FilterPlan, lead: Lead): AsyncGenerator<number[]> {
  for await (const candidates of pages(search, lead, { limit: pageSize, documents: true })) {
    const places = await test(
      search,
      filter,
      candidates.map(({ document }) => document ?? ''),
    );
    search.count(candidates.length, places.length);
    yield places.map((place) => candidates[place]?.key ?? 0);
  }
}

async function test(search: Search, filter: FilterPlan, documents: string[]): Promise<number[]> {
  search.deadline.check();
  const characters = documents.reduce((sum, { length }) => sum + length, 0);
  if (filter.cheap && characters <= maxInlineCharacters) {
    return documents.flatMap((text, place) => (filter.test?.(JSON.parse(text)) ? [place] : []));
  }
  return search.threads.run<number[]>({
    module: evaluateUrl,
    name: testDocuments.name,
    input: { ...search.plan.filterSource, documents },
    deadlineMs: search.deadline.remainingMs(),
  });
}

/** A filter that looks at whole catalogs: each is evaluated once, whichever of its resources are candidates. */
async function* selecting(search: Search, lead: Lead): AsyncGenerator<number[]> {
  const selected = new Map<number, ReadonlySet<number>>();
  for await (const candidates of pages(search, lead, { limit: pageSize })) {
    const catalogKeys = new Set(candidates.map(({ key }) => catalogKeyOf(key)));
    const unseen = [...catalogKeys].filter((key) => !selected.has(key));
    for (const [key, resources] of await select(search, unseen)) selected.set(key, resources);
    const keys = candidates.flatMap(({ key }) => (selected.get(catalogKeyOf(key))?.has(key) ? [key] : []));
    search.count(candidates.length, keys.length);
    yield keys;
  }
}

/** The selected resources of each catalog. */
async function select(
  search: Search,
  catalogKeys: readonly number[],
): Promise<Map<number, ReadonlySet<number>>> {
  if (catalogKeys.length === 0) return new Map();
  search.deadline.check();
  const catalogs = await readCatalogTexts(search.database, catalogKeys, search.plan.gate);
  const places = await search.threads.run<number[][]>({
    module: evaluateUrl,
    name: selectInCatalogs.name,
    input: { ...search.plan.filterSource, catalogs: catalogs.map(({ texts }) => texts) },
    deadlineMs: search.deadline.remainingMs(),
  });
  return new Map(
    catalogs.map(({ key, resourceKeys }, index) => [
      key,
      new Set((places[index] ?? []).map((place) => resourceKeys[place] ?? 0)),
    ]),
  );
}
