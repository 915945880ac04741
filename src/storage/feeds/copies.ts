import type { Queryable, Transaction } from '../database.ts';

// What staying in step with catalog services needs to know of the catalogs that they brought: when a push of each last came, and which feed
// listed it. Whose copy counts is in precedence.ts.

/** Catalogs that one transaction locks: PostgreSQL has room for some thousand locks of all transactions (max_locks_per_transaction). More are changed in parts. */
export const catalogsAtOnce = 200;

export function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += catalogsAtOnce)
    yield items.slice(from, from + catalogsAtOnce);
}

/** Names a catalog: who brought it, who published it, and its id there. */
export interface CatalogRef {
  source: string;
  owner: string;
  id: string;
}

/** The copy of a catalog that one source has brought. */
export interface HeldCopy extends CatalogRef {
  key: number;
  type: 'REGULAR' | 'MASTER';
  networks: string[] | null;
  /** context.timestamp of the last push that was applied. */
  pushed_at: Date | null;
  /** When it came, by our clock. */
  push_arrived_at: Date | null;
  /** Whether it brought only what had changed. */
  push_merged: boolean;
}

/** The copies of one source under these ids. All of them, held or not, are locked until the end of the transaction, so that pushes and pulls of a catalog come one after the other. */
export async function lockCopies(
  tx: Transaction,
  source: string,
  ids: readonly string[],
): Promise<Map<string, HeldCopy>> {
  await lockIds(tx, source, ids);
  return findCopies(tx, source, ids);
}

/** In one order for everybody, and before any row: so that nobody waits in a circle. */
async function lockIds(tx: Transaction, source: string, ids: readonly string[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hash)
     from (select distinct hashtextextended($1 || ' ' || id, 0) as hash from unnest($2::text[]) as id order by 1) as wanted`,
    [source, ids],
  );
}

/** By their ids, which are unique at a catalog service. */
export async function findCopies(queryable: Queryable, source: string, ids: readonly string[]) {
  const { rows } = await queryable.query<HeldCopy>(
    `select source, owner, id, key, type, networks, pushed_at, push_arrived_at, push_merged
     from discovery.catalog where source = $1 and id = any ($2) and provider_id <> ''`,
    [source, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** A push of these was applied just now: no pull that was sent before may change them, and none has missed them. */
export async function notePushed(
  tx: Transaction,
  copies: readonly { key: number; merged: boolean }[],
): Promise<void> {
  if (copies.length === 0) return;
  await tx.query(
    `with seen as (
       update discovery.listing set missing_pulls = 0 where catalog_key = any ($1) and missing_pulls > 0
     )
     update discovery.catalog set push_arrived_at = now(), push_merged = merged
     from unnest($1::bigint[], $2::boolean[]) as pushed (pushed_key, merged) where key = pushed_key`,
    [copies.map(({ key }) => key), copies.map(({ merged }) => merged)],
  );
}

/** A pull of the feed listed these. */
export async function noteListed(
  tx: Transaction,
  feed: { id: number; run: string },
  keys: readonly number[],
): Promise<void> {
  await tx.query(
    `insert into discovery.listing (feed_id, catalog_key, run) select $1, key, $2 from unnest($3::bigint[]) as key
     on conflict (feed_id, catalog_key) do update set run = excluded.run, missing_pulls = 0`,
    [feed.id, feed.run, keys],
  );
}

export interface FeedOfNetwork {
  feedId: number;
  source: string;
  /** '' for every network. */
  networkId: string;
}

export interface CompletedPull extends FeedOfNetwork {
  run: string;
  startedAt: Date;
}

/** How many complete pulls in a row a catalog must be missing from to count as gone. */
const pullsUntilGone = 2;

/** A catalog that a feed should list. */
export interface ExpectedCopy {
  key: number;
  id: string;
}

/** What a feed should list; with a run, what that pull has neither listed nor counted as missing. */
export function findExpected(
  queryable: Queryable,
  { feedId, source, networkId }: FeedOfNetwork,
  run: string | null = null,
) {
  return queryable.rows<ExpectedCopy>(
    `select key, id from discovery.catalog as held
     where source = $1 and provider_id <> '' and ($2 = '' or $2 = any (networks))
       and not exists (select from discovery.listing as seen where feed_id = $3 and catalog_key = held.key and seen.run = $4)
     order by key`,
    [source, networkId, feedId, run],
  );
}

/** Counts that a complete pull did not list these, unless a push came since it began. A catalog that is missing twice in a row leaves the network; those that are in none any more are returned. */
export async function countMissing(tx: Transaction, pull: CompletedPull, copies: readonly ExpectedCopy[]) {
  const keys = await lockKeys(tx, pull, copies);
  const { rows } = await tx.query<{ key: number; pulls: number }>(
    `insert into discovery.listing as listing (feed_id, catalog_key, run, missing_pulls)
     select $1, key, $4, 1 from discovery.catalog where key = any ($2) and (push_arrived_at is null or push_arrived_at < $3)
     on conflict (feed_id, catalog_key) do update set missing_pulls = listing.missing_pulls + 1, run = excluded.run
     where listing.run is distinct from excluded.run
     returning catalog_key as key, missing_pulls as pulls`,
    [pull.feedId, keys, pull.startedAt, pull.run],
  );
  const missing = rows.filter(({ pulls }) => pulls >= pullsUntilGone).map(({ key }) => key);
  return leaveNetwork(tx, pull, missing);
}

/** These leave the network of a feed that is not subscribed to any more; returns those that are in none any more. */
export async function abandonListing(
  tx: Transaction,
  feed: FeedOfNetwork,
  copies: readonly ExpectedCopy[],
): Promise<CatalogRef[]> {
  return leaveNetwork(tx, feed, await lockKeys(tx, feed, copies));
}

async function lockKeys(
  tx: Transaction,
  { source }: FeedOfNetwork,
  copies: readonly ExpectedCopy[],
): Promise<number[]> {
  const ids = copies.map(({ id }) => id);
  await lockIds(tx, source, ids);
  return copies.map(({ key }) => key);
}

async function leaveNetwork(tx: Transaction, { feedId, networkId }: FeedOfNetwork, keys: readonly number[]) {
  if (keys.length === 0) return [];
  await tx.query('delete from discovery.listing where feed_id = $1 and catalog_key = any ($2)', [
    feedId,
    keys,
  ]);
  const { rows } = await tx.query<CatalogRef & { gone: boolean }>(
    `update discovery.catalog as held set networks = array_remove(networks, $2) where key = any ($1)
     returning source, owner, id, ($2 = '' or networks = '{}') and not exists (
       select from discovery.listing as other where catalog_key = held.key and other.missing_pulls < ${pullsUntilGone}
     ) as gone`,
    [keys, networkId],
  );
  return rows.filter(({ gone }) => gone).map(({ source, owner, id }) => ({ source, owner, id }));
}

/** Forgets catalogs of which nothing is left, but for the keys of MASTER catalogs that crawled catalogs extend. */
export async function dropCatalogs(tx: Transaction, refs: readonly CatalogRef[]): Promise<void> {
  await tx.query(
    `with dropped as (
       delete from discovery.catalog where (source, owner, id) in (select * from unnest($1::text[], $2::text[], $3::text[])) returning *
     )
     insert into discovery.crawl_lost_master (key, owner, id)
     select key, owner, id from dropped
     where type = 'MASTER' and exists (select from discovery.crawl_extension where master_key = key)`,
    [refs.map(({ source }) => source), refs.map(({ owner }) => owner), refs.map(({ id }) => id)],
  );
  await tx.query(
    'delete from discovery.crawl_lost_master where not exists (select from discovery.crawl_extension where master_key = key)',
  );
}

export type ItemKind = 'resource' | 'offer';

/** Begins to note which resources and offers a catalog has that comes in parts. */
export async function forgetItems(tx: Transaction, feedId: number): Promise<void> {
  await tx.query('delete from discovery.pulled_item where feed_id = $1', [feedId]);
}

export async function noteItems(
  tx: Transaction,
  feedId: number,
  kind: ItemKind,
  ids: readonly string[],
): Promise<void> {
  await tx.query(
    'insert into discovery.pulled_item (feed_id, kind, id) select $1, $2, unnest($3::text[]) on conflict do nothing',
    [feedId, kind, ids],
  );
}

/** Some of the resources or offers of a catalog that are not among the noted ones. */
export function findUnnoted(
  tx: Transaction,
  feedId: number,
  kind: ItemKind,
  catalogKey: number,
  limit: number,
) {
  return tx.column<string>(
    `select id from discovery.${kind} as document where key > $1::bigint << 26 and key < ($1::bigint + 1) << 26
       and not exists (select from discovery.pulled_item as noted where feed_id = $2 and kind = $3 and noted.id = document.id)
     limit $4`,
    [catalogKey, feedId, kind, limit],
  );
}
