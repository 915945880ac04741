import type { FeedState } from '../../rules/troubles.ts';
import type { Queryable, Transaction } from '../database.ts';
import { newRow, sql } from '../sql.ts';
import { type Claim, LeaseLost } from '../work/due-work.ts';

// Feeds: the subscriptions that the discovery service keeps at catalog services, one per service and network, and how far the pull of each
// has come. A feed is a row of due work.

export const feedTable = 'discovery.feed';

export interface ConfiguredFeed {
  catalogUrl: string;
  /** '' for every network. */
  networkId: string;
  schemaTypes: readonly string[];
  /** Identity of the service, where the operator names it. */
  service?: string;
  position: number;
}

export interface Feed {
  id: number;
  catalog_url: string;
  network_id: string;
  schema_types: string[];
  configured: boolean;
  service: string | null;
  subscription_id: string | null;
  cancelled_ids: string[];
  check_at: Date | null;
  pull_at: Date | null;
  run: string | null;
  run_started_at: Date | null;
  run_skipped: boolean;
  page_offset: number;
  message_id: string | null;
  sent_at: Date | null;
  failures: number;
  out_of_step_since: Date | null;
}

/** Makes the feeds those of the settings, all due and to be checked: new ones are made, changed ones subscribe again, and those that are not named any more are cancelled. */
export async function configureFeeds(tx: Transaction, feeds: readonly ConfiguredFeed[]): Promise<void> {
  await tx.query('lock table discovery.feed in share row exclusive mode');
  await tx.query('update discovery.feed set configured = false, due_at = least(due_at, now())');
  for (const feed of feeds) {
    await tx.query(sql`insert into discovery.feed as feed ${newRow({ ...feed, dueAt: sql`now()` })}
      on conflict (catalog_url, network_id) do update set
        configured = true, position = excluded.position, schema_types = excluded.schema_types, due_at = excluded.due_at, check_at = null,
        service = coalesce(excluded.service, feed.service),
        cancelled_ids = case when ${hasChanged} and feed.subscription_id is not null
          then feed.cancelled_ids || feed.subscription_id else feed.cancelled_ids end,
        subscription_id = case when ${hasChanged} then null else feed.subscription_id end,
        run = case when ${hasChanged} then null else feed.run end,
        message_id = case when ${hasChanged} then null else feed.message_id end,
        out_of_step_since = case when ${hasChanged} then coalesce(feed.out_of_step_since, now()) else feed.out_of_step_since end`);
  }
  tx.hint(feedTable);
}

const hasChanged = sql`(feed.schema_types <> excluded.schema_types or feed.service <> excluded.service)`;

export interface SubscribedFeed
  extends Pick<Feed, 'id' | 'catalog_url' | 'network_id' | 'schema_types' | 'service'> {
  subscribed: boolean;
}

export function listFeeds(queryable: Queryable) {
  return queryable.rows<SubscribedFeed>(sql`
    select id, catalog_url, network_id, schema_types, service, subscription_id is not null as subscribed
    from discovery.feed where configured order by position, id`);
}

export function listFeedStates(queryable: Queryable) {
  return queryable.rows<FeedState>(sql`
    select catalog_url as "catalogUrl", network_id as "networkId", service, subscription_id as "subscriptionId", failures, last_error as "lastError",
      last_status as "lastStatus", out_of_step_since as "outOfStepSince"
    from discovery.feed where configured order by position, id`);
}

/** The service of these feeds has shown who it is. */
export async function learnService(tx: Transaction, feedIds: readonly number[], service: string) {
  await tx.query(sql`update discovery.feed set service = ${service}
    where id = any (${feedIds}) and service is null`);
  tx.hint(feedTable);
}

/** Writes the state of a claimed feed and keeps it; throws LeaseLost when somebody else has it. */
export async function updateFeed(tx: Transaction, claim: Claim<Feed>, messageId: string): Promise<void> {
  const updated = await tx.count(sql`update discovery.feed
    set message_id = ${messageId}, sent_at = now() where id = ${claim.id} and lease_token = ${claim.token}`);
  if (updated === 0) throw new LeaseLost(feedTable, claim.id);
}

/** When the next pull is due, as of now: others may have asked for one since the feed was claimed. */
export function readPullAt(tx: Transaction, feedId: number) {
  return tx.value<Date | null>(sql`select pull_at from discovery.feed where id = ${feedId} for update`);
}

/**
 * Asks for a pull of everything from a service (or, without one, from all), now, but not sooner after the last one was begun than the
 * spacing. A clock that was set back must not make that longer. Whatever the reason is, the subscription is looked at first. A pull that is under way does not count: what it has read already may be older than the reason.
 */
export async function requestPull(
  tx: Transaction,
  { service, spacingMs }: { service?: string; spacingMs: number },
): Promise<number> {
  const asked = await tx.count(sql`with wanted as (
      select id, greatest(now(), least(run_started_at, now()) + ${spacingMs} * interval '1 millisecond') as at
      from discovery.feed
      where configured and subscription_id is not null and (${service}::text is null or service = ${service})
    )
    update discovery.feed as feed
    set pull_at = least(feed.pull_at, wanted.at), check_at = null, due_at = least(feed.due_at, wanted.at)
    from wanted where feed.id = wanted.id and (feed.pull_at is null or feed.pull_at > wanted.at)`);
  if (asked > 0) tx.hint(feedTable);
  return asked;
}

export function listAwaitedServices(queryable: Queryable) {
  return queryable.rows<{ catalog_url: string; service: string | null }>(sql`
    select distinct catalog_url, service from discovery.feed where message_id is not null and configured`);
}

/** Something lets the service's subscriptions be doubted: they are looked at now, but not sooner after the last look than the spacing. */
export async function doubtSubscriptions(
  tx: Transaction,
  service: string,
  { everyMs, spacingMs }: { everyMs: number; spacingMs: number },
): Promise<void> {
  const doubted = await tx.count(sql`
    update discovery.feed set check_at = null, due_at = least(due_at, now())
    where configured and service = ${service} and check_at <= now() + (${everyMs}::float8 - ${spacingMs}) * interval '1 millisecond'`);
  if (doubted > 0) tx.hint(feedTable);
}

export function findWaitingFeed(queryable: Queryable, messageId: string) {
  return queryable.first<{ id: number; catalog_url: string; service: string | null }>(sql`
    select id, catalog_url, service from discovery.feed where message_id = ${messageId} and configured`);
}

/** Keeps an answer for the feed that waits for it, and wakes the feed. The first answer to a request stays. */
export async function keepAnswer(
  tx: Transaction,
  feedId: number,
  { messageId, body }: { messageId: string; body: Buffer },
): Promise<void> {
  await tx.query(sql`
    insert into discovery.pull_answer as kept (feed_id, message_id, body) values (${feedId}, ${messageId}, ${body})
    on conflict (feed_id) do update set message_id = excluded.message_id, body = excluded.body
    where kept.message_id <> excluded.message_id`);
  await tx.query(sql`update discovery.feed set due_at = least(due_at, now()) where id = ${feedId}`);
  tx.hint(feedTable);
}

export function findAnswer(queryable: Queryable, feedId: number, messageId: string) {
  return queryable.value<Buffer | undefined>(sql`select body from discovery.pull_answer
    where feed_id = ${feedId} and message_id = ${messageId}`);
}

export async function dropAnswer(tx: Transaction, feedId: number): Promise<void> {
  await tx.query(sql`delete from discovery.pull_answer where feed_id = ${feedId}`);
}

export async function dropFeed(tx: Transaction, feedId: number): Promise<void> {
  await tx.query(sql`delete from discovery.feed where id = ${feedId}`);
}

/** Notes that the service is up; returns for how many milliseconds nobody had noted that, or undefined when nobody ever had. */
export async function notePresence(tx: Transaction): Promise<number | undefined> {
  const ms = await tx.value<number | undefined>(sql`select (extract(epoch
    from now() - seen_at) * 1000)::float8 as ms from discovery.presence for update`);
  await tx.query(sql`insert into discovery.presence (seen_at) values (now()) on conflict (only_row) do update
    set seen_at = excluded.seen_at`);
  return ms && Math.max(0, ms);
}

/** All that catalog services have is pulled, and every subscription looked at, as soon as a discovery service runs; returns how many feeds there are. */
export async function pullEverything(queryable: Queryable): Promise<number> {
  await queryable.query('delete from discovery.pull_answer');
  await queryable.query('delete from discovery.pulled_item');
  return queryable.count(sql`
    update discovery.feed set pull_at = now(), check_at = null, due_at = now(), run = null, message_id = null, sent_at = null, page_offset = 0,
      run_skipped = false, lease_token = null, leased_until = null, out_of_step_since = coalesce(out_of_step_since, now())`);
}
