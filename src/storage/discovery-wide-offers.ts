import { bigintArray, textArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import type { Gate } from './discovery-gate.ts';
import { catalogKeyOf, keyOf } from './discovery-keys.ts';
import { findStates } from './discovery-searched.ts';
import { providerMemory, readToKeep } from './index-memory.ts';
import { type KnownProvider, listingsOf, nameOf, type ProviderName } from './provider-memory.ts';
import { readPeriod, validityText } from './validity-text.ts';
import type { Listing, NamedRival } from './wide-offers.ts';

// The wide offers of providers, read once for each provider and remembered until something of it is written (provider-memory.ts).

/** What catalogs list of their providers' wide offers, by the catalogs' keys. Those that list none are left out. */
export async function findListings(
  queryable: Queryable,
  homes: Iterable<number>,
  gate: Gate,
): Promise<Map<number, Listing>> {
  const providers = await readProvidersOf(queryable, [...homes]);
  const listings = await readListings(
    queryable,
    [...new Map(providers.map((one) => [nameOf(one), one])).values()],
    gate,
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
  queryable: Queryable,
  names: readonly ProviderName[],
  gate: Gate,
): Promise<Map<string, Listing[]>> {
  await catchUpWithCatalogs(queryable);
  const memory = providerMemory(queryable);
  const known = new Map<string, KnownProvider>();
  const unknown: ProviderName[] = [];
  for (const name of names) {
    const provider = memory.find(name);
    if (provider) known.set(nameOf(name), provider);
    else unknown.push(name);
  }
  if (unknown.length > 0) {
    const { found, mayKeep } = await readToKeep(queryable, () => readProviders(queryable, unknown));
    for (const [place, provider] of found.entries()) {
      const name = unknown[place] as ProviderName;
      known.set(nameOf(name), provider);
      if (mayKeep) memory.keep(name, provider);
    }
  }
  return new Map(Array.from(known, ([name, provider]) => [name, listingsOf(provider, gate)]));
}

/** A catalog that was written may belong to a provider now that does not know it. */
async function catchUpWithCatalogs(queryable: Queryable): Promise<void> {
  const memory = providerMemory(queryable);
  const keys = [...memory.unread];
  if (keys.length === 0) return;
  const { found, mayKeep } = await readToKeep(queryable, () => readProvidersOf(queryable, keys));
  for (const provider of found) memory.forget(provider);
  if (mayKeep) for (const key of keys) memory.unread.delete(key);
}

async function readProvidersOf(
  queryable: Queryable,
  homes: readonly number[],
): Promise<(ProviderName & { home: number })[]> {
  if (homes.length === 0) return [];
  const { rows } = await queryable.query<ProviderName & { home: number }>(
    `select key as home, owner, provider_id as "providerId" from discovery.catalog where key = any ($1::bigint[])`,
    [bigintArray(homes)],
    { prepared: true },
  );
  return rows;
}

type Row =
  /** A wide offer. */
  | { kind: 1; place: number; key: number; id: string; validity: string | null }
  /** An offer with the same id that names a resource of a catalog of the provider. */
  | { kind: 2; place: number; key: number; id: string; validity: string | null; home: number }
  | { kind: 3; place: number; home: number };

/** In the order of the names. */
async function readProviders(queryable: Queryable, names: readonly ProviderName[]): Promise<KnownProvider[]> {
  const { rows } = await queryable.query<Row>(
    `with wanted as materialized (
       select * from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, provider_id, place)
     ), wide as materialized (
       select place, offer.key, offer.id, offer.owner, offer.provider_id, ${validityText} as validity
       from wanted cross join lateral (
         select * from discovery.offer
         where offer.owner = wanted.owner and offer.provider_id = wanted.provider_id and resource_ids is null offset 0) as offer
     )
     select 1 as kind, place, key, id, validity, null::bigint as home from wide
     union all
     select distinct 2, place, named.key, named.id, named.validity, home.key
     from wide cross join lateral (
       select key, id, resource_ids, ${validityText} as validity from discovery.offer
       where offer.owner = wide.owner and offer.id = wide.id and resource_ids is not null offset 0) as named
     cross join lateral unnest(named.resource_ids) as target (id)
     join discovery.resource on resource.id = target.id
     join discovery.catalog as home
       on home.key = resource.catalog_key and home.owner = wide.owner and home.provider_id = wide.provider_id
     union all
     select 3, place, null, null, null, catalog.key
     from wanted join discovery.catalog using (owner, provider_id)
     order by kind, key`,
    [textArray(names.map(({ owner }) => owner)), textArray(names.map(({ providerId }) => providerId))],
    { prepared: true },
  );
  const drafts = names.map(() => new Draft());
  for (const row of rows) drafts[row.place - 1]?.add(row);
  const catalogs = new Set(drafts.flatMap((draft) => draft.catalogs()));
  const states = await findStates(
    queryable,
    Array.from(catalogs, (key) => keyOf(key, 0)),
  );
  return drafts.map((draft) => draft.finish(states));
}

class Draft {
  private readonly keys: number[] = [];
  private readonly ids: number[] = [];
  private readonly validity: [number, ReturnType<typeof readPeriod>][] = [];
  private readonly numbers = new Map<string, number>();
  private readonly rivals = new Map<number, NamedRival & { homes: number[] }>();
  private readonly homes: number[] = [];

  add(row: Row): void {
    if (row.kind === 1) {
      const number = this.numbers.get(row.id) ?? this.numbers.size;
      this.numbers.set(row.id, number);
      if (row.validity !== null) this.validity.push([this.keys.length, readPeriod(row.validity)]);
      this.keys.push(row.key);
      this.ids.push(number);
    } else if (row.kind === 2) {
      const { key, home } = row;
      const known = this.rivals.get(key);
      const id = this.numbers.get(row.id) ?? 0;
      if (known) known.homes.push(home);
      else this.rivals.set(key, { key, id, validity: readPeriod(row.validity), homes: [home] });
    } else this.homes.push(row.home);
  }

  catalogs(): number[] {
    return [...new Set([...this.keys, ...this.rivals.keys()].map(catalogKeyOf)), ...this.homes];
  }

  finish(known: Awaited<ReturnType<typeof findStates>>): KnownProvider {
    const states = new Map(this.catalogs().map((key) => [key, known.get(key)]));
    const rivals = [...this.rivals.values()];
    const periods = [
      ...rivals.map(({ validity }) => validity),
      ...Array.from(states.values(), (state) => state?.validity ?? {}),
    ];
    return {
      keys: Float64Array.from(this.keys),
      ids: Uint32Array.from(this.ids),
      validity: new Map(this.validity),
      rivals,
      homes: this.homes,
      states,
      isTimeless: this.validity.length === 0 && periods.every((period) => Object.keys(period).length === 0),
      listings: new Map(),
    };
  }
}
