import type { Json } from '../../protocol/json.ts';
import type { FoundResource, StoredDocument, WideOffers } from '../../rules/discover/page-answer.ts';
import { isWithin } from '../../rules/time-period.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import type { KnownHome, KnownOffer, KnownResource } from '../cache/page-cache.ts';
import type { DocumentCheck } from '../filter/check-documents.ts';
import type { ReadHomes } from './home-rows.ts';
import { catalogKeyOf, headOf } from './keys.ts';
import { readHomes } from './read-homes.ts';
import type { Scope } from './scope.ts';

// Reads the documents of a page: the found resources, their catalogs, and the offers that apply to them. What the page cache lacks is read by one statement.

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

/** In the order of the keys, as many as can be read at once, at least one; what has gone meanwhile is left out. */
export async function readListed(
  reader: IndexReader,
  keys: readonly number[],
  query: ListQuery,
  documents: SharedDocuments,
): Promise<{ found: FoundResource[]; read: number }> {
  const known =
    keys.length <= maxCached ? findKnown(reader, keys, query) : new Map<number, KnownHome | null>();
  const unknown = keys.filter((key) => !known.has(key));
  const { homes, unread } = unknown.length === 0 ? nothingRead : await readUnknown(reader, unknown, query);
  const firstUnread = keys.findIndex((key) => unread.has(key));
  const read = firstUnread < 0 ? keys.length : firstUnread;
  const found = keys.slice(0, read).flatMap((key) => {
    const home: KnownHome | undefined = known.get(key) ?? homes.get(catalogKeyOf(key));
    const resource = home?.resources.get(key);
    return home && resource ? [documents.list(key, home, resource, query.scope.now)] : [];
  });
  return { found, read };
}

/** More resources at once are neither looked for in the cache nor kept: with a thousand of them, that takes a quarter of the time of the process. */
const maxCached = 100;

const nothingRead: ReadHomes = { homes: new Map(), unread: new Set() };

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
    if (mayKeep && isForGood && keys.length <= maxCached) cache.keep(catalogKey, home);
  return found;
}

/** The documents of a page: the same catalog and the same offer are the same object, whichever part of the page they came with. */
export class SharedDocuments {
  private readonly documents = new Map<number, StoredDocument>();
  private readonly wide = new Map<StoredDocument, WideOffers>();

  /** A resource, with the offers on it that are valid now. */
  list(key: number, home: KnownHome, resource: KnownResource, now: Date): FoundResource {
    const catalog = this.share(headOf(key), home.head);
    const wide = this.wide.get(catalog) ?? {
      offers: selectValid(home.offers, now).map(({ document }) => document),
      more: home.more,
    };
    this.wide.set(catalog, wide);
    const offers = selectValid(resource.offers, now).map((offer) => this.share(offer.key, offer.document));
    return { catalog, resource: resource.document, offers, more: resource.more, wide };
  }

  private share(key: number, document: StoredDocument): StoredDocument {
    const first = this.documents.get(key) ?? document;
    this.documents.set(key, first);
    return first;
  }
}

function selectValid(offers: readonly KnownOffer[], now: Date): readonly KnownOffer[] {
  return offers.filter(({ validity }) => isWithin(validity, now));
}
