import { bigintArray } from '../../storage/binary-arrays.ts';
import { Parameters } from '../../storage/parameters.ts';
import type { IndexReader } from '../cache/caches.ts';
import { checkCondition, type DocumentCheck } from '../filter/check-documents.ts';
import {
  type HomeDraft,
  type HomeRow,
  type ListedResource,
  parseHomes,
  type ReadHomes,
} from './home-rows.ts';
import { catalogKeyOf } from './keys.ts';
import { readSharedHomes } from './read-shared-homes.ts';
import { type Scope, validityText } from './scope.ts';

// Reads homes: the catalogs of resources as answers list them, with some of their resources and the offers on those. Most catalogs have few offers, all of them their own. These are read
// by a short statement: PostgreSQL takes twice as long for the one that decides which offers of other catalogs apply, whether there are any or not.

/** On a resource by name, and on all of a catalog. */
const maxOwnOffers = 20;
/** With these two, and with the resources that are read at once (page-answer.ts), some megabytes of offers are read at most. */
const maxOfferCharacters = 8_192;

/** The catalogs of these resources; what has gone, or does not pass the check, is left out. */
export async function readHomes(
  reader: IndexReader,
  keys: readonly number[],
  { scope, check = {} }: { scope: Scope; check?: DocumentCheck },
): Promise<ReadHomes> {
  const own = await readOwnHomes(reader, keys, check);
  const shared = keys.filter((key) => own.shared.has(catalogKeyOf(key)));
  if (shared.length === 0) return { homes: own.homes, unread: new Set() };
  const { homes, unread } = await readSharedHomes(reader, shared, { scope, check });
  return { homes: new Map([...own.homes, ...homes]), unread };
}

/** Those that have few offers, and list no others; `shared` are the keys of the rest. */
async function readOwnHomes(
  reader: IndexReader,
  keys: readonly number[],
  check: DocumentCheck,
): Promise<{ homes: Map<number, HomeDraft>; shared: Set<number> }> {
  const parameters = new Parameters();
  const { rows } = await reader.query<HomeRow>(
    `with page as materialized (
       select resource.key, resource.id, catalog.key as home, owner, provider_id, document::text as document, head
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
       where ${checkCondition(check, parameters)}
     ), homes as materialized (
       select distinct on (home) home, owner, provider_id, head from page order by home
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
     select 1 as kind, home, null::bigint as key, null::bigint as offer_key, head::text as document, null as validity from homes
     union all
     select 2, home, key, null, document, null from page
     union all
     select 3, null, null, key, text, validity from (
       select offer.key, document::text as text, ${validityText} as validity
       from (select distinct offer_key from listed where offer_key >> 26 = home) as own
       join discovery.offer on offer.key = offer_key
     ) as offer where length(text) <= ${maxOfferCharacters}
     union all
     select 4, home, resource_key, offer_key, null, null from listed
     order by kind, offer_key`,
    parameters.values,
    { prepared: true },
  );
  const { homes } = parseHomes(rows);
  const shared = new Set<number>();
  for (const [key, home] of homes) {
    if ([home, ...home.resources.values()].every((each) => hasOwnOffers(each, key))) continue;
    shared.add(key);
    homes.delete(key);
  }
  return { homes, shared };
}

/** Few, all read, and of this catalog; those that are long, or of another catalog, were not. */
function hasOwnOffers({ offers, more = 0 }: Pick<ListedResource, 'offers' | 'more'>, home: number): boolean {
  return more === 0 && offers.length <= maxOwnOffers && offers.every(({ key }) => catalogKeyOf(key) === home);
}
