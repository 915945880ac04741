import type { StoredDocument } from '../../rules/discover/page-answer.ts';
import type { PeriodBounds } from '../../rules/time-period.ts';
import { readPeriod } from './scope.ts';

// The rows in which statements return homes (read-homes.ts, read-shared-homes.ts), and what they are put together to.

/** A catalog as an answer lists it. The same one, and the same offer, is the same document wherever it is listed. */
export interface Home {
  head: StoredDocument;
  /** Those on all its resources, as many as an answer has room for. */
  offers: readonly ListedOffer[];
  /** How many there are beyond these. */
  more: number;
  resources: ReadonlyMap<number, ListedResource>;
}

export interface ListedResource {
  document: StoredDocument;
  /** Those that name it. */
  offers: readonly ListedOffer[];
  /** How many do beyond these, which would not fit into an answer. */
  more?: number;
}

export interface ListedOffer {
  key: number;
  document: StoredDocument;
  validity: PeriodBounds;
}

export interface ReadHomes {
  /** By their keys. */
  homes: Map<number, Home>;
  /** Resources that have to be asked for again, as those before them have many offers. */
  unread: ReadonlySet<number>;
}

/** In the order of their kinds, and of the offers' keys. */
export type HomeRow =
  | { kind: 1; home: number; document: string; validity: 'many' | null }
  | { kind: 2; home: number; key: number; document: string }
  | { kind: 3; offer_key: number; document: string; validity: string | null }
  /** An offer on a resource, or, where that is null, on all of the catalog. */
  | { kind: 4; home: number; key: number | null; offer_key: number }
  | { kind: 5; key: number };

export function parseHomes(rows: readonly HomeRow[]): {
  homes: Map<number, HomeDraft>;
  many: Set<number>;
  unread: Set<number>;
} {
  const homes = new Map<number, HomeDraft>();
  const many = new Set<number>();
  const unread = new Set<number>();
  const offers = new Map<number, ListedOffer>();
  for (const row of rows) {
    switch (row.kind) {
      case 1: {
        const { home, document, validity } = row;
        homes.set(home, { head: { text: document }, offers: [], more: 0, resources: new Map() });
        if (validity === 'many') many.add(home);
        break;
      }
      case 2:
        homes.get(row.home)?.resources.set(row.key, { document: { text: row.document }, offers: [] });
        break;
      case 3: {
        const { offer_key: key, document, validity } = row;
        offers.set(key, { key, document: { text: document }, validity: readPeriod(validity) });
        break;
      }
      case 4: {
        const home = homes.get(row.home);
        const offer = offers.get(row.offer_key);
        const lister = row.key === null ? home : home?.resources.get(row.key);
        if (offer) lister?.offers.push(offer);
        else if (lister) lister.more = (lister.more ?? 0) + 1;
        break;
      }
      case 5:
        unread.add(row.key);
    }
  }
  return { homes, many, unread };
}

export interface HomeDraft extends Home {
  offers: ListedOffer[];
  resources: Map<number, ListedResource & { offers: ListedOffer[] }>;
}
