import type { Offer } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { findCovers, type OfferingCatalog, type OfferTerms } from '../../rules/discover/attach-offers.ts';
import type { CatalogState } from '../../rules/discover/served.ts';
import { nextChangeOf, type PeriodBounds } from '../../rules/time-period.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { type RangedDocument, readRanged } from '../documents/read-ranged.ts';
import { catalogKeyOf, type KeyRange, kindOf } from '../keys.ts';
import { readPeriod, validityText } from '../validity.ts';

// Everything that a resource is found by, read from the documents of record: the resource, the head of its catalog, and the offers of this catalog
// that cover it now. The feed makes the document of the index from it, and a search compares its hits with it. The digests are those of the texts.

export interface Subject {
  key: number;
  digest: number;
  resource: Json;
  home: Home;
  /** The offers that cover it now. */
  offers: readonly ReadOffer[];
  /** When its offers, or whether its catalog is searched, may change by time alone; infinite: never. */
  until: number;
}

export interface Home extends OfferingCatalog {
  key: number;
  digest: number;
  head: object;
  state: CatalogState;
}

interface ReadOffer {
  key: number;
  digest: number;
  offer: Offer;
}

interface ReadOptions {
  now: Date;
  /** False if no condition needs offers. */
  withOffers?: boolean;
  /** False if digests are enough: then all documents are null. */
  withDocuments?: boolean;
}

/** The existing resources, in the order of the keys. */
export async function readSubjects(
  queryable: Queryable,
  keys: readonly number[],
  { now, withOffers = true, withDocuments = true }: ReadOptions,
): Promise<Subject[]> {
  const rows = await queryable.rows<Row>(
    `with page as materialized (
       select resource.key, resource.id, catalog_key, digest, case when $3 then document::text end as document
       from unnest($1::bigint[]) as wanted (key) join discovery.resource using (key)
     ), home as materialized (
       select catalog.* from (select distinct catalog_key as key from page) as distinct_home join discovery.catalog using (key)
     )
     select 1 as kind, key, null::bigint as resource_key, id, head_digest as digest, case when $3 then head::text end as document, owner, provider_id, null::text[] as resource_ids, ${validityText()} as validity,
       json_build_array(type, is_active and served, networks, schema_types)::text as state from home
     union all
     select 2, key, key, id, digest, document, null, null, null, null, null from page
     union all
     select 3, offer.key, page.key, offer.id, offer.digest, case when $3 and row_number() over (partition by offer.key) = 1 then offer.document::text end, null, offer.provider_id, '{}', ${validityText('offer.')}, null
     from page join home on home.key = page.catalog_key join discovery.offer_target as target on target.owner = home.owner and target.resource_id = page.id
       join discovery.offer on offer.key = target.offer_key and offer.key >> 26 = home.key
     where $2
     union all
     select 4, offer.key, null, offer.id, offer.digest, case when $3 then offer.document::text end, null, offer.provider_id, null, ${validityText('offer.')}, null
     from home cross join lateral (
       select * from discovery.offer where offer.key > home.key << 26 and offer.key < (home.key + 1) << 26
         and offer.owner = home.owner and offer.provider_id = home.provider_id and resource_ids is null offset 0
     ) as offer
     where $2
     order by kind, key`,
    [bigintArray(keys), withOffers, withDocuments],
    { prepared: true },
  );
  return assemble(rows, keys, now);
}

/** A document of record. */
export interface Stored extends RangedDocument {
  /** Undefined for catalogs and offers. */
  subject?: Subject;
}

/** The first documents of some key ranges, in order. */
export async function readStored(
  queryable: Queryable,
  ranges: readonly KeyRange[],
  limit: number,
  { now, withDocuments }: { now: Date; withDocuments: boolean },
): Promise<Stored[]> {
  if (ranges.length === 0) return [];
  const rows = await readRanged(queryable, ranges, limit, { withDocuments });
  const resources = rows.map(({ key }) => key).filter((key) => kindOf(key) === 'resource');
  const found = await readSubjects(queryable, resources, { now, withDocuments });
  const subjects = new Map(found.map((each) => [each.key, each]));
  return rows.map((row) => ({ ...row, subject: subjects.get(row.key) }));
}

interface Row {
  /** Catalogs, resources, offers on a resource (the first of an offer with its document, all without its resource ids), offers on all of a catalog. */
  kind: 1 | 2 | 3 | 4;
  key: number;
  resource_key: number | null;
  id: string;
  digest: number;
  document: string | null;
  owner: string | null;
  provider_id: string | null;
  resource_ids: string[] | null;
  validity: string | null;
  state: string | null;
}

function assemble(rows: readonly Row[], keys: readonly number[], now: Date): Subject[] {
  const homes = new Map<number, { home: Home; wide: Row[] }>();
  const named = new Map<number, Row[]>();
  const found = new Map<number, Row>();
  for (const row of rows)
    if (row.kind === 1) homes.set(row.key, { home: parseHome(row), wide: [] });
    else if (row.kind === 2) found.set(row.key, row);
    else if (row.kind === 4) homes.get(catalogKeyOf(row.key))?.wide.push(row);
    else named.set(row.resource_key ?? 0, [...(named.get(row.resource_key ?? 0) ?? []), row]);
  const offered = new Map<number, ReadOffer>();
  for (const { kind, key, digest, document } of rows)
    if (kind >= 3 && (document !== null || !offered.has(key)))
      offered.set(key, { key, digest, offer: JSON.parse(document ?? 'null') });
  return keys.flatMap((key) => {
    const row = found.get(key);
    const { home, wide = [] } = homes.get(catalogKeyOf(key)) ?? {};
    if (!row || !home) return [];
    const offers = [...(named.get(key) ?? []), ...wide].map((each) => ({
      row: each,
      terms: termsOf(each, home),
    }));
    const periods: PeriodBounds[] = [home.state.validity ?? {}, ...offers.map(({ terms }) => terms.validity)];
    return [
      {
        ...{ key, digest: row.digest, home, resource: JSON.parse(row.document ?? 'null') },
        offers: offers
          .filter(({ terms }) => findCovers(terms, home, now))
          .flatMap(({ row }) => offered.get(row.key) ?? []),
        until: Math.min(...periods.map((period) => nextChangeOf(period, now))),
      },
    ];
  });
}

function parseHome({ key, id, digest, owner, provider_id, document, state, validity }: Row): Home {
  const [type, isActive, networkIds, schemaTypes] = JSON.parse(state ?? '[]');
  const bounds = readPeriod(validity);
  return {
    ...{ key, id, digest, owner: owner ?? '', providerId: provider_id ?? '', networkIds },
    head: JSON.parse(document ?? 'null'),
    state: { type, isActive, networkIds, schemaTypes: new Set<string>(schemaTypes), validity: bounds },
  };
}

function termsOf({ id, provider_id, resource_ids, validity }: Row, catalog: Home): OfferTerms {
  const providerId = provider_id ?? '';
  return { id, providerId, resourceIds: resource_ids, validity: readPeriod(validity), catalog };
}
