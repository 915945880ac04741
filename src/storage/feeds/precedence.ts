import type { Transaction } from '../database.ts';
import { type CatalogRef, catalogsAtOnce } from './copies.ts';

// Which copy of a catalog counts, when catalog services and its own node have brought several.

type Ref = Pick<CatalogRef, 'owner' | 'id'>;

/**
 * Settles whose copies of these catalogs are served. While a signed entry of its owner is known, of which something was applied or which is
 * retired, its state alone counts. Otherwise, between catalog services, that of the one that is configured first. Call it after one of them
 * came, went, or changed its state. Of more than a transaction can lock, that is noted, and done within seconds (`settleNoted`).
 */
export async function settlePrecedence(tx: Transaction, refs: readonly Ref[]): Promise<void> {
  if (refs.length === 0) return;
  if (refs.length > catalogsAtOnce) return noteUnsettled(tx, refs);
  await lockPrecedence(tx, refs);
  await tx.query(
    `with rank as (
       select 'service:' || service as source, min(position) as position from discovery.feed where configured group by service
     ), standing as (
       select key, source = 'node' as is_crawled,
         row_number() over (partition by owner, catalog.id, source = 'node' order by position nulls last, key) as place, coalesce(shown, false) as shown,
         coalesce(named and (version is not null or retired_at is not null), false) as is_known
       from discovery.catalog as catalog left join rank using (source)
         left join discovery.crawl_target as target on target.node = catalog.owner and target.catalog_id = catalog.id
       where provider_id <> '' and (owner, catalog.id) in (select * from unnest($1::text[], $2::text[]))
     ), counting as (
       select key, case when is_crawled then shown else place = 1 and not is_known end as counts from standing
     )
     update discovery.catalog as catalog set served = counts
     from counting where catalog.key = counting.key and served <> counts`,
    [refs.map(({ owner }) => owner), refs.map(({ id }) => id)],
  );
}

/** Who changes copies of a catalog settles which one counts before others do; best taken before any row is locked. */
export async function lockPrecedence(tx: Transaction, refs: readonly Ref[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hash) from (
       select distinct hashtextextended('precedence ' || owner || ' ' || id, 0) as hash
       from unnest($1::text[], $2::text[]) as wanted (owner, id) order by 1
     ) as wanted`,
    [refs.map(({ owner }) => owner), refs.map(({ id }) => id)],
  );
}

/** The same for all of which there is more than one copy, when the order of the services may have changed. */
export async function settleAllPrecedence(tx: Transaction): Promise<void> {
  const { rows } = await tx.query<Ref>(
    `select owner, id from discovery.catalog where source like 'service:%' and provider_id <> ''
     group by owner, id having count(*) > 1`,
  );
  await settlePrecedence(tx, rows);
}

async function noteUnsettled(tx: Transaction, refs: readonly Ref[]): Promise<void> {
  await tx.query('insert into discovery.unsettled (owner, id) select * from unnest($1::text[], $2::text[])', [
    refs.map(({ owner }) => owner),
    refs.map(({ id }) => id),
  ]);
}

/** Settles some of those that were noted; returns whether there may be more. */
export async function settleNoted(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query<Ref>(
    `delete from discovery.unsettled where number = any (
       array(select number from discovery.unsettled order by number limit $1 for update skip locked)
     ) returning owner, id`,
    [catalogsAtOnce],
  );
  await settlePrecedence(tx, rows);
  return rows.length === catalogsAtOnce;
}
