import type { KnownHome, KnownOffer, KnownResource } from '../cache/page-cache.ts';
import { readPeriod } from './scope.ts';

// The rows in which statements return homes (read-homes.ts, read-shared-homes.ts), and what they are put together to.

export interface ReadHomes {
  /** By their keys. */
  homes: Map<number, ReadHome>;
  /** Resources that have to be asked for again, as those before them have many offers. */
  unread: ReadonlySet<number>;
}

export interface ReadHome extends KnownHome {
  /** No offer of another catalog applies, nor are wide ones left out: these are its offers at any time, in any network. Otherwise they are those that count now. */
  isForGood: boolean;
}

/** In the order of their kinds, and of the offers' keys. */
export type HomeRow =
  /** The owner is null where offers of other catalogs apply, or wide ones that are many. */
  | { kind: 1; home: number; document: string; owner: string | null; validity: 'many' | null }
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
  const offers = new Map<number, KnownOffer>();
  for (const row of rows) {
    switch (row.kind) {
      case 1: {
        const { home, document, owner, validity } = row;
        const listed = { offers: [], more: 0, resources: new Map() };
        homes.set(home, {
          owner: owner ?? '',
          head: { text: document },
          ...listed,
          isForGood: owner !== null,
        });
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
        else if (home && lister) {
          lister.more = (lister.more ?? 0) + 1;
          home.isForGood = false;
        }
        break;
      }
      case 5:
        unread.add(row.key);
    }
  }
  return { homes, many, unread };
}

export interface HomeDraft extends ReadHome {
  offers: KnownOffer[];
  resources: Map<number, KnownResource & { offers: KnownOffer[] }>;
}
