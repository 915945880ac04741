import type { Json } from '../../protocol/json.ts';
import type { StoredDocument } from '../../rules/discover/page-answer.ts';
import { isWithin } from '../../rules/time-period.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { KnownHome, KnownOffer, KnownResource } from '../cache/page-cache.ts';
import { type CandidateQuery, type DocumentCheck, readPassing } from '../filter/check-documents.ts';
import { catalogKeyOf, keysBetween } from './keys.ts';
import { type ReadHomes, readHomes } from './read-homes.ts';
import type { Scope } from './scope.ts';

// Reads the documents of a page: the found resources, their catalogs, and the offers that apply to them. What the page cache lacks is read by one statement.

export interface PageQuery extends CandidateQuery {
  /** The candidates have passed already. */
  isSettled: boolean;
  /** Of those that pass, so many are counted at most, and the page is cut from them. */
  atMost: number;
  offset: number;
  limit: number;
}

export interface ListQuery {
  scope: Scope;
  confirm?: Confirmation;
}

/**
 * What every document on the page must satisfy, lest it was found only because its hash is that of something else, or as it was before. Without a
 * test, which is to be cheap, documents are read for that and checked by the database, known or not.
 */
export interface Confirmation {
  /** The filter's text. */
  filter: string;
  check: DocumentCheck;
  test?: (resource: Json) => boolean;
}

interface FoundPage {
  /** How many passed. */
  count: number;
  /** Of the resources on the page. */
  keys: readonly number[];
}

export interface ListedResource {
  key: number;
  catalog: StoredDocument;
  resource: StoredDocument;
  /** Those that name it. */
  offers: readonly ListedOffer[];
  /** How many do beyond these. */
  more?: number;
  /** Those on all resources of its catalog: for all of them the same object. */
  wide: { offers: readonly ListedOffer[]; more: number };
}

type ListedOffer = Pick<KnownOffer, 'key' | 'document'>;

export async function findPage(reader: IndexReader, query: PageQuery): Promise<FoundPage> {
  const { keys, isSettled, atMost, offset, limit } = query;
  const passed = isSettled ? keys : await readPassing(reader, query, atMost);
  const count = Math.min(passed.length, atMost);
  return { count, keys: Array.from(keysBetween(passed, offset, Math.min(count, offset + limit))) };
}

/** In the order of the keys, as many as can be read at once, at least one; what has gone meanwhile is left out. */
export async function readListed(
  reader: IndexReader,
  keys: readonly number[],
  query: ListQuery,
): Promise<{ listed: ListedResource[]; read: number }> {
  const known = findKnown(reader, keys, query);
  const unknown = keys.filter((key) => !known.has(key));
  const { homes, unread } = unknown.length === 0 ? nothingRead : await readUnknown(reader, unknown, query);
  const firstUnread = keys.findIndex((key) => unread.has(key));
  const read = firstUnread < 0 ? keys.length : firstUnread;
  const wide = new Map<KnownHome, ListedResource['wide']>();
  const listed = keys.slice(0, read).flatMap((key) => {
    const home: KnownHome | undefined = known.get(key) ?? homes.get(catalogKeyOf(key));
    const resource = home?.resources.get(key);
    if (home === undefined || resource === undefined) return [];
    const { head: catalog, offers, more } = home;
    const ofHome = wide.get(home) ?? { offers: selectValid(offers, query.scope.now), more };
    wide.set(home, ofHome);
    const named = selectValid(resource.offers, query.scope.now);
    const beyond = resource.more;
    return [{ key, catalog, resource: resource.document, offers: named, more: beyond, wide: ofHome }];
  });
  return { listed, read };
}

const nothingRead: ReadHomes = { homes: new Map(), unread: new Set() };

function selectValid(offers: readonly KnownOffer[], now: Date): readonly KnownOffer[] {
  return offers.filter(({ validity }) => isWithin(validity, now));
}

/** The catalogs of those resources that are known, by the resources' keys; null where one does not satisfy what it must. */
function findKnown(
  reader: IndexReader,
  keys: readonly number[],
  { confirm }: ListQuery,
): Map<number, KnownHome | null> {
  const cache = reader.caches.pages;
  const homes = new Map<number, KnownHome | null>();
  if (confirm && !confirm.test) return homes;
  for (const key of keys) {
    const home = cache.find(catalogKeyOf(key));
    const resource = home?.resources.get(key);
    if (home === undefined || resource === undefined) continue;
    homes.set(key, isConfirmed(resource, confirm) ? home : null);
  }
  return homes;
}

/** Longer ones are not cached. */
const maxFilter = 200;

/** Most are asked for by the same filter again and again. */
function isConfirmed(resource: KnownResource, { filter, test }: Partial<Confirmation> = {}): boolean {
  if (test === undefined || resource.selectedBy === filter) return true;
  const isSelected = test(JSON.parse(resource.document.text));
  if (isSelected && filter !== undefined && filter.length <= maxFilter) resource.selectedBy = filter;
  return isSelected;
}

async function readUnknown(
  reader: IndexReader,
  keys: readonly number[],
  { scope, confirm }: ListQuery,
): Promise<ReadHomes> {
  const read = () => readHomes(reader, keys, { scope, check: confirm?.check });
  const { found, mayKeep } = await readForCache(reader, read);
  const cache = reader.caches.pages;
  for (const [catalogKey, { isForGood, ...home }] of found.homes)
    if (mayKeep && isForGood) cache.keep(catalogKey, home);
  return found;
}
