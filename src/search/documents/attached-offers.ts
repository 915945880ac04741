import { addTo } from '../../group.ts';
import { attachOffers } from '../../rules/discover/attach-offers.ts';
import { maxAnswerBytes, type StoredDocument } from '../../rules/discover/page-answer.ts';
import { isServed } from '../../rules/discover/served.ts';
import { isWithin, type PeriodBounds } from '../../rules/time-period.ts';
import { arraysOf, bigintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf, keyOf } from '../keys.ts';
import { keysOf } from '../set/sorted.ts';
import { readPeriod, validityText } from '../validity.ts';
import { decodeKeys } from './members.ts';
import { findStates, type Scope } from './scope.ts';

// The offers that apply to resources of a page, for catalogs with shared or many offers. Decided by rules/discover/attach-offers.ts.

/** A catalog in an answer, with the offers on all its resources. */
export interface Home extends OfferList {
  head: StoredDocument;
  id: string;
  owner: string;
  providerId: string;
  resources: Map<number, ListedResource>;
  /** Its offers depend on other catalogs, or there are many. */
  isShared: boolean;
}

interface ListedResource extends OfferList {
  id: string;
  document: StoredDocument;
}

interface OfferList {
  offers: ListedOffer[];
  /** Number of further offers, which do not fit into an answer. */
  more: number;
}

export interface ListedOffer {
  key: number;
  document: StoredDocument;
  validity: PeriodBounds;
}

/** Maximum of pairs of resource and naming offer. Reading stops there, but the first resource is always read. */
const maxPairs = 50_000;
/** Characters of offers in the order of the page. Later ones would not fit into an answer. */
const maxNamedCharacters = 2 * maxAnswerBytes;
/** Approximate number of characters in one row of wide offers. */
const pieceCharacters = 32_768;

/** Adds the offers of these resources and their catalogs. Returns the resources to read again, because those before them have many offers. */
export async function addSharedOffers(
  reader: IndexReader,
  homes: ReadonlyMap<number, Home>,
  keys: readonly number[],
  scope: Scope,
): Promise<Set<number>> {
  const { pairs, unread } = await readPairs(reader, homes, keys);
  const wide = await readWide(reader, homes);
  const candidates = new Map(Array.from(wide, ([home, offers]) => [home, new Set(offers)]));
  for (const { home, offers } of pairs) for (const offer of offers) candidates.get(home)?.add(offer);
  const attached = await attach(reader, homes, candidates, scope);
  const select = (home: number, offers: readonly number[] = []) =>
    offers.filter((offer) => attached.get(home)?.has(offer));
  const named = new Map(pairs.map(({ home, resource, offers }) => [resource, select(home, offers)]));
  await listNamed(reader, named);
  let room = maxAnswerBytes;
  for (const key of new Set(keys.map(catalogKeyOf))) {
    const home = homes.get(key);
    if (home) room = await listWide(reader, home, keysOf(select(key, wide.get(key))), room);
  }
  return unread;
}

/** Resources, with the offers that name them. */
async function readPairs(reader: IndexReader, homes: ReadonlyMap<number, Home>, keys: readonly number[]) {
  const wanted = keys.flatMap((key) => {
    const home = homes.get(catalogKeyOf(key));
    const resource = home?.resources.get(key);
    return home && resource ? [{ key, resource, owner: home.owner, id: resource.id }] : [];
  });
  const found = await reader.column<Buffer | null>(
    `select (
       select string_agg(int8send(offer_key), '' order by offer_key) from (
         select offer_key from discovery.offer_target
         where offer_target.owner = wanted.owner and offer_target.resource_id = wanted.id limit ${maxPairs}) as target
     )
     from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, id, ordinal) order by ordinal`,
    arraysOf(wanted, { owner: textArray, id: textArray }),
    { prepared: true },
  );
  const pairs: { home: number; resource: ListedResource; offers: number[] }[] = [];
  const unread = new Set<number>();
  let count = 0;
  for (const [index, { key, resource }] of wanted.entries()) {
    const offers = [...decodeKeys(found[index])];
    const isTooMany = count > 0 && count + offers.length > maxPairs;
    if (unread.size > 0 || isTooMany) unread.add(key);
    else pairs.push({ home: catalogKeyOf(key), resource, offers });
    count += offers.length;
  }
  return { pairs, unread };
}

/** The offers on all resources of providers, by the catalogs' keys. */
async function readWide(reader: IndexReader, homes: ReadonlyMap<number, Home>) {
  const nameOf = ({ owner, providerId }: Home) => JSON.stringify([owner, providerId]);
  const providers = new Map(Array.from(homes.values(), (home) => [nameOf(home), home]));
  const all = [...providers.values()];
  const found = await reader.column<Buffer | null>(
    `select (
       select string_agg(int8send(key), '' order by key) from discovery.offer
       where offer.owner = wanted.owner and offer.provider_id = wanted.provider_id and resource_ids is null
     )
     from unnest($1::text[], $2::text[]) with ordinality as wanted (owner, provider_id, ordinal) order by ordinal`,
    arraysOf(all, { owner: textArray, providerId: textArray }),
    { prepared: true },
  );
  const offers = new Map(all.map((home, index) => [nameOf(home), [...decodeKeys(found[index])]]));
  return new Map(Array.from(homes, ([key, home]) => [key, offers.get(nameOf(home)) ?? []]));
}

/** Selects the offers that apply in each catalog: its own valid ones, and those of other catalogs unless another offer with the same id precedes. */
async function attach(
  reader: IndexReader,
  homes: ReadonlyMap<number, Home>,
  candidates: ReadonlyMap<number, ReadonlySet<number>>,
  { now, networkId }: Scope,
): Promise<Map<number, ReadonlySet<number>>> {
  const pairs = [...candidates].flatMap(([home, offers]) =>
    Array.from(offers, (key) => ({ home, key, ...ownerOf(homes.get(home)) })),
  );
  const own = pairs.filter(({ home, key }) => catalogKeyOf(key) === home);
  const others = pairs.filter(({ home, key }) => catalogKeyOf(key) !== home);
  const ownKeys = own.map(({ key }) => key);
  const invalid = await findInvalid(reader, ownKeys, now);
  const attached = new Map(Array.from(candidates.keys(), (home) => [home, new Set<number>()]));
  for (const { home, key } of own) if (!invalid.has(key)) attached.get(home)?.add(key);
  const byHome = new Map<number, Terms[]>();
  for (const each of others.length > 0 ? await readTerms(reader, others) : []) addTo(byHome, each.home, each);
  const inAll = [...byHome].flatMap(([home, theirs]) => [keyOf(home, 0), ...theirs.map(({ key }) => key)]);
  const states = await findStates(reader, keysOf(inAll));
  for (const [home, theirs] of byHome) {
    const catalogOf = (key: number) => {
      return { ...ownerOf(homes.get(home)), id: `${key}`, networkIds: states.get(key)?.networkIds ?? [] };
    };
    const published = theirs.flatMap(({ key, id, providerId, validity, isWide, covers }) => {
      const state = states.get(catalogKeyOf(key));
      if (!state || !isServed(state, networkId, now)) return [];
      const catalog = catalogOf(catalogKeyOf(key));
      const resourceIds = isWide ? null : [covers ?? ''];
      return [{ key, id, providerId, validity: readPeriod(validity), resourceIds, catalog }];
    });
    const resourceIds = ['', ...new Set(theirs.flatMap(({ covers }) => covers ?? []))];
    const listed = attachOffers({ ...catalogOf(home), resourceIds }, published, now);
    for (const { offer } of listed) attached.get(home)?.add(offer.key);
  }
  return attached;
}

function ownerOf({ owner, providerId }: Pick<Home, 'owner' | 'providerId'> = { owner: '', providerId: '' }) {
  return { owner, providerId };
}

async function findInvalid(queryable: Queryable, keys: readonly number[], now: Date): Promise<Set<number>> {
  const rows = await queryable.rows<{ key: number; validity: string }>(
    `select key, ${validityText()} as validity from discovery.offer
     where key = any ($1::bigint[]) and num_nonnulls(valid_from, valid_until, window_start) > 0`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return new Set(rows.flatMap(({ key, validity }) => (isWithin(readPeriod(validity), now) ? [] : key)));
}

/** An offer that may apply in a catalog. */
interface Terms {
  home: number;
  key: number;
  id: string;
  providerId: string;
  validity: string | null;
  isWide: boolean;
  /** A named resource of the catalog. */
  covers: string | null;
}

/** The stored terms of offers, and of their rivals: offers of the owner with the same id that cover something in the same catalog. */
function readTerms(
  queryable: Queryable,
  offers: readonly { home: number; key: number; owner: string; providerId: string }[],
): Promise<Terms[]> {
  return queryable.rows(
    `select distinct on (home, offer.key) wanted.home, offer.key, offer.id, offer.provider_id as "providerId", ${validityText('offer.')} as validity,
       resource_ids is null as "isWide", met.id as covers
     from (
       select distinct home, wanted.owner, wanted.provider_id, offer.id from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) as wanted (home, key, owner, provider_id)
       join discovery.offer using (key)
     ) as wanted (home, owner, provider_id, id)
     join discovery.offer on offer.owner = wanted.owner and offer.id = wanted.id
     left join lateral (
       select resource.id from discovery.resource where resource.id = any (offer.resource_ids) and resource.catalog_key = wanted.home limit 1
     ) as met on true
     where met.id is not null or (resource_ids is null and offer.provider_id = wanted.provider_id)
     order by home, offer.key`,
    arraysOf(offers, { home: bigintArray, key: bigintArray, owner: textArray, providerId: textArray }),
  );
}

/** Reads the documents of offers that name resources, in the order of the page, while they fit into the answer. */
async function listNamed(queryable: Queryable, named: ReadonlyMap<ListedResource, readonly number[]>) {
  const inOrder = [...new Set([...named.values()].flat())];
  const rows = await queryable.rows<{ key: number; text: string }>(
    `select key, text from (
       select key, text, sum(length(text)) over (order by ordinal) as total from (
         select offer.key, ordinal, document::text as text from unnest($1::bigint[]) with ordinality as wanted (key, ordinal) join discovery.offer using (key)
       ) as offer
     ) as measured where total <= ${maxNamedCharacters}`,
    [bigintArray(inOrder)],
    { prepared: true },
  );
  const listed = new Map(rows.map(({ key, text }) => [key, { key, document: { text }, validity: {} }]));
  for (const [resource, offers] of named) {
    resource.offers = offers.flatMap((key) => listed.get(key) ?? []);
    resource.more = offers.length - resource.offers.length;
  }
}

/** Reads the documents of offers on all resources of a catalog, several at once, while there is room. Returns the remaining room. */
async function listWide(queryable: Queryable, home: Home, keys: Float64Array, room: number): Promise<number> {
  const rows = await queryable.rows<{ key: number; text: string; count: number }>(
    `select min(key) as key, string_agg(document, ',' order by key) as text, count(*) as count from (
       select key, document, sum(length(document) + 1) over (order by key) as total
       from (select key, document::text as document from discovery.offer where key = any ($1::bigint[])) as offer
     ) as measured
     where total <= $2 group by total / ${pieceCharacters} order by 1`,
    [bigintArray(keys), Math.max(room, 0)],
    { prepared: true },
  );
  home.offers = rows.map(({ key, text, count }) => ({ key, document: { text, count }, validity: {} }));
  home.more = rows.reduce((left, { count }) => left - count, keys.length);
  return rows.reduce((left, { text }) => left - text.length, room);
}
