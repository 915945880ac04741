import { maxAnswerBytes } from '../../rules/discover/page-answer.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { Parameters } from '../../storage/parameters.ts';
import type { IndexReader } from '../cache/caches.ts';
import { checkCondition, type DocumentCheck } from '../filter/check-documents.ts';
import { type HomeDraft, type HomeRow, parseHomes, type ReadHomes } from './home-rows.ts';
import { catalogKeyOf } from './keys.ts';
import { selectNamedOffers } from './offers.ts';
import { findListings } from './read-wide-offers.ts';
import { addScope, type Scope, validityText } from './scope.ts';
import { listOffersIn } from './wide-offers.ts';

// Reads homes that share offers with other catalogs, or have many of them (read-homes.ts): which of these apply depends on who else is served now, and on room.

/** Resources are read until offers name them so often in all; the first one always is. */
const maxPairs = 50_000;
/** Of offers in the order of the page: those beyond it would not fit into an answer behind the others. */
const maxNamedCharacters = 2 * maxAnswerBytes;

/** Of one catalog; those with more are asked for what counts now, as far as an answer has room for it. */
const maxWideAtOnce = 300;

/** The catalogs of these resources; what has gone, or does not pass the check, is left out. One statement, unless providers have many offers. */
export async function readSharedHomes(
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
       case when home in (select home from many) then 'many' end as validity from homes
     union all
     select 2, home, key, null, document::text, null from page
     union all
     select 3, null, null, key, text, validity from (
       select key, text, validity, sum(length(text)) over (order by ordinal, key) as total from (
         select offer.key, first.ordinal, document::text as text, ${validityText} as validity
         from (
           select offer_key, min(coalesce(page.ordinal, homes.ordinal)) as ordinal
           from listed join homes using (home) left join page on page.key = resource_key group by offer_key
         ) as first join discovery.offer on offer.key = first.offer_key
       ) as offer
     ) as measured where total <= ${maxNamedCharacters}
     union all
     select 4, home, resource_key, offer_key, null, null from listed
     union all
     select 5, null, key, null, null, null from summed where ordinal not in (select ordinal from page)
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

/** In the order of the answer: what comes after as much as an answer has room for is not read. */
async function addWideOffers(
  reader: IndexReader,
  keys: readonly number[],
  homes: ReadonlyMap<number, HomeDraft>,
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
