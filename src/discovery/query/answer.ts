import {
  type AnswerPage,
  defaultLimit,
  type FoundResource,
  pageAnswer,
} from '../../rules/discover/page-answer.ts';
import { readResources } from '../../storage/discovery-answers.ts';
import { readDocuments } from '../../storage/discovery-documents.ts';
import { findOffers } from '../../storage/discovery-offers.ts';
import type { Found, Search } from './search.ts';

/** The page that a request asked for, of what was found: resources in their catalogs, with the offers that apply to them. */
export async function buildAnswer(
  { plan, database, trace }: Search,
  { keys, total }: Found,
): Promise<AnswerPage> {
  const { limit = defaultLimit, offset = 0 } = plan.paging;
  const page = keys.slice(offset, offset + limit);
  const { resources, heads } = await trace.time(
    'read documents',
    () => readResources(database, page, plan.filter?.check),
    (read) => ({ resources: read.resources.length, catalogs: read.heads.size }),
  );
  const offers = await trace.time(
    'attach offers',
    () => offersOf(database, page, plan.gate),
    (attached) => ({ resources: attached.size }),
  );
  const catalogs = new Map([...heads].map(([key, text]) => [key, { text }]));
  const found = resources.flatMap(({ key, catalog_key, document }): FoundResource[] => {
    const catalog = catalogs.get(catalog_key);
    return catalog ? [{ catalog, resource: { text: document }, offers: offers.get(key) ?? [] }] : [];
  });
  return pageAnswer(found, total, plan.paging);
}

async function offersOf(
  database: Search['database'],
  keys: readonly number[],
  gate: Search['plan']['gate'],
): Promise<Map<number, { text: string }[]>> {
  const applied = await findOffers(database, keys, gate);
  const texts = await readDocuments(database, 'offer', [
    ...new Set(applied.map(({ offer_key }) => offer_key)),
  ]);
  const documents = new Map([...texts].map(([key, text]) => [key, { text }]));
  const offers = new Map<number, { text: string }[]>();
  for (const { resource_key, offer_key } of applied) {
    const document = documents.get(offer_key);
    if (document) offers.set(resource_key, [...(offers.get(resource_key) ?? []), document]);
  }
  return offers;
}
