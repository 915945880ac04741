import type { Queryable, Transaction } from '../database.ts';
import { raw, sql } from '../sql.ts';

// The state that feeds need of catalogs from catalog services: the last push of each, and which feed listed it. precedence.ts decides whose copy
// counts.

/** Catalogs that one transaction locks: PostgreSQL has room for some thousand locks of all transactions (max_locks_per_transaction). More are changed in parts. */
export const catalogsAtOnce = 200;

export function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += catalogsAtOnce)
    yield items.slice(from, from + catalogsAtOnce);
}

/** Names a catalog: its source, its publisher, and its id there. */
export interface CatalogRef {
  source: string;
  owner: string;
  id: string;
}

export interface HeldCopy extends CatalogRef {
  key: number;
  type: 'REGULAR' | 'MASTER';
  networks: string[] | null;
  /** context.timestamp of the last push that was applied. */
  pushed_at: Date | null;
  /** When it arrived, by our clock. */
  push_arrived_at: Date | null;
  /** Whether it contained only changes. */
  push_merged: boolean;
}

/** The copies of one source with these ids. Locks all of them, stored or not, until the end of the transaction, so that pushes and pulls of a catalog do not overlap. */
export async function lockCopies(tx: Transaction, source: string, ids: readonly string[]) {
  await lockIds(tx, source, ids);
  return findCopies(tx, source, ids);
}

/** Always in the same order, and before any row, to prevent deadlocks. */
async function lockIds(tx: Transaction, source: string, ids: readonly string[]): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(hash)
    from (select distinct hashtextextended(${source} || ' ' || id, 0) as hash from unnest(${ids}::text[]) as id order by 1) as wanted`);
}

/** By their ids, which are unique at a catalog service. */
export async function findCopies(queryable: Queryable, source: string, ids: readonly string[]) {
  const rows = await queryable.rows<HeldCopy>(sql`
    select source, owner, id, key, type, networks, pushed_at, push_arrived_at, push_merged
    from discovery.catalog where source = ${source} and id = any (${ids}) and provider_id <> ''`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A push of these was just applied: no pull that was sent before may change them or count them as missing. */
export async function notePushed(tx: Transaction, copies: readonly { key: number; merged: boolean }[]) {
  if (copies.length === 0) return;
  const keys = copies.map(({ key }) => key);
  await tx.query(sql`with seen as (
      update discovery.listing set missing_pulls = 0 where catalog_key = any (${keys}) and missing_pulls > 0
    )
    update discovery.catalog set push_arrived_at = now(), push_merged = merged
    from unnest(${keys}::bigint[], ${copies.map(({ merged }) => merged)}::boolean[]) as pushed (pushed_key, merged) where key = pushed_key`);
}

export async function noteListed(
  tx: Transaction,
  feed: { id: number; run: string },
  keys: readonly number[],
): Promise<void> {
  await tx.query(sql`
    insert into discovery.listing (feed_id, catalog_key, run) select ${feed.id}, key, ${feed.run} from unnest(${keys}::bigint[]) as key
    on conflict (feed_id, catalog_key) do update set run = excluded.run, missing_pulls = 0`);
}

interface FeedOfNetwork {
  feedId: number;
  source: string;
  /** '' for every network. */
  networkId: string;
}

interface CompletedPull extends FeedOfNetwork {
  run: string;
  startedAt: Date;
}

/** After how many complete pulls without a catalog it counts as gone. */
const pullsUntilGone = 2;

export interface ExpectedCopy {
  key: number;
  id: string;
}

/** Catalogs that a feed should list; with a run, those that this pull has neither listed nor counted as missing. */
export function findExpected(
  queryable: Queryable,
  { feedId, source, networkId }: FeedOfNetwork,
  run: string | null = null,
) {
  return queryable.rows<ExpectedCopy>(sql`select key, id from discovery.catalog as held
    where source = ${source} and provider_id <> '' and (${networkId} = '' or ${networkId} = any (networks))
      and not exists (select from discovery.listing as seen where feed_id = ${feedId} and catalog_key = held.key and seen.run = ${run})
    order by key`);
}

/** Counts that a complete pull did not list these, unless a push came since it began. After two in a row a catalog leaves the network; returns those that are in none any more. */
export async function countMissing(tx: Transaction, pull: CompletedPull, copies: readonly ExpectedCopy[]) {
  const keys = await lockKeys(tx, pull, copies);
  const rows = await tx.rows<{ key: number; pulls: number }>(sql`
    insert into discovery.listing as listing (feed_id, catalog_key, run, missing_pulls)
    select ${pull.feedId}, key, ${pull.run}, 1 from discovery.catalog
    where key = any (${keys}) and (push_arrived_at is null or push_arrived_at < ${pull.startedAt})
    on conflict (feed_id, catalog_key) do update set missing_pulls = listing.missing_pulls + 1, run = excluded.run
    where listing.run is distinct from excluded.run
    returning catalog_key as key, missing_pulls as pulls`);
  const missing = rows.filter(({ pulls }) => pulls >= pullsUntilGone).map(({ key }) => key);
  return leaveNetwork(tx, pull, missing);
}

/** These leave the network of a feed that is no longer subscribed; returns those that are in no network any more. */
export async function abandonListing(tx: Transaction, feed: FeedOfNetwork, copies: readonly ExpectedCopy[]) {
  return leaveNetwork(tx, feed, await lockKeys(tx, feed, copies));
}

async function lockKeys(tx: Transaction, { source }: FeedOfNetwork, copies: readonly ExpectedCopy[]) {
  const ids = copies.map(({ id }) => id);
  await lockIds(tx, source, ids);
  return copies.map(({ key }) => key);
}

async function leaveNetwork(tx: Transaction, { feedId, networkId }: FeedOfNetwork, keys: readonly number[]) {
  if (keys.length === 0) return [];
  await tx.query(sql`delete from discovery.listing
    where feed_id = ${feedId} and catalog_key = any (${keys})`);
  const rows = await tx.rows<CatalogRef & { gone: boolean }>(sql`
    update discovery.catalog as held set networks = array_remove(networks, ${networkId}) where key = any (${keys})
    returning source, owner, id, (${networkId} = '' or networks = '{}') and not exists (
      select from discovery.listing as other where catalog_key = held.key and other.missing_pulls < ${pullsUntilGone}
    ) as gone`);
  return rows.filter(({ gone }) => gone).map(({ source, owner, id }) => ({ source, owner, id }));
}

/** Deletes catalogs of which nothing is left, except the keys of MASTER catalogs that crawled catalogs extend. */
export async function dropCatalogs(tx: Transaction, refs: readonly CatalogRef[]): Promise<void> {
  await tx.query(sql`with dropped as (
      delete from discovery.catalog where (source, owner, id) in (
        select * from unnest(${refs.map(({ source }) => source)}::text[], ${refs.map(({ owner }) => owner)}::text[], ${refs.map(({ id }) => id)}::text[])
      ) returning *
    )
    insert into discovery.crawl_lost_master (key, owner, id)
    select key, owner, id from dropped
    where type = 'MASTER' and exists (select from discovery.crawl_extension where master_key = key)`);
  await tx.query(sql`delete from discovery.crawl_lost_master
    where not exists (select from discovery.crawl_extension where master_key = key)`);
}

type ItemKind = 'resource' | 'offer';

/** Starts a new list of the resources and offers of a catalog that comes in parts. */
export async function forgetItems(tx: Transaction, feedId: number): Promise<void> {
  await tx.query(sql`delete from discovery.pulled_item where feed_id = ${feedId}`);
}

export async function noteItems(tx: Transaction, feedId: number, kind: ItemKind, ids: readonly string[]) {
  await tx.query(sql`
    insert into discovery.pulled_item (feed_id, kind, id) select ${feedId}, ${kind}, unnest(${ids}::text[]) on conflict do nothing`);
}

/** Some of the catalog's resources or offers that are not on the list. */
export function findUnnoted(
  tx: Transaction,
  feedId: number,
  kind: ItemKind,
  catalogKey: number,
  limit: number,
) {
  return tx.column<string>(sql`
    select id from discovery.${raw(kind)} as document where key > ${catalogKey}::bigint << 26 and key < (${catalogKey}::bigint + 1) << 26
      and not exists (select from discovery.pulled_item as noted where feed_id = ${feedId} and kind = ${kind} and noted.id = document.id)
    limit ${limit}`);
}
