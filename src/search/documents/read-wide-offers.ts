import { bigintArray, textArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { type KnownProvider, listingsOf, nameOf, type ProviderName } from '../cache/provider-cache.ts';
import { catalogKeyOf, keyOf } from './keys.ts';
import { readPeriod, type Scope, validityText } from './scope.ts';
import { findStates } from './searched-catalogs.ts';
import { findFirst, type Listing, type ProviderOffers } from './wide-offers.ts';

// Reads the wide offers of providers, once for each provider until something of it is written (cache/provider-cache.ts).

/** What catalogs list of their providers' wide offers, by the catalogs' keys. Those that list none are left out. */
export async function findListings(
  reader: IndexReader,
  homes: Iterable<number>,
  scope: Scope,
): Promise<Map<number, Listing>> {
  const wanted = new Set(homes);
  const providers = await readProvidersOf(reader, [...wanted]);
  const listings = await readListings(
    reader,
    [...new Map(providers.map((one) => [nameOf(one), one])).values()],
    scope,
  );
  const found = [...listings.values()].flat().flatMap((listing) => {
    const theirs = listing.homes.filter((home) => wanted.has(home));
    return theirs.map((home): [number, Listing] => [home, listing]);
  });
  return new Map(found);
}

/** The listings of providers, by their names (nameOf). */
export async function readListings(
  reader: IndexReader,
  names: readonly ProviderName[],
  scope: Scope,
): Promise<Map<string, Listing[]>> {
  await catchUpWithCatalogs(reader);
  const cache = reader.caches.providers;
  const known = new Map<string, KnownProvider>();
  const unknown: ProviderName[] = [];
  for (const name of names) {
    const provider = cache.find(nameOf(name));
    if (provider) known.set(nameOf(name), provider);
    else unknown.push(name);
  }
  if (unknown.length > 0) {
    const { found, mayKeep } = await readForCache(reader, () => readProviders(reader, unknown));
    for (const [ordinal, provider] of found.entries()) {
      const name = unknown[ordinal] as ProviderName;
      known.set(nameOf(name), provider);
      if (mayKeep) cache.keep(nameOf(name), provider);
    }
  }
  return new Map(Array.from(known, ([name, provider]) => [name, listingsOf(provider, scope)]));
}

/** The catalogs that list one of some wide offers of a provider, each with the index of the first one that it lists. */
export function findHomes(
  listings: ReadonlyMap<string, readonly Listing[]>,
  provider: ProviderName,
  offers: ArrayLike<number>,
): [home: number, index: number][] {
  return (listings.get(nameOf(provider)) ?? []).flatMap((listing) => [...findFirst(listing, offers)]);
}

/** A catalog that was written may belong to a provider now that does not know it. */
async function catchUpWithCatalogs(reader: IndexReader): Promise<void> {
  const cache = reader.caches.providers;
  const keys = [...cache.unread];
  if (keys.length === 0) return;
  const { found, mayKeep } = await readForCache(reader, () => readProvidersOf(reader, keys));
  for (const provider of found) cache.forget(nameOf(provider));
  if (mayKeep) for (const key of keys) cache.unread.delete(key);
}

async function readProvidersOf(
  reader: IndexReader,
  homes: readonly number[],
): Promise<(ProviderName & { home: number })[]> {
  if (homes.length === 0) return [];
  const { rows } = await reader.query<ProviderName & { home: number }>(
    `select key as home, owner, provider_id as "providerId" from discovery.catalog where key = any ($1::bigint[])`,
    [bigintArray(homes)],
    { prepared: true },
  );
  return rows;
}

/** What is stored of a provider, as JSON texts: thousands of offers are read as one row. */
interface ProviderRow {
  /** Its wide offers in the order of keys, the numbers of their ids, and when those are valid that are not always. */
  keys: string;
  ids: string;
  validity: string;
  /** Offers with the same ids that name resources, each with the catalogs of the provider that have those. */
  rivals: string;
  homes: string;
}

/** In the order of the names. */
async function readProviders(reader: IndexReader, names: readonly ProviderName[]): Promise<KnownProvider[]> {
  const { rows } = await reader.query<ProviderRow>(
    `with wanted as materialized (
       select * from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, provider_id, ordinal)
     ), wide as materialized (
       select ordinal, offer.key, offer.id, offer.owner, offer.provider_id, ${validityText} as validity,
         dense_rank() over (partition by ordinal order by offer.id) as number
       from wanted cross join lateral (
         select * from discovery.offer
         where offer.owner = wanted.owner and offer.provider_id = wanted.provider_id and resource_ids is null offset 0) as offer
     ), rival as (
       select ordinal, named.key, number, named.validity, array_agg(distinct home.key) as homes
       from (select distinct ordinal, owner, provider_id, id, number from wide) as wide cross join lateral (
         select key, resource_ids, ${validityText} as validity from discovery.offer
         where offer.owner = wide.owner and offer.id = wide.id and resource_ids is not null offset 0) as named
       cross join lateral unnest(named.resource_ids) as target (id)
       join discovery.resource on resource.id = target.id
       join discovery.catalog as home
         on home.key = resource.catalog_key and home.owner = wide.owner and home.provider_id = wide.provider_id
       group by ordinal, named.key, number, named.validity
     )
     select coalesce(max(keys), '[]') as keys, coalesce(max(ids), '[]') as ids, coalesce(max(validity), '{}') as validity,
       coalesce(max(rivals), '[]') as rivals, coalesce(max(homes), '[]') as homes
     from (
       select ordinal, array_to_json(array_agg(key order by key))::text as keys,
         array_to_json(array_agg(number order by key))::text as ids,
         (json_object_agg(key, validity) filter (where validity is not null))::text as validity,
         null as rivals, null as homes
       from wide group by ordinal
       union all
       select ordinal, null, null, null, json_agg(json_build_array(key, number, validity, homes))::text, null
       from rival group by ordinal
       union all
       select ordinal, null, null, null, null,
         (array_to_json(array_agg(catalog.key) filter (where catalog.key is not null)))::text
       from wanted left join discovery.catalog using (owner, provider_id) group by ordinal
     ) as part group by ordinal order by ordinal`,
    [textArray(names.map(({ owner }) => owner)), textArray(names.map(({ providerId }) => providerId))],
    { prepared: true },
  );
  const providers = rows.map(parseProvider);
  const catalogs = providers.map(listCatalogs);
  const states = await findStates(
    reader,
    catalogs.flatMap((keys) => Array.from(keys, (key) => keyOf(key, 0))),
  );
  return providers.map((provider, index) => {
    const theirs = Array.from(catalogs[index] ?? [], (key) => [key, states.get(key) ?? undefined] as const);
    const offers = { ...provider, states: new Map(theirs) };
    return { ...offers, isTimeless: isTimeless(offers), listings: new Map() };
  });
}

type StoredProvider = Omit<ProviderOffers, 'states'>;
type RivalColumns = [key: number, id: number, validity: string | null, homes: number[]];

function parseProvider({ keys, ids, validity, rivals, homes }: ProviderRow): StoredProvider {
  const periods = Object.entries<string>(JSON.parse(validity));
  const others: RivalColumns[] = JSON.parse(rivals);
  return {
    keys: Float64Array.from(JSON.parse(keys) as number[]),
    ids: Uint32Array.from(JSON.parse(ids) as number[]),
    validity: new Map(periods.map(([key, text]) => [Number(key), readPeriod(text)])),
    rivals: others.map(([key, id, text, ofRival]) => ({
      key,
      id,
      validity: readPeriod(text),
      homes: ofRival,
    })),
    homes: JSON.parse(homes),
  };
}

/** The catalogs of a provider, and those of all offers that play a part for it. */
function listCatalogs({ keys, rivals, homes }: StoredProvider): Set<number> {
  const offers = [...keys, ...rivals.map(({ key }) => key)];
  return new Set([...homes, ...offers.map(catalogKeyOf)]);
}

function isTimeless({ validity, rivals, states }: ProviderOffers): boolean {
  const others = [...rivals, ...states.values()].map((each) => each?.validity ?? {});
  return validity.size === 0 && others.every((period) => Object.keys(period).length === 0);
}
