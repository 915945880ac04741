import { randomUUID } from 'node:crypto';
import { nextAttempt } from '../delivery/retry-policy.ts';
import { actions } from '../protocol/actions.ts';
import { bodyDigest } from '../protocol/digest.ts';
import type { Transaction } from '../storage/database.ts';
import {
  dropAnswer,
  dropFeed,
  type Feed,
  feedsChannel,
  feedTable,
  findAnswer,
  readPullAt,
  updateFeed,
} from '../storage/discovery-feeds.ts';
import { abandonListing, completeListing } from '../storage/discovery-sync.ts';
import { type Claim, settle, startWorkLoop, type WorkLoop } from '../storage/due-work.ts';
import { rememberSent } from '../storage/sent-requests.ts';
import { sourceOf } from './apply-copies.ts';
import { askService, StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';
import { applyAnswer } from './pull-answer.ts';
import { removeCatalogs } from './remove-catalogs.ts';
import { subscribe, unsubscribe } from './subscribe.ts';

// Keeps each feed subscribed and in step, one durable step at a time:
//
//   subscribe → begin (every 24 h, and when something was missed) → send page → (on_pull comes, on-pull.ts) → apply page → … → complete
//
// A step that fails is logged and tried again with patience, for ever: the feed is what the operator asked for.

const feedsAtOnce = 4;
const catalogsPerPage = 100;
/** Everything is pulled again this often: drift is found and mended. */
const pullEveryMs = 24 * 3_600_000;
/** And this soon when something could not be compared. */
const pullSkippedMs = 10 * 60_000;
/** How long an on_pull is waited for before the pull is issued again. A service may have to write gigabytes first. */
const answerMs = 10 * 60_000;
/** How long it is accepted. */
const answerExpiryMs = 24 * 3_600_000;
/** A service that is gone cannot be told: a feed that nobody wants any more is dropped after so many attempts. */
const maxCancelAttempts = 8;

export function startPullClient(context: DiscoveryContext): WorkLoop {
  const { database, logger } = context;
  return startWorkLoop<Feed>({
    database,
    table: feedTable,
    channel: feedsChannel,
    concurrency: feedsAtOnce,
    logger,
    handle: (claim, signal) => takeStep(context, claim, signal),
  });
}

async function takeStep(context: DiscoveryContext, claim: Claim<Feed>, signal: AbortSignal): Promise<void> {
  const { database, now } = context;
  const feed = claim.row;
  const answer = feed.message_id === null ? undefined : await findAnswer(database, feed.id, feed.message_id);
  const step = nextStep(feed, answer !== undefined, now());
  try {
    switch (step) {
      case 'cancel':
        return await cancel(context, claim, signal);
      case 'subscribe':
        return await subscribeFeed(context, claim, signal);
      case 'tidy':
        return await tidy(context, claim, signal);
      case 'begin':
        return await begin(context, claim);
      case 'send':
        return await sendPage(context, claim, signal);
      case 'apply':
        return await applyPage(context, claim, answer ?? Buffer.alloc(0), signal);
      case 'give up waiting':
        throw new StepFailed('no on_pull came in time; the pull is issued again');
      default:
        return await database.transaction((tx) => settle(tx, feedTable, claim, { dueAt: step }));
    }
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    await recordFailure(context, claim, step, error);
  }
}

/** What a feed needs next, or until when it has nothing to do. */
export type Step =
  | 'cancel'
  | 'subscribe'
  | 'tidy'
  | 'begin'
  | 'send'
  | 'apply'
  | 'give up waiting'
  | Date
  | null;

export function nextStep(feed: Feed, hasAnswer: boolean, now: Date): Step {
  if (!feed.configured) return 'cancel';
  if (feed.subscription_id === null) return 'subscribe';
  if (feed.cancelled_ids.length > 0) return 'tidy';
  if (feed.run === null) {
    if (feed.pull_at === null) return null;
    return feed.pull_at <= now ? 'begin' : feed.pull_at;
  }
  if (feed.message_id === null) return 'send';
  if (hasAnswer) return 'apply';
  const waitUntil = new Date((feed.sent_at ?? now).getTime() + answerMs);
  return waitUntil <= now ? 'give up waiting' : waitUntil;
}

async function subscribeFeed(
  context: DiscoveryContext,
  claim: Claim<Feed>,
  signal: AbortSignal,
): Promise<void> {
  const { database, logger, now } = context;
  const { catalog_url: catalogUrl, network_id: networkId } = claim.row;
  const { subscriptionId, service } = await subscribe(context, claim.row, signal);
  logger.info({ catalogUrl, networkId, subscriptionId, service }, 'subscribed');
  // What was pushed before the subscription is not pushed again: that is what the pull is for.
  const set = { subscription_id: subscriptionId, service, pull_at: now(), ...noRun };
  await database.transaction((tx) => {
    tx.hint(feedsChannel);
    return settle(tx, feedTable, claim, { dueAt: now(), set });
  });
}

/** Only a page that was applied ends a row of failures. */
const noFailure = { failures: 0, last_error: null };
const noRun = { run: null, message_id: null, sent_at: null, page_offset: 0 };

/** Deactivates subscriptions that were replaced. */
async function tidy(context: DiscoveryContext, claim: Claim<Feed>, signal: AbortSignal): Promise<void> {
  const { catalog_url: catalogUrl, cancelled_ids: ids, subscription_id: current } = claim.row;
  for (const id of ids) if (id !== current) await unsubscribe(context, catalogUrl, id, signal);
  const { database, now } = context;
  await database.transaction((tx) =>
    settle(tx, feedTable, claim, { dueAt: now(), set: { cancelled_ids: [] } }),
  );
}

/** Deactivates the subscription, and takes out what came by it alone. */
async function cancel(context: DiscoveryContext, claim: Claim<Feed>, signal: AbortSignal): Promise<void> {
  const { database, logger, now } = context;
  const { id: feedId, catalog_url: catalogUrl, network_id: networkId, service, failures } = claim.row;
  const ids = [...claim.row.cancelled_ids, claim.row.subscription_id].filter((id) => id !== null);
  try {
    for (const id of ids) await unsubscribe(context, catalogUrl, id, signal);
  } catch (error) {
    if (!(error instanceof StepFailed) || failures + 1 < maxCancelAttempts) throw error;
    logger.warn({ catalogUrl, reason: error.message }, 'cannot deactivate a subscription; it is forgotten');
  }
  await database.transaction(async (tx) => {
    if (service !== null) {
      const gone = await abandonListing(tx, { feedId, source: sourceOf(service), networkId });
      await removeCatalogs(tx, gone, now());
    }
    await settle(tx, feedTable, claim, { dueAt: null });
    await dropFeed(tx, feedId);
  });
  logger.info({ catalogUrl, networkId }, 'unsubscribed');
}

/** From here on every request for a pull means another one after this. */
async function begin({ database, now }: DiscoveryContext, claim: Claim<Feed>): Promise<void> {
  const startedAt = now();
  const set = {
    ...noRun,
    run: randomUUID(),
    run_started_at: startedAt,
    run_skipped: false,
    pull_at: new Date(startedAt.getTime() + pullEveryMs),
  };
  await database.transaction((tx) => settle(tx, feedTable, claim, { dueAt: startedAt, set }));
}

async function sendPage(context: DiscoveryContext, claim: Claim<Feed>, signal: AbortSignal): Promise<void> {
  const { database, now } = context;
  const { catalog_url: catalogUrl, subscription_id: subscriptionId, page_offset: offset } = claim.row;
  const sentAt = now();
  await askService(context, {
    action: actions.pull,
    catalogUrl,
    message: { subscriptionId, mode: 'FULL', limit: catalogsPerPage, offset },
    signal,
    // The callback may be here before the acknowledgement, and find another process.
    beforeSending: ({ messageId, body, signature }) =>
      database.transaction(async (tx) => {
        const expires = new Date(sentAt.getTime() + answerExpiryMs);
        const sent = { role: 'discovery', messageId, action: actions.pull.name, sentAt, expires };
        await rememberSent(tx, { ...sent, digest: bodyDigest(body) }, signature);
        await updateFeed(tx, claim, { messageId, sentAt });
      }),
  });
  const dueAt = new Date(sentAt.getTime() + answerMs);
  await database.transaction((tx) => settle(tx, feedTable, claim, { dueAt }));
}

async function applyPage(
  context: DiscoveryContext,
  claim: Claim<Feed>,
  answer: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const { database, logger, now } = context;
  const feed = claim.row;
  const { next, outcome } = await applyAnswer(context, feed, answer, signal);
  const { catalog_url: catalogUrl, network_id: networkId } = feed;
  logger.info({ catalogUrl, networkId, offset: feed.page_offset, ...outcome }, 'pulled');
  const skipped = feed.run_skipped || outcome.skipped > 0;
  await database.transaction(async (tx) => {
    await dropAnswer(tx, feed.id);
    if (next === undefined) return complete(tx, context, claim, skipped);
    const page = { page_offset: next, run_skipped: skipped, message_id: null, sent_at: null };
    return settle(tx, feedTable, claim, { dueAt: now(), set: { ...page, ...noFailure } });
  });
}

async function complete(
  tx: Transaction,
  { logger, now }: DiscoveryContext,
  claim: Claim<Feed>,
  skipped: boolean,
): Promise<void> {
  const { id: feedId, catalog_url: catalogUrl, network_id: networkId, service, run } = claim.row;
  const at = now();
  if (service !== null && run !== null) {
    const startedAt = claim.row.run_started_at ?? at;
    const gone = await completeListing(tx, { feedId, source: sourceOf(service), networkId, run, startedAt });
    if (gone.length > 0) {
      logger.info({ catalogUrl, networkId, catalogIds: gone.map(({ id }) => id) }, 'catalogs are gone');
      await removeCatalogs(tx, gone, at);
    }
  }
  const asked = (await readPullAt(tx, feedId)) ?? new Date(at.getTime() + pullEveryMs);
  const soon = new Date(at.getTime() + pullSkippedMs);
  const pullAt = skipped && soon < asked ? soon : asked;
  const set = { ...noRun, ...noFailure, completed_at: at, pull_at: pullAt };
  await settle(tx, feedTable, claim, { dueAt: pullAt, set });
}

/** The page, or whatever the step was, is tried again; a subscription that the service does not know (any more) is made anew. */
async function recordFailure(
  { database, config, logger, now }: DiscoveryContext,
  claim: Claim<Feed>,
  step: Step,
  { message: error, status, retryAfterMs }: StepFailed,
): Promise<void> {
  const { id, catalog_url: catalogUrl, network_id: networkId, failures } = claim.row;
  const attempts = failures + 1;
  const dueAt =
    nextAttempt(
      { baseMs: config.RETRY_BASE_MS },
      { attempts, now: now(), giveUpAt: never, retryAfterMs, random: Math.random() },
    ) ?? now();
  logger.warn({ catalogUrl, networkId, error, attempts, dueAt }, 'not in step with a catalog service');
  const isLost = step === 'send' && [400, 403, 404].includes(status ?? 0);
  await database.transaction(async (tx) => {
    await dropAnswer(tx, id);
    const set = { failures: attempts, last_error: error, message_id: null, sent_at: null };
    await settle(tx, feedTable, claim, {
      dueAt,
      set: isLost ? { ...set, subscription_id: null } : set,
    });
  });
}

const never = new Date(8.64e15);
