import {
  type AnswerPage,
  defaultLimit,
  type FoundResource,
  neededCount,
  pageAnswer,
  type StoredDocument,
} from '../../rules/discover/page-answer.ts';
import { type FoundPage, readPage } from '../../storage/discovery-answers.ts';
import type { Candidates, Search } from './candidates.ts';
import { inSlices } from './passing.ts';

/**
 * The page that a request asked for, of what was found: resources in their catalogs, with the offers that apply to them. It is outdated when
 * something on it has changed since it was found: then what the filter selects instead may be missing.
 */
export async function buildAnswer(
  search: Search,
  candidates: Candidates,
): Promise<{ answer: AnswerPage; isOutdated: boolean }> {
  const { paging } = search.plan;
  const { limit = defaultLimit, offset = 0 } = paging;
  const needed = neededCount(paging);
  const found: FoundResource[] = [];
  const documents = createDocuments();
  let total = 0;
  let isOutdated = false;
  for await (const keys of keysToRead(candidates, needed)) {
    search.deadline.check();
    const page = await search.trace.time(
      'read page',
      () =>
        readPage(search.database, {
          ...candidates,
          keys,
          gate: search.plan.gate,
          isSettled: candidates.isSettled ?? false,
          confirm: search.plan.filter?.checkBeside([]),
          atMost: needed - total,
          offset: Math.max(0, offset - total),
          limit: limit - found.length,
        }),
      ({ count, resources, heads, offers }) => ({
        ...{ candidates: keys.length, passed: count },
        ...{ resources: resources.length, catalogs: heads.size, offers: offers.size },
      }),
    );
    if (!candidates.isSettled) search.count(keys.length, page.count);
    const onPage = Math.min(limit - found.length, Math.max(0, page.count - Math.max(0, offset - total)));
    isOutdated ||= page.resources.length < onPage;
    total += page.count;
    found.push(...resourcesOf(page, documents));
    if (total >= needed) break;
  }
  return { answer: pageAnswer(found, total, paging), isOutdated };
}

/** What has passed is gathered first; of the rest, so many at a time that the first ones are enough as a rule. */
function keysToRead({ keys, isSettled }: Candidates, needed: number): AsyncIterable<number[]> {
  return isSettled ? gathered(keys, needed) : inSlices(keys, Math.ceil(needed * spare));
}

const spare = 1.1;

async function* gathered(parts: AsyncIterable<ArrayLike<number>>, needed: number): AsyncGenerator<number[]> {
  const keys: number[] = [];
  for await (const part of parts) {
    // One by one: a catalog may have more resources than a call takes arguments.
    for (let index = 0; index < part.length; index++) keys.push(part[index] as number);
    if (keys.length >= needed) break;
  }
  if (keys.length > 0) yield keys;
}

function resourcesOf(
  { resources, heads, applied, offers }: FoundPage,
  documents: Documents,
): FoundResource[] {
  const offersOf = new Map<number, StoredDocument[]>();
  for (const { resource_key, offer_key } of applied) {
    const document = documents.offer(offer_key, offers.get(offer_key));
    offersOf.set(resource_key, [...(offersOf.get(resource_key) ?? []), document]);
  }
  return resources.map(({ key, catalog_key, document }) => ({
    catalog: documents.catalog(catalog_key, heads.get(catalog_key)),
    resource: { text: document },
    offers: offersOf.get(key) ?? [],
  }));
}

/** The same catalog and the same offer are the same document, whichever part of the page they came with. */
interface Documents {
  catalog(key: number, text?: string): StoredDocument;
  offer(key: number, text?: string): StoredDocument;
}

function createDocuments(): Documents {
  const documents = new Map<string, StoredDocument>();
  const get = (name: string, text = '{}') => {
    const document = documents.get(name) ?? { text };
    documents.set(name, document);
    return document;
  };
  return {
    catalog: (key, text) => get(`catalog ${key}`, text),
    offer: (key, text) => get(`offer ${key}`, text),
  };
}
