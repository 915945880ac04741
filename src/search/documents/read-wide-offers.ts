import { bigintArray, textArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { type KnownProvider, listingsOf, nameOf, type ProviderName } from '../cache/provider-cache.ts';
import { catalogKeyOf, keyOf } from './keys.ts';
import type { Scope } from './scope.ts';
import { readPeriod, validityText } from './scope.ts';
import { findStates } from './searched-catalogs.ts';
import { findFirst, type Listing, type NamedRival } from './wide-offers.ts';

// Reads the wide offers of providers, once for each provider until something of it is written (cache/provider-cache.ts).

/** What catalogs list of their providers' wide offers, by the catalogs' keys. Those that list none are left out. */
export async function findListings(
  reader: IndexReader,
  homes: Iterable<number>,
  scope: Scope,
): Promise<Map<number, Listing>> {
  const providers = await readProvidersOf(reader, [...homes]);
  const listings = await readListings(
    reader,
    [...new Map(providers.map((one) => [nameOf(one), one])).values()],
    scope,
  );
  const found = new Map<number, Listing>();
  const groups = new Map<string, Map<number, Listing>>();
  for (const [name, each] of listings)
    groups.set(name, new Map(each.flatMap((listing) => listing.homes.map((home) => [home, listing]))));
  for (const provider of providers) {
    const listing = groups.get(nameOf(provider))?.get(provider.home);
    if (listing) found.set(provider.home, listing);
  }
  return found;
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

/** Lists come as JSON texts: thousands of offers are read as one row. */
type Row =
  /** A provider's wide offers in the order of keys, the numbers of their ids, and when those are valid that are not always. */
  | { kind: 1; ordinal: number; keys: string; ids: string; validity: string | null }
  /** An offer with the same id, and the catalogs of the provider whose resources it names. */
  | { kind: 2; ordinal: number; keys: string; ids: string; validity: string | null; homes: string }
  | { kind: 3; ordinal: number; homes: string };

/** In the order of the names. */
async function readProviders(reader: IndexReader, names: readonly ProviderName[]): Promise<KnownProvider[]> {
  const { rows } = await reader.query<Row>(
    `with wanted as materialized (
       select * from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, provider_id, ordinal)
     ), wide as materialized (
       select ordinal, offer.key, offer.id, offer.owner, offer.provider_id, ${validityText} as validity,
         dense_rank() over (partition by ordinal order by offer.id) as number
       from wanted cross join lateral (
         select * from discovery.offer
         where offer.owner = wanted.owner and offer.provider_id = wanted.provider_id and resource_ids is null offset 0) as offer
     )
     select 1 as kind, ordinal, array_to_json(array_agg(key order by key))::text as keys,
       array_to_json(array_agg(number order by key))::text as ids,
       (json_object_agg(key, validity) filter (where validity is not null))::text as validity, null as homes
     from wide group by ordinal
     union all
     select 2, ordinal, named.key::text, number::text, named.validity, array_to_json(array_agg(distinct home.key))::text
     from (select distinct ordinal, owner, provider_id, id, number from wide) as wide cross join lateral (
       select key, resource_ids, ${validityText} as validity from discovery.offer
       where offer.owner = wide.owner and offer.id = wide.id and resource_ids is not null offset 0) as named
     cross join lateral unnest(named.resource_ids) as target (id)
     join discovery.resource on resource.id = target.id
     join discovery.catalog as home
       on home.key = resource.catalog_key and home.owner = wide.owner and home.provider_id = wide.provider_id
     group by ordinal, named.key, number, named.validity
     union all
     select 3, ordinal, null, null, null, array_to_json(array_agg(catalog.key))::text
     from wanted join discovery.catalog using (owner, provider_id) group by ordinal`,
    [textArray(names.map(({ owner }) => owner)), textArray(names.map(({ providerId }) => providerId))],
    { prepared: true },
  );
  const drafts = names.map((): Draft => ({ keys: [], ids: [], validity: {}, rivals: [], homes: [] }));
  for (const row of rows) {
    const draft = drafts[row.ordinal - 1];
    if (draft) note(row, draft);
  }
  const catalogs = drafts.map(catalogsOf);
  const states = await findStates(
    reader,
    Array.from(new Set(catalogs.flat()), (key) => keyOf(key, 0)),
  );
  return drafts.map((draft, ordinal) => {
    const theirs = catalogs[ordinal] ?? [];
    return knownOf(draft, new Map(theirs.map((key) => [key, states.get(key) ?? undefined])));
  });
}

interface Draft {
  keys: number[];
  ids: number[];
  /** By their keys. */
  validity: Record<string, string>;
  rivals: NamedRival[];
  homes: number[];
}

function note(row: Row, draft: Draft): void {
  switch (row.kind) {
    case 1:
      draft.keys = JSON.parse(row.keys);
      draft.ids = JSON.parse(row.ids);
      draft.validity = JSON.parse(row.validity ?? '{}');
      break;
    case 2: {
      const validity = readPeriod(row.validity);
      draft.rivals.push({
        key: Number(row.keys),
        id: Number(row.ids),
        validity,
        homes: JSON.parse(row.homes),
      });
      break;
    }
    case 3:
      draft.homes = JSON.parse(row.homes);
  }
}

function catalogsOf({ keys, rivals, homes }: Draft): number[] {
  const origins = new Set(homes);
  for (const key of keys) origins.add(catalogKeyOf(key));
  for (const { key } of rivals) origins.add(catalogKeyOf(key));
  return [...origins];
}

function knownOf(
  { keys, ids, validity, rivals, homes }: Draft,
  states: KnownProvider['states'],
): KnownProvider {
  const periods = new Map(
    Object.entries(validity).map(([key, text]) => [Number(key), readPeriod(text)] as const),
  );
  const others = [...rivals, ...states.values()].map((each) => each?.validity ?? {});
  return {
    keys: Float64Array.from(keys),
    ids: Uint32Array.from(ids),
    validity: periods,
    rivals,
    homes,
    states,
    isTimeless: periods.size === 0 && others.every((period) => Object.keys(period).length === 0),
    listings: new Map(),
  };
}
