import type { FoundResource, StoredDocument, WideOffers } from '../../rules/discover/page-answer.ts';
import { isWithin } from '../../rules/time-period.ts';
import type { IndexReader } from '../cache/caches.ts';
import type { DocumentCheck } from '../filter/check-documents.ts';
import type { Home, ListedOffer, ListedResource } from './home-rows.ts';
import { catalogKeyOf, headOf } from './keys.ts';
import { readHomes } from './read-homes.ts';
import type { Scope } from './scope.ts';

// Reads the documents of a page: the found resources, their catalogs, and the offers that apply to them.

export interface ListQuery {
  scope: Scope;
  /** What every document on the page must satisfy, lest it was found only because its hash is that of something else, or as it was before. */
  check?: DocumentCheck;
}

/** In the order of the keys, as many as can be read at once, at least one; what has gone meanwhile is left out. */
export async function readListed(
  reader: IndexReader,
  keys: readonly number[],
  query: ListQuery,
  documents: SharedDocuments,
): Promise<{ found: FoundResource[]; read: number }> {
  const { homes, unread } = await readHomes(reader, keys, query);
  const firstUnread = keys.findIndex((key) => unread.has(key));
  const read = firstUnread < 0 ? keys.length : firstUnread;
  const found = keys.slice(0, read).flatMap((key) => {
    const home = homes.get(catalogKeyOf(key));
    const resource = home?.resources.get(key);
    return home && resource ? [documents.list(key, home, resource, query.scope.now)] : [];
  });
  return { found, read };
}

/** The documents of a page: the same catalog and the same offer are the same object, whichever part of the page they came with. */
export class SharedDocuments {
  private readonly documents = new Map<number, StoredDocument>();
  private readonly wide = new Map<StoredDocument, WideOffers>();

  /** A resource, with the offers on it that are valid now. */
  list(key: number, home: Home, resource: ListedResource, now: Date): FoundResource {
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

function selectValid(offers: readonly ListedOffer[], now: Date): readonly ListedOffer[] {
  return offers.filter(({ validity }) => isWithin(validity, now));
}
