import type { Transaction } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { type CatalogRef, catalogsAtOnce } from './copies.ts';

// Which copy of a catalog counts, if catalog services and its own node have brought several.

type Ref = Pick<CatalogRef, 'owner' | 'id'>;

/**
 * Decides whose copies of these catalogs are served. If there is a signed entry of the owner that is retired or of which something was applied, only
 * its state counts. Otherwise, the catalog service that is configured first wins. Call it after a copy came, went, or changed its state. If there are
 * more than a transaction can lock, they are noted and processed within seconds (`settleNoted`).
 */
export async function settlePrecedence(tx: Transaction, refs: readonly Ref[]): Promise<void> {
  if (refs.length === 0) return;
  if (refs.length > catalogsAtOnce) return noteUnsettled(tx, refs);
  await lockPrecedence(tx, refs);
  await tx.query(sql`with rank as (
      select 'service:' || service as source, min(position) as position from discovery.feed where configured group by service
    ), standing as (
      select key, source = 'node' as is_crawled,
        row_number() over (partition by owner, catalog.id, source = 'node' order by position nulls last, key) as place,
        coalesce(shown, false) as shown, coalesce(named and (version is not null or retired_at is not null), false) as is_known
      from discovery.catalog as catalog left join rank using (source)
        left join discovery.crawl_target as target on target.node = catalog.owner and target.catalog_id = catalog.id
      where provider_id <> '' and (owner, catalog.id) in (select * from ${rowsOf(refs)})
    ), counting as (
      select key, case when is_crawled then shown else place = 1 and not is_known end as counts from standing
    )
    update discovery.catalog as catalog set served = counts
    from counting where catalog.key = counting.key and served <> counts`);
}

/** A writer of copies of a catalog decides which one counts before others do; best locked before any row. */
export async function lockPrecedence(tx: Transaction, refs: readonly Ref[]): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(hash) from (
      select distinct hashtextextended('precedence ' || owner || ' ' || id, 0) as hash
      from ${rowsOf(refs)} order by 1
    ) as wanted`);
}

/** The same for all catalogs with more than one copy, if the order of the services may have changed. */
export async function settleAllPrecedence(tx: Transaction): Promise<void> {
  const repeated = await tx.rows<Ref>(sql`select owner, id from discovery.catalog
    where source like 'service:%' and provider_id <> '' group by owner, id having count(*) > 1`);
  await settlePrecedence(tx, repeated);
}

async function noteUnsettled(tx: Transaction, refs: readonly Ref[]): Promise<void> {
  await tx.query(sql`insert into discovery.unsettled (owner, id) select * from ${rowsOf(refs)}`);
}

function rowsOf(refs: readonly Ref[]): Sql {
  const ids = refs.map(({ id }) => id);
  return sql`unnest(${refs.map(({ owner }) => owner)}::text[], ${ids}::text[]) as ref (owner, id)`;
}

/** Settles some of the noted ones; returns whether there may be more. */
export async function settleNoted(tx: Transaction): Promise<boolean> {
  const noted = await tx.rows<Ref>(sql`delete from discovery.unsettled where number = any (
      array(select number from discovery.unsettled order by number limit ${catalogsAtOnce} for update skip locked)
    ) returning owner, id`);
  await settlePrecedence(tx, noted);
  return noted.length === catalogsAtOnce;
}
