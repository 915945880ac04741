import { maxAnswerBytes } from '../../rules/discover/page-answer.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { Parameters } from '../../storage/parameters.ts';
import type { IndexReader } from '../cache/caches.ts';
import type { KnownHome, KnownOffer, KnownResource } from '../cache/page-cache.ts';
import { checkCondition, type DocumentCheck } from '../filter/check-documents.ts';
import { catalogKeyOf } from './keys.ts';
import { selectNamedOffers } from './offers.ts';
import { findListings } from './read-wide-offers.ts';
import { addScope, readPeriod, type Scope, validityText } from './scope.ts';
import { listOffersIn } from './wide-offers.ts';

// Reads homes: the catalogs of resources as answers list them, with some of their resources and the offers on those.

interface ReadHome extends KnownHome {
  /** No offer of another catalog applies, nor are wide ones left out: these are its offers at any time, in any network. Otherwise they are those that count now. */
  isForGood: boolean;
}

/** Resources are read until offers name them so often in all; the first one always is. */
const maxPairs = 50_000;
/** Of offers in the order of the page: those beyond it would not fit into an answer behind the others. */
const maxNamedCharacters = 2 * maxAnswerBytes;

/** Of one catalog; those with more are asked for what counts now, as far as an answer has room for it. */
const maxWideAtOnce = 300;

/**
 * The catalogs of these resources; what has gone, or does not pass the check, is left out. One statement, as a rule: a search waits
 * longer for the way to the database and back than for what happens there.
 */
export async function readHomes(
  reader: IndexReader,
  keys: readonly number[],
  { scope, check = {} }: { scope: Scope; check?: DocumentCheck },
): Promise<ReadHomes> {
  const parameters = new Parameters();
  const { rows } = await reader.query<HomeRow>(
    `with passing as materialized (
       select ordinal, resource.key, resource.id, catalog.key as home, owner, provider_id, document, head, (
         select count(*) from (
           select from discovery.offer_target
           where offer_target.owner = catalog.owner and resource_id = resource.id limit ${maxPairs}) as target
         ) as pairs
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) with ordinality as wanted (key, ordinal)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
       where ${checkCondition(check, parameters)}
     ), summed as materialized (
       select *, sum(pairs) over (order by ordinal) - pairs as pairs_before from passing
     ), page as materialized (
       select * from summed where pairs = 0 or pairs_before = 0 or pairs_before + pairs <= ${maxPairs}
     ), homes as materialized (
       select distinct on (home) home, owner, provider_id, head, ordinal from page order by home, ordinal
     ), shared as materialized (
       select distinct home from page cross join lateral (
         select from discovery.offer_target
         where offer_target.owner = page.owner and resource_id = page.id and offer_key >> 26 <> home limit 1) as target
     ), wide as materialized (
       select home, wide.key as offer_key from homes cross join lateral (
         select key from discovery.offer
         where offer.owner = homes.owner and offer.provider_id = homes.provider_id and resource_ids is null
         limit ${maxWideAtOnce + 1}) as wide
     ), many as materialized (
       select home from wide group by home having bool_or(offer_key >> 26 <> home) or count(*) > ${maxWideAtOnce}
     ), found as materialized (
       select * from page where home in (select home from shared)
     ), listed as materialized (
       select home, page.key as resource_key, offer_key from page cross join lateral (
         select offer_key from discovery.offer_target
         where offer_target.owner = page.owner and resource_id = page.id offset 0) as target
       where home not in (select home from shared)
       union all
       select home, null, offer_key from wide where home not in (select home from many)
       union all
       ${selectNamedOffers(addScope(scope, parameters))}
     )
     select 1 as kind, home, null::bigint as key, null::bigint as offer_key, head::text as document,
       case when home not in (select home from shared union all select home from many) then owner end as owner,
       case when home in (select home from many) then 'many' end as validity from homes
     union all
     select 2, home, key, null, document::text, null, null from page
     union all
     select 3, null, null, key, text, null, validity from (
       select key, text, validity, sum(length(text)) over (order by ordinal, key) as total from (
         select offer.key, first.ordinal, document::text as text, ${validityText} as validity
         from (
           select offer_key, min(coalesce(page.ordinal, homes.ordinal)) as ordinal
           from listed join homes using (home) left join page on page.key = resource_key group by offer_key
         ) as first join discovery.offer on offer.key = first.offer_key
       ) as offer
     ) as measured where total <= ${maxNamedCharacters}
     union all
     select 4, home, resource_key, offer_key, null, null, null from listed
     union all
     select 5, null, key, null, null, null, null from summed where ordinal not in (select ordinal from page)
     order by kind, offer_key`,
    parameters.values,
    { prepared: true },
  );
  const { homes, many, unread } = parseHomes(rows);
  await addWideOffers(
    reader,
    keys.map(catalogKeyOf).filter((home) => many.has(home)),
    homes,
    scope,
  );
  return { homes, unread };
}

export interface ReadHomes {
  /** By their keys. */
  homes: Map<number, ReadHome>;
  /** Resources that have to be asked for again, as those before them have many offers. */
  unread: ReadonlySet<number>;
}

/** In the order of the answer: what comes after as much as an answer has room for is not read. */
async function addWideOffers(
  reader: IndexReader,
  keys: readonly number[],
  homes: ReadonlyMap<number, Draft>,
  scope: Scope,
): Promise<void> {
  if (keys.length === 0) return;
  const listings = await findListings(reader, new Set(keys), scope);
  let room = maxAnswerBytes;
  for (const key of new Set(keys)) {
    const [home, listing] = [homes.get(key), listings.get(key)];
    if (home === undefined || listing === undefined) continue;
    const wanted = listOffersIn(listing, key);
    const pieces = await readPieces(reader, wanted, room);
    home.offers = pieces.map(({ first, text, count }) => ({
      key: first,
      document: { text, count },
      validity: {},
    }));
    home.more = pieces.reduce((left, { count }) => left - count, wanted.length);
    room = pieces.reduce((left, { text }) => left - text.length, room);
  }
}

/** The first of these offers, as many as fit, in pieces: each has several of them, with commas between. */
async function readPieces(
  queryable: Queryable,
  keys: Float64Array,
  characters: number,
): Promise<{ first: number; text: string; count: number }[]> {
  if (characters <= 0) return [];
  const { rows } = await queryable.query<{ first: number; text: string; count: number }>(
    `select min(key) as first, string_agg(document, ',' order by key) as text, count(*) as count from (
       select key, document, sum(length(document) + 1) over (order by key) as total
       from (
         select key, document::text as document from discovery.offer where key = any ($1::bigint[])
       ) as offer
     ) as measured
     where total <= $2 group by total / ${pieceCharacters} order by first`,
    [bigintArray(keys), characters],
    { prepared: true },
  );
  return rows;
}

const pieceCharacters = 32_768;

type HomeRow =
  /** The owner is null where offers of other catalogs apply, or wide ones that are many. */
  | { kind: 1; home: number; document: string; owner: string | null; validity: 'many' | null }
  | { kind: 2; home: number; key: number; document: string }
  | { kind: 3; offer_key: number; document: string; validity: string | null }
  /** An offer on a resource, or, where that is null, on all of the catalog. */
  | { kind: 4; home: number; key: number | null; offer_key: number }
  | { kind: 5; key: number };

function parseHomes(rows: readonly HomeRow[]): {
  homes: Map<number, Draft>;
  many: Set<number>;
  unread: Set<number>;
} {
  const homes = new Map<number, Draft>();
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

interface Draft extends ReadHome {
  offers: KnownOffer[];
  resources: Map<number, KnownResource & { offers: KnownOffer[] }>;
}
