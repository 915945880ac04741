import { abandonListing, findExpected } from '../storage/feeds/copies.ts';
import { dropFeed, type Feed, feedTable } from '../storage/feeds/feeds.ts';
import { type Claim, settle } from '../storage/work/due-work.ts';
import { leaveInParts, sourceOf } from './apply-copies.ts';
import { StepFailed } from './ask-service.ts';
import { type FeedStep, inStep, noRun, outOfStep } from './pull-steps.ts';
import { isSubscribed, subscribe, unsubscribe } from './subscribe.ts';

// The steps of a feed that make and end its subscription (pull-client.ts drives them). Each settles the feed.

/** How often a subscription is looked at: anyone who received a signature of ours may have ended it (protocol decision: request signature). */
export const checkEveryMs = 15 * 60_000;
/** Attempts to unsubscribe before an unwanted feed is dropped: the service may be gone. */
const maxCancelAttempts = 8;

export const subscribeFeed: FeedStep = async (context, claim, signal) => {
  const { database, logger } = context;
  const { catalog_url: catalogUrl, network_id: networkId } = claim.row;
  const { subscriptionId, service } = await subscribe(context, claim.row, signal);
  logger.info({ catalogUrl, networkId, subscriptionId, service }, 'subscribed');
  // Changes before the subscription are not pushed, so a pull follows.
  const set = {
    subscription_id: subscriptionId,
    service,
    pull_at: claim.at,
    check_at: nextCheck(claim),
    ...noRun,
    last_status: null,
  };
  await database.transaction((tx) => {
    tx.hint(feedTable);
    return settle(tx, feedTable, claim, { dueInMs: 0, set });
  });
};

/** Makes a subscription anew that is not ACTIVE any more: creating it again costs nothing where it is. */
export const check: FeedStep = async (context, claim, signal) => {
  const { database, logger } = context;
  const { catalog_url: catalogUrl, network_id: networkId, subscription_id: subscriptionId } = claim.row;
  const isThere = await isSubscribed(context, claim.row, signal);
  if (isThere === false) {
    const what = { catalogUrl, networkId, subscriptionId };
    logger.warn(what, 'a subscription is not active any more; it is made anew, and everything pulled');
  }
  // The last pull has completed: only a look at the subscription can have failed since.
  const { run, pull_at: pullAt } = claim.row;
  const isPulled = run === null && pullAt !== null && pullAt > claim.at;
  const set =
    isThere === false
      ? { subscription_id: null, ...outOfStep(claim) }
      : { check_at: nextCheck(claim), ...(isPulled && inStep) };
  await database.transaction((tx) => settle(tx, feedTable, claim, { dueInMs: 0, set }));
};

function nextCheck({ at }: Claim<Feed>): Date {
  return new Date(at.getTime() + checkEveryMs);
}

/** Deactivates subscriptions that were replaced. */
export const tidy: FeedStep = async (context, claim, signal) => {
  const { catalog_url: catalogUrl, cancelled_ids: ids, subscription_id: current } = claim.row;
  for (const id of ids) if (id !== current) await unsubscribe(context, catalogUrl, id, signal);
  await context.database.transaction((tx) =>
    settle(tx, feedTable, claim, { dueInMs: 0, set: { cancelled_ids: [] } }),
  );
};

/** Deactivates the subscription, and takes out what came by it alone. */
export const cancel: FeedStep = async (context, claim, signal) => {
  const { database, logger } = context;
  const { id: feedId, catalog_url: catalogUrl, network_id: networkId, service, failures } = claim.row;
  const ids = [...claim.row.cancelled_ids, claim.row.subscription_id].filter((id) => id !== null);
  try {
    for (const id of ids) await unsubscribe(context, catalogUrl, id, signal);
  } catch (error) {
    if (!(error instanceof StepFailed) || failures + 1 < maxCancelAttempts) throw error;
    logger.warn({ catalogUrl, reason: error.message }, 'cannot deactivate a subscription; it is forgotten');
  }
  if (service !== null) {
    const feed = { feedId, source: sourceOf(service), networkId };
    const copies = await findExpected(database, feed);
    await leaveInParts(context, copies, (tx, part) => abandonListing(tx, feed, part), signal);
  }
  await database.transaction(async (tx) => {
    await settle(tx, feedTable, claim, { dueInMs: null });
    await dropFeed(tx, feedId);
  });
  logger.info({ catalogUrl, networkId }, 'unsubscribed');
};
