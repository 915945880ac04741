import {
  type CandidateQuery,
  type Cursor,
  type DocumentCheck,
  type Lead,
  readCandidateDocuments,
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

/** Where candidates come from, and what that leaves to be checked on their documents. */
export interface CheckedLead {
  lead: Lead;
  check?: DocumentCheck;
}

/** Keys of resources in the order of the lead. Whoever needs only the first ones says how many. */
export async function* passing(search: Search, from: CheckedLead, atMost?: number): AsyncGenerator<number[]> {
  const { filter } = search.plan;
  if (filter?.exact === false && filter.test) yield* testing(search, filter, from);
  else if (filter?.exact === false) yield* selecting(search, from);
  else {
    for await (const keys of keyPages(search, from, atMost)) {
      search.count(keys.length, keys.length);
      yield keys;
    }
  }
}

/** These resources, and those of these catalogs, that pass. */
export function passingOf(search: Search, keys: readonly number[]): AsyncGenerator<number[]> {
  return passing(search, { lead: { kind: 'keys', keys }, check: search.plan.filter?.check });
}

async function* keyPages(search: Search, from: CheckedLead, limit = pageSize): AsyncGenerator<number[]> {
  for (const query of queries(search, from)) {
    let after: Cursor | undefined;
    do {
      search.deadline.check();
      const { keys, cursor } = await readCandidates(search.database, query, {
        limit: limitOf(query, limit),
        after,
      });
      after = cursor;
      if (keys.length > 0) yield keys;
    } while (after !== undefined);
  }
}

function* queries({ plan: { gate } }: Search, { lead, check }: CheckedLead): Generator<CandidateQuery> {
  if (lead.kind !== 'keys') return yield { lead, gate, check };
  for (let start = 0; start < lead.keys.length; start += keysAtOnce) {
    yield { lead: { kind: 'keys', keys: lead.keys.slice(start, start + keysAtOnce) }, gate, check };
  }
}

/** All resources of named keys come at once: a catalog has as many as it has. */
function limitOf({ lead }: CandidateQuery, limit: number): number {
  return lead.kind === 'keys' ? maxInteger : limit;
}

const maxInteger = 2 ** 31 - 1;

/** A filter that looks at each resource by itself. */
async function* testing(search: Search, filter: FilterPlan, from: CheckedLead): AsyncGenerator<number[]> {
  for (const query of queries(search, from)) {
    let after: Cursor | undefined;
    do {
      const page = await readCandidateDocuments(search.database, query, {
        limit: limitOf(query, pageSize),
        after,
      });
      const documents = page.candidates.map(({ document }) => document);
      const places = await test(search, filter, documents);
      search.count(documents.length, places.length);
      yield places.map((place) => page.candidates[place]?.key ?? 0);
      after = page.cursor;
    } while (after !== undefined);
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
async function* selecting(search: Search, from: CheckedLead): AsyncGenerator<number[]> {
  const selected = new Map<number, ReadonlySet<number>>();
  for await (const candidates of keyPages(search, from)) {
    const unseen = new Set(candidates.map(catalogKeyOf).filter((key) => !selected.has(key)));
    for (const [key, resources] of await select(search, [...unseen])) selected.set(key, resources);
    const keys = candidates.filter((key) => selected.get(catalogKeyOf(key))?.has(key));
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
