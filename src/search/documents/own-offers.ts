import { findCovers, type OfferingCatalog } from '../../rules/discover/attach-offers.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import type { IndexReader } from '../cache/caches.ts';
import { headOf, kindOf } from '../keys.ts';
import type { DocSet } from '../set/doc-set.ts';
import { inBatches, intersection, type Keys, noKeys, union } from '../set/sorted.ts';
import { readPeriod, validityText } from '../validity.ts';
import { decodeKeys, headsOf, listMembers, listOf, resourcesOfCatalog } from './members.ts';

// A catalog is searched with its own offers that are valid now. rules/discover/attach-offers.ts decides which of its resources they cover.

/** Number of offers that one statement reads. */
const offersAtOnce = 2_000;

/** Selects the offers that are valid now, with the resources that each covers in its own catalog: their keys, or only the head for all. */
export async function readCovering(queryable: Queryable, offers: Keys, now: Date) {
  const found: { key: number; covers: Keys }[] = [];
  for (const some of inBatches(offers, offersAtOnce)) {
    const rows = await queryable.rows<OfferRow>(
      `select offer.key, offer.id, offer.provider_id as "providerId", ${validityText('offer.')} as validity, resource_ids is null as "isWide",
         catalog.owner, catalog.id as "catalogId", catalog.provider_id as "catalogProvider", named.keys
       from unnest($1::bigint[]) as wanted (key) join discovery.offer using (key) join discovery.catalog on catalog.key = offer.catalog_key
       left join lateral (
         select string_agg(int8send(resource.key), '' order by resource.key) as keys
         from discovery.resource where resource.id = any (offer.resource_ids) and resource.catalog_key = offer.catalog_key
       ) as named on offer.resource_ids is not null
       order by offer.key`,
      [bigintArray(some)],
      { prepared: true },
    );
    for (const row of rows) {
      const covers = findCovered(row, now);
      if (covers.length > 0) found.push({ key: row.key, covers });
    }
  }
  return found;
}

interface OfferRow {
  key: number;
  id: string;
  providerId: string;
  validity: string | null;
  isWide: boolean;
  owner: string;
  catalogId: string;
  catalogProvider: string;
  /** Named resources of the catalog, in order. */
  keys: Buffer | null;
}

function findCovered(
  { key, keys, isWide, validity, owner, catalogId, catalogProvider, ...offer }: OfferRow,
  now: Date,
): Keys {
  const catalog: OfferingCatalog = { owner, id: catalogId, providerId: catalogProvider, networkIds: [] };
  const terms = { ...offer, resourceIds: isWide ? null : [], validity: readPeriod(validity), catalog };
  const covers = findCovers(terms, catalog, now);
  if (covers === undefined) return noKeys;
  // The statement has found the named resources that are in the catalog.
  return covers === 'all' ? Float64Array.of(headOf(key)) : decodeKeys(keys);
}

/** The resources that documents stand for: a resource for itself, a head for all of its catalog, an offer for the resources that it covers now. */
export async function resourcesOf(reader: IndexReader, keys: Keys, now: Date): Promise<Keys> {
  const offers = keys.filter((key) => kindOf(key) === 'offer');
  const covering = offers.length > 0 ? await readCovering(reader, offers, now) : [];
  const all = union([keys.filter((key) => kindOf(key) !== 'offer'), ...covering.map(({ covers }) => covers)]);
  const heads = all.filter((key) => kindOf(key) === 'catalog');
  return union([all.filter((key) => kindOf(key) === 'resource'), await listMembers(reader, heads)]);
}

/** The resources that offers of a set cover. `test` may drop offers first. */
export function coveredBy(
  reader: IndexReader,
  offers: DocSet,
  { now, test = async (keys) => keys }: { now: Date; test?: (offers: Keys) => Promise<Keys> },
): DocSet {
  const cover = async (keys: Keys) => resourcesOf(reader, await test(keys), now);
  return {
    estimate: offers.estimate * resourcesOfCatalog,
    next: byCatalog((limit) => offers.next(limit), cover),
    async among(keys) {
      const own = await listOf(reader, 'offer', headsOf(keys));
      return intersection(keys, await cover(await offers.among(own)));
    },
  };
}

/** Maps documents to resources, in key order. Documents of a catalog are mapped together, because each may stand for any of its resources. */
export function byCatalog(next: DocSet['next'], standFor: (keys: Keys) => Promise<Keys>): DocSet['next'] {
  let pending: Keys | undefined = noKeys;
  return async (limit) => {
    while (pending) {
      const more = await next(limit);
      const all = union([pending, more ?? noKeys]);
      // More documents of the last catalog may follow.
      const last = more ? headOf(all.at(-1) ?? 0) : Number.POSITIVE_INFINITY;
      const ready = all.filter((key) => key < last);
      pending = more && all.subarray(ready.length);
      const found = ready.length > 0 ? await standFor(ready) : noKeys;
      if (found.length > 0) return found;
    }
    return undefined;
  };
}
