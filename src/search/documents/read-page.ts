import type { Json } from '../../protocol/json.ts';
import type { StoredDocument } from '../../rules/discover/page-answer.ts';
import { isSearched } from '../../rules/discover/served.ts';
import { isWithin } from '../../rules/time-period.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { stateText } from '../cache/catalog-table.ts';
import { catalogKeyOf, headOf } from '../keys.ts';
import { inBatches } from '../set/sorted.ts';
import { readPeriod, validityText } from '../validity.ts';
import { addSharedOffers, type Home, type ListedOffer } from './attached-offers.ts';
import type { Scope } from './scope.ts';

// Reads the documents of a page: the found resources, their catalogs, and the offers that apply to them. Most catalogs have only a few offers of
// their own, which come with the documents in one statement. For other catalogs, attached-offers.ts reads the offers that apply.

/** Offers that name a resource, or apply to all of a catalog. A catalog with more is read like one that shares offers. */
const maxOwnOffers = 20;
/** Characters: with these two limits, and the number of resources read at once (page-answer.ts), a page reads at most some megabytes of offers. */
const maxOfferCharacters = 8_192;

/** Number of resources that one statement reads. */
const documentsAtOnce = 300;

export type PageReader = ReturnType<typeof createPageReader>;

export function createPageReader(reader: IndexReader, scope: Scope) {
  /** The same catalog or offer is the same object in all parts of the page. */
  const documents = new Map<number, StoredDocument>();
  let [ahead, reading]: [ReadonlySet<number>, Promise<Row[]>] = [new Set(), Promise.resolve([])];
  const readSome = (keys: readonly number[]) =>
    keys.every((key) => ahead.has(key)) ? reading : readRows(reader, keys);
  return {
    /** Starts reading the probable resources of a page of usual size. */
    readAhead(keys: readonly number[]): void {
      if (keys.length > documentsAtOnce) return;
      [ahead, reading] = [new Set(keys), readRows(reader, keys)];
      reading.catch(() => undefined); // thrown by the page, if it reads them
    },
    /**
     * In the order of the keys, as many as can be read at once, at least one, without resources that are gone. `check`: a condition that every
     * document on the page must satisfy. It excludes hash collisions and documents that have changed since.
     */
    async read(keys: number[], check?: (resource: Json) => boolean) {
      // While the database reads some, the process parses others.
      const parts = await Promise.all(Array.from(inBatches(keys, documentsAtOnce), readSome));
      const rows = parts.flat().sort((a, b) => a.kind - b.kind);
      const homes = parseHomes(rows.filter((row) => row.kind !== 1 || isInScope(reader, row.state, scope)));
      const shared = new Map([...homes].filter(([, { isShared }]) => isShared));
      const unread = shared.size > 0 ? await addSharedOffers(reader, shared, keys, scope) : new Set<number>();
      for (const home of homes.values())
        for (const lister of home.isShared ? [] : [home, ...home.resources.values()])
          lister.offers = lister.offers.filter(({ validity }) => isWithin(validity, scope.now));
      const firstUnread = keys.findIndex((key) => unread.has(key));
      const read = firstUnread < 0 ? keys.length : firstUnread;
      const share = (key: number, document: StoredDocument) => {
        if (!documents.has(key)) documents.set(key, document);
        return documents.get(key) ?? document;
      };
      const listWide = ({ offers, more }: Home) => ({ offers: offers.map(({ document }) => document), more });
      const wide = new Map(Array.from(homes, ([key, home]) => [key, listWide(home)]));
      const found = keys.slice(0, read).flatMap((key) => {
        const home = homes.get(catalogKeyOf(key));
        const resource = home?.resources.get(key);
        if (!home || !resource || check?.(JSON.parse(resource.document.text)) === false) return [];
        const { id: resourceId, document, more } = resource;
        const offers = resource.offers.map((offer) => share(offer.key, offer.document));
        const around = { catalog: share(headOf(key), home.head), wide: wide.get(catalogKeyOf(key)) };
        return [
          { key, ranked: { catalogId: home.id, resourceId }, resource: document, offers, more, ...around },
        ];
      });
      return { found, read };
    },
  };
}

function isInScope({ caches }: IndexReader, text: string, scope: Scope): boolean {
  const state = caches.catalogs.parseState(text);
  return state !== null && isSearched(state, scope, scope.now);
}

/** In the order of kinds, then of offer keys. */
type Row =
  | {
      kind: 1;
      home: number;
      document: string;
      owner: string;
      name: string;
      catalog_id: string;
      /** As the database writes it. */
      state: string;
    }
  | { kind: 2; home: number; key: number; document: string; name: string }
  | { kind: 3; offer_key: number; document: string; name: string | null }
  /** An offer on a resource, or on all of the catalog if `key` is null. */
  | { kind: 4; home: number; key: number | null; offer_key: number };

function readRows(reader: IndexReader, keys: readonly number[]): Promise<Row[]> {
  return reader.rows(
    `with page as materialized (
       select resource.key, resource.id, catalog.key as home, catalog.id as catalog_id, owner, provider_id, document::text as document, head, ${stateText} as state
       from unnest($1::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
     ), homes as materialized (
       select distinct on (home) home, catalog_id, owner, provider_id, head, state from page order by home
     ), listed as materialized (
       select home, page.key as resource_key, offer_key from page cross join lateral (
         select offer_key from discovery.offer_target
         where offer_target.owner = page.owner and resource_id = page.id limit ${maxOwnOffers + 1}) as target
       union all
       select home, null, wide.key from homes cross join lateral (
         select key from discovery.offer
         where offer.owner = homes.owner and offer.provider_id = homes.provider_id and resource_ids is null
         limit ${maxOwnOffers + 1}) as wide
     )
     select 1 as kind, home, null::bigint as key, null::bigint as offer_key, head::text as document, provider_id as name, owner, catalog_id, state from homes
     union all
     select 2, home, key, null, document, id, null, null, null from page
     union all
     select 3, null, null, key, text, validity, null, null, null from (
       select offer.key, document::text as text, ${validityText()} as validity
       from (select distinct offer_key from listed where offer_key >> 26 = home) as own
       join discovery.offer on offer.key = offer_key
     ) as offer where length(text) <= ${maxOfferCharacters}
     union all
     select 4, home, resource_key, offer_key, null, null, null, null, null from listed
     order by kind, offer_key`,
    [bigintArray(keys)],
    { prepared: true },
  );
}

/** By their keys, with own offers if these are few. Catalogs that are gone are missing. */
function parseHomes(rows: readonly Row[]): Map<number, Home> {
  const homes = new Map<number, Home>();
  const offers = new Map<number, ListedOffer>();
  for (const row of rows)
    switch (row.kind) {
      case 1: {
        const { home, document, owner, name: providerId, catalog_id: id } = row;
        const rest = { resources: new Map(), offers: [], more: 0, isShared: false };
        homes.set(home, { head: { text: document }, id, owner, providerId, ...rest });
        break;
      }
      case 2:
        homes
          .get(row.home)
          ?.resources.set(row.key, { id: row.name, document: { text: row.document }, offers: [], more: 0 });
        break;
      case 3: {
        const { offer_key: key, document, name: validity } = row;
        offers.set(key, { key, document: { text: document }, validity: readPeriod(validity) });
        break;
      }
      case 4: {
        const home = homes.get(row.home);
        const lister = row.key === null ? home : home?.resources.get(row.key);
        const offer = offers.get(row.offer_key);
        // Each part of a catalog's resources comes with its offers.
        const isListed = offer !== undefined && lister?.offers.includes(offer);
        if (!isListed && offer && catalogKeyOf(offer.key) === row.home) lister?.offers.push(offer);
        else if (!isListed && home) home.isShared = true;
        if (home && (lister?.offers.length ?? 0) > maxOwnOffers) home.isShared = true;
      }
    }
  return homes;
}
