import {
  type CandidateQuery,
  documentStatement,
  findCandidates,
  keyStatement,
  type Lead,
} from '../../storage/discovery-candidates.ts';
import { catalogKeyOf } from '../../storage/discovery-keys.ts';
import { readCatalogTexts } from './catalog-texts.ts';
import { evaluateUrl, selectInCatalogs, testDocuments } from './evaluate.ts';
import type { FilterPlan } from './plan-filter.ts';
import type { Search } from './search.ts';

// Which candidates belong to searched catalogs and are selected by the filter. Where the index can decide that, it does; otherwise documents
// are evaluated, batch by batch, until the caller has enough.

/** Candidates that are read and evaluated at a time. */
const batch = 500;
/** A cheap filter on fewer characters is evaluated here rather than in a thread, to which they would have to be copied. */
const maxInlineCharacters = 1_000_000;

/** Keys of resources in the order of the lead, at most so many. */
export async function* passing(search: Search, lead: Lead, atMost?: number): AsyncGenerator<number[]> {
  const { filter, gate } = search.plan;
  const query: CandidateQuery = { lead, gate, check: filter?.check };
  if (filter !== undefined && !filter.exact) {
    yield* filter.test ? testing(search, filter, query) : selecting(search, query);
  } else if (atMost !== undefined) {
    search.deadline.check();
    const keys = await findCandidates(search.database, query, atMost);
    search.count(keys.length, keys.length);
    yield keys;
  } else {
    for await (const rows of search.database.stream<{ key: number }>(...keyStatement(query), { batch })) {
      search.deadline.check();
      search.count(rows.length, rows.length);
      yield rows.map(({ key }) => key);
    }
  }
}

/** A filter that looks at each resource by itself. */
async function* testing(search: Search, filter: FilterPlan, query: CandidateQuery): AsyncGenerator<number[]> {
  const rows = search.database.stream<{ key: number; document: string }>(...documentStatement(query), {
    batch,
  });
  for await (const candidates of rows) {
    const documents = candidates.map(({ document }) => document);
    const places = await test(search, filter, documents);
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
async function* selecting(search: Search, query: CandidateQuery): AsyncGenerator<number[]> {
  const selected = new Map<number, ReadonlySet<number>>();
  for await (const rows of search.database.stream<{ key: number }>(...keyStatement(query), { batch })) {
    const catalogKeys = new Set(rows.map(({ key }) => catalogKeyOf(key)));
    const unseen = [...catalogKeys].filter((key) => !selected.has(key));
    for (const [key, resources] of await select(search, unseen)) selected.set(key, resources);
    const keys = rows.flatMap(({ key }) => (selected.get(catalogKeyOf(key))?.has(key) ? [key] : []));
    search.count(rows.length, keys.length);
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
