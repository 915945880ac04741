import { attachOffers, type OfferTerms } from '../../rules/discover/attach-offers.ts';
import { maxAnswerBytes } from '../../rules/discover/page-answer.ts';
import { isServed } from '../../rules/discover/served.ts';
import { isWithin } from '../../rules/time-period.ts';
import { bigintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf, keyOf } from '../keys.ts';
import { keysOf } from '../set/sorted.ts';
import { readPeriod, validityText } from '../validity.ts';
import type { Home, ListedOffer, ListedResource } from './home.ts';
import { decodeKeys } from './members.ts';
import { findStates, type Scope } from './scope.ts';

// The offers that apply to resources of a page, in catalogs that share offers with others or have many: those of other catalogs of the same owner are attached, by name or to all of a provider. Statements find which
// offers may apply, and rules/discover/attach-offers.ts decides.

/** Pairs of resource and naming offer: resources are read until there are so many; the first one always is. */
const maxPairs = 50_000;
/** Characters of offers in the order of the page: those beyond them would not fit into an answer behind the others. */
const maxNamedCharacters = 2 * maxAnswerBytes;
/** Characters that one row of wide offers has, about. */
const pieceCharacters = 32_768;

/** Fills in the offers of these resources and of their catalogs. Returns the resources that have to be asked for again, as those before them have many offers. */
export async function addSharedOffers(
  reader: IndexReader,
  homes: ReadonlyMap<number, Home>,
  keys: readonly number[],
  scope: Scope,
): Promise<Set<number>> {
  const { pairs, unread } = await readPairs(reader, homes, keys);
  const wide = await readWide(reader, homes, keys);
  const attached = await attach(reader, { homes, pairs, wide }, scope);
  const named = new Map<ListedResource, number[]>();
  for (const [key, offers] of pairs) {
    const [home, resource] = [catalogKeyOf(key), homes.get(catalogKeyOf(key))?.resources.get(key)];
    if (resource)
      named.set(
        resource,
        offers.filter((offer) => attached.get(home)?.has(offer)),
      );
  }
  await listNamed(reader, named);
  let room = maxAnswerBytes;
  for (const key of new Set(keys.map(catalogKeyOf))) {
    const home = homes.get(key);
    const theirs = keysOf((wide.get(key) ?? []).filter((offer) => attached.get(key)?.has(offer)));
    if (home) room = await listWide(reader, home, theirs, room);
  }
  return unread;
}

/** The offers that name resources, by the resources' keys. */
async function readPairs(
  reader: IndexReader,
  homes: ReadonlyMap<number, Home>,
  keys: readonly number[],
): Promise<{ pairs: Map<number, number[]>; unread: Set<number> }> {
  const wanted = keys.flatMap((key) => {
    const home = homes.get(catalogKeyOf(key));
    const id = home?.resources.get(key)?.id;
    return home && id !== undefined ? [{ key, owner: home.owner, id }] : [];
  });
  const { rows } = await reader.query<{ ordinal: number; offers: Buffer | null }>(
    `select ordinal::integer, (
       select string_agg(int8send(offer_key), '' order by offer_key) from (
         select offer_key from discovery.offer_target
         where offer_target.owner = wanted.owner and offer_target.resource_id = wanted.id limit ${maxPairs}) as target
     ) as offers
     from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, id, ordinal) order by ordinal`,
    [textArray(wanted.map(({ owner }) => owner)), textArray(wanted.map(({ id }) => id))],
    { prepared: true },
  );
  const pairs = new Map<number, number[]>();
  const unread = new Set<number>();
  let count = 0;
  for (const [index, { key }] of wanted.entries()) {
    const offers = [...decodeKeys(rows[index]?.offers)];
    const isTooMany = count > 0 && count + offers.length > maxPairs;
    if (unread.size > 0 || isTooMany) unread.add(key);
    else pairs.set(key, offers);
    count += offers.length;
  }
  return { pairs, unread };
}

/** The offers on all resources of the providers of catalogs, by the catalogs' keys. */
async function readWide(
  reader: IndexReader,
  homes: ReadonlyMap<number, Home>,
  keys: readonly number[],
): Promise<Map<number, readonly number[]>> {
  const providers = new Map<string, { owner: string; providerId: string; homes: number[] }>();
  for (const key of new Set(keys.map(catalogKeyOf))) {
    const { owner, providerId } = homes.get(key) ?? { owner: '', providerId: '' };
    const name = JSON.stringify([owner, providerId]);
    const provider = providers.get(name) ?? { owner, providerId, homes: [] };
    provider.homes.push(key);
    providers.set(name, provider);
  }
  const all = [...providers.values()];
  const { rows } = await reader.query<{ offers: Buffer | null }>(
    `select (
       select string_agg(int8send(key), '' order by key) from discovery.offer
       where offer.owner = wanted.owner and offer.provider_id = wanted.provider_id and resource_ids is null
     ) as offers
     from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, provider_id, ordinal) order by ordinal`,
    [textArray(all.map(({ owner }) => owner)), textArray(all.map(({ providerId }) => providerId))],
    { prepared: true },
  );
  return new Map(
    all.flatMap(({ homes: theirs }, index) => {
      const offers = [...decodeKeys(rows[index]?.offers)];
      return theirs.map((home) => [home, offers] as const);
    }),
  );
}

interface Candidates {
  homes: ReadonlyMap<number, Home>;
  pairs: ReadonlyMap<number, readonly number[]>;
  wide: ReadonlyMap<number, readonly number[]>;
}

/** Which of the offers apply in each catalog. */
async function attach(
  reader: IndexReader,
  { homes, pairs, wide }: Candidates,
  scope: Scope,
): Promise<Map<number, Set<number>>> {
  const offers = new Map<number, Set<number>>(Array.from(wide, ([home, theirs]) => [home, new Set(theirs)]));
  const covered = new Map<number, Map<number, string>>();
  for (const [key, naming] of pairs) {
    const home = catalogKeyOf(key);
    const id = homes.get(home)?.resources.get(key)?.id ?? '';
    for (const offer of naming) {
      offers.get(home)?.add(offer);
      covered.set(home, (covered.get(home) ?? new Map<number, string>()).set(offer, id));
    }
  }
  const isOwn = (home: number) => [...(offers.get(home) ?? [])].every((key) => catalogKeyOf(key) === home);
  const own = new Set([...offers.keys()].filter(isOwn));
  const invalid = await findInvalid(
    reader,
    [...own].flatMap((home) => [...(offers.get(home) ?? [])]),
    scope.now,
  );
  const shared = [...offers].filter(([home]) => !own.has(home));
  const terms = await readTerms(reader, new Set(shared.flatMap(([, theirs]) => [...theirs])));
  const rivals = await readRivals(reader, homes, offers);
  for (const { home, covers, ...rival } of rivals) {
    terms.set(rival.key, rival);
    offers.get(home)?.add(rival.key);
    if (covers !== null)
      covered.set(home, (covered.get(home) ?? new Map<number, string>()).set(rival.key, covers));
  }
  const origins = keysOf([...terms.keys(), ...Array.from(homes.keys(), (key) => keyOf(key, 0))]);
  const states = await findStates(reader, origins);
  return new Map(
    Array.from(offers, ([home, theirs]) => {
      if (own.has(home)) return [home, new Set([...theirs].filter((key) => !invalid.has(key)))] as const;
      const { owner = '', providerId = '' } = homes.get(home) ?? {};
      const catalogOf = (key: number) => {
        const networkIds = states.get(key)?.networkIds ?? [];
        return { owner, id: `${key}`, providerId, networkIds };
      };
      const published = keysOf(theirs).reduce<(OfferTerms & { key: number })[]>((all, key) => {
        const [stored, state] = [terms.get(key), states.get(catalogKeyOf(key))];
        if (!stored || !state || !isServed(state, scope.networkId, scope.now)) return all;
        const id = covered.get(home)?.get(key);
        all.push({
          ...{ key, id: stored.id, providerId: stored.providerId, validity: readPeriod(stored.validity) },
          ...{
            resourceIds: stored.isWide ? null : id === undefined ? [] : [id],
            catalog: catalogOf(catalogKeyOf(key)),
          },
        });
        return all;
      }, []);
      const resourceIds = [...new Set(['', ...(covered.get(home)?.values() ?? [])])];
      const attached = attachOffers({ ...catalogOf(home), resourceIds }, published, scope.now);
      return [home, new Set(attached.map(({ offer }) => offer.key))] as const;
    }),
  );
}

/** Of the own offers of catalogs that list no others: those that are not valid now. Whatever else they say, their catalog lists them. */
async function findInvalid(queryable: Queryable, keys: readonly number[], now: Date): Promise<Set<number>> {
  const { rows } = await queryable.query<{ key: number; validity: string }>(
    `select key, ${validityText()} as validity from discovery.offer
     where key = any ($1::bigint[]) and num_nonnulls(valid_from, valid_until, window_start) > 0`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return new Set(rows.flatMap(({ key, validity }) => (isWithin(readPeriod(validity), now) ? [] : key)));
}

interface StoredTerms {
  key: number;
  id: string;
  providerId: string;
  validity: string | null;
  isWide: boolean;
}

const termsColumns = `offer.key, offer.id, offer.provider_id as "providerId", ${validityText('offer.')} as validity, resource_ids is null as "isWide"`;

async function readTerms(queryable: Queryable, keys: ReadonlySet<number>): Promise<Map<number, StoredTerms>> {
  const { rows } = await queryable.query<StoredTerms>(
    `select ${termsColumns} from unnest($1::bigint[]) as wanted (key) join discovery.offer using (key)`,
    [bigintArray([...keys])],
    { prepared: true },
  );
  return new Map(rows.map((row) => [row.key, row]));
}

/**
 * Offers of the owner with the ids of offers of other catalogs, which cover something in the same catalog: of several with one id a catalog lists its own, or else the first, whichever of its
 * resources they are on.
 */
async function readRivals(
  queryable: Queryable,
  homes: ReadonlyMap<number, Home>,
  offers: ReadonlyMap<number, ReadonlySet<number>>,
): Promise<(StoredTerms & { home: number; covers: string | null })[]> {
  const foreign = Array.from(offers).flatMap(([home, theirs]) =>
    [...theirs].filter((key) => catalogKeyOf(key) !== home).map((key) => ({ home, key })),
  );
  if (foreign.length === 0) return [];
  const { rows } = await queryable.query<StoredTerms & { home: number; covers: string | null }>(
    `select distinct on (home, offer.key) wanted.home, met.id as covers, ${termsColumns}
     from (
       select distinct home, wanted.owner, wanted.provider_id, offer.id from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) as wanted (home, key, owner, provider_id)
       join discovery.offer using (key)
     ) as wanted (home, owner, provider_id, id)
     join discovery.offer on offer.owner = wanted.owner and offer.id = wanted.id
     left join lateral (
       select resource.id from discovery.resource where resource.id = any (offer.resource_ids) and resource.catalog_key = wanted.home limit 1
     ) as met on true
     where met.id is not null or (resource_ids is null and offer.provider_id = wanted.provider_id)`,
    [
      bigintArray(foreign.map(({ home }) => home)),
      bigintArray(foreign.map(({ key }) => key)),
      textArray(foreign.map(({ home }) => homes.get(home)?.owner ?? '')),
      textArray(foreign.map(({ home }) => homes.get(home)?.providerId ?? '')),
    ],
  );
  return rows;
}

/** Reads the documents of offers that name resources, in the order of the page, as far as an answer has room for them. */
async function listNamed(
  queryable: Queryable,
  named: ReadonlyMap<ListedResource, readonly number[]>,
): Promise<void> {
  const inOrder = [...new Set([...named.values()].flat())];
  const { rows } = await queryable.query<{ key: number; text: string }>(
    `select key, text from (
       select key, text, sum(length(text)) over (order by ordinal) as total from (
         select offer.key, ordinal, document::text as text from unnest($1::bigint[]) with ordinality as wanted (key, ordinal) join discovery.offer using (key)
       ) as offer
     ) as measured where total <= ${maxNamedCharacters}`,
    [bigintArray(inOrder)],
    { prepared: true },
  );
  const listed = new Map(
    rows.map(({ key, text }): [number, ListedOffer] => [key, { key, document: { text }, validity: {} }]),
  );
  for (const [resource, offers] of named) {
    resource.offers = offers.flatMap((key) => listed.get(key) ?? []);
    resource.more = offers.length - resource.offers.length;
  }
}

/** Reads the documents of offers on all resources of a catalog, several in one piece, as many as there is room for. Returns how much room is left. */
async function listWide(queryable: Queryable, home: Home, keys: Float64Array, room: number): Promise<number> {
  const { rows } = await queryable.query<{ first: number; text: string; count: number }>(
    `select min(key) as first, string_agg(document, ',' order by key) as text, count(*) as count from (
       select key, document, sum(length(document) + 1) over (order by key) as total
       from (select key, document::text as document from discovery.offer where key = any ($1::bigint[])) as offer
     ) as measured
     where total <= $2 group by total / ${pieceCharacters} order by first`,
    [bigintArray(keys), Math.max(room, 0)],
    { prepared: true },
  );
  home.offers = rows.map(({ first, text, count }) => ({
    key: first,
    document: { text, count },
    validity: {},
  }));
  home.more = rows.reduce((left, { count }) => left - count, keys.length);
  return rows.reduce((left, { text }) => left - text.length, room);
}
