import { actions } from '../protocol/actions.ts';
import { identityOf } from '../protocol/identity.ts';
import { SubscriptionId } from '../protocol/shapes.ts';
import { type TProperties, Type } from '../protocol/type.ts';
import { withoutTrailingSlashes } from '../rules/base-address.ts';
import type { SubscriptionSetting } from '../setting-items.ts';
import { abandonListing, findExpected } from '../storage/feeds/copies.ts';
import {
  type ConfiguredFeed,
  configureFeeds,
  dropFeed,
  type Feed,
  feedTable,
} from '../storage/feeds/feeds.ts';
import { settleAllPrecedence } from '../storage/feeds/precedence.ts';
import { type Claim, settle } from '../storage/work/due-work.ts';
import { leaveInParts, sourceOf } from './apply-copies.ts';
import { askService, readAnswer, StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';
import { type FeedStep, inStep, noRun, outOfStep } from './pull-steps.ts';

// The subscriptions in the settings (catalog spec: POST and DELETE /catalog/subscription), and the steps that create and end them (pull-client.ts
// drives them; each settles the feed). There is one per network of a service, because a pull does not show the networks of a catalog.

export async function configureSubscriptions({ config, database }: DiscoveryContext): Promise<void> {
  const feeds = feedsOf(config.DISCOVERY_SUBSCRIPTIONS, config.REGISTRY_NAME);
  await database.transaction(async (tx) => {
    await configureFeeds(tx, feeds);
    await settleAllPrecedence(tx);
  });
}

/** One feed per service and network, in the order of the settings, with the schema types of all its entries; an empty list means everything. */
export function feedsOf(settings: readonly SubscriptionSetting[], registryName: string): ConfiguredFeed[] {
  const feeds = new Map<string, ConfiguredFeed>();
  for (const { catalogUrl: url, catalogId, networkIds = [], schemaTypes = [] } of settings) {
    const catalogUrl = withoutTrailingSlashes(url);
    for (const networkId of networkIds.length > 0 ? networkIds : ['']) {
      const key = JSON.stringify([catalogUrl, networkId]);
      const earlier = feeds.get(key);
      const service = catalogId === undefined ? earlier?.service : identityOf(catalogId, registryName);
      const all = earlier?.schemaTypes.length === 0 || schemaTypes.length === 0;
      feeds.set(key, {
        catalogUrl,
        networkId,
        schemaTypes: all ? [] : [...new Set([...(earlier?.schemaTypes ?? []), ...schemaTypes])].sort(),
        ...(service !== undefined && { service }),
        position: earlier?.position ?? feeds.size,
      });
    }
  }
  return [...feeds.values()];
}

/** How often a subscription is checked: anyone who received a signature of ours may have ended it (protocol decision: request signature). */
export const checkEveryMs = 15 * 60_000;
/** Attempts to unsubscribe before an unwanted feed is dropped: the service may be gone. */
const maxCancelAttempts = 8;

/** Creating an existing subscription returns that one, so a repeat after a crash creates no second one. */
export const subscribeFeed: FeedStep = async (context, claim, signal) => {
  const { database, logger } = context;
  const { catalog_url: catalogUrl, network_id: networkId, schema_types: schemaTypes } = claim.row;
  const message = { subscription: { networkIds: networkId === '' ? [] : [networkId], schemaTypes } };
  const answer = await askService(context, { action: actions.subscribe, catalogUrl, message, signal });
  const [created] = readAnswer(answer, Subscribed).message.subscriptions;
  if (created === undefined) throw new StepFailed('the answer names no subscription');
  const { subscriptionId } = created;
  const service = serviceOf(context, claim.row, answer.signer);
  logger.info({ catalogUrl, networkId, subscriptionId, service }, 'subscribed');
  // Changes before the subscription are not pushed, so a pull follows.
  const set = {
    ...{ subscription_id: subscriptionId, service, pull_at: claim.at, check_at: nextCheck(claim) },
    ...{ ...noRun, last_status: null },
  };
  await database.transaction((tx) => {
    tx.hint(feedTable);
    return settle(tx, feedTable, claim, { dueInMs: 0, set });
  });
};

/** Unless the operator names the service, it is the signer at the configured address. */
function serviceOf(
  { config, logger }: DiscoveryContext,
  { service, catalog_url: catalogUrl }: Feed,
  signer: string | undefined,
): string | null {
  const answering = signer === undefined ? null : identityOf(signer, config.REGISTRY_NAME);
  if (service !== null && answering !== null && service !== answering)
    logger.warn({ catalogUrl, service, answering }, 'the catalog service has another identity than expected');
  return service ?? answering;
}

/** Creates a subscription again if it is no longer ACTIVE; otherwise that changes nothing. */
export const check: FeedStep = async (context, claim, signal) => {
  const { database, logger } = context;
  const { catalog_url: catalogUrl, network_id: networkId, subscription_id: subscriptionId } = claim.row;
  const isThere = await isSubscribed(context, claim.row, signal);
  if (isThere === false) {
    const what = { catalogUrl, networkId, subscriptionId };
    logger.warn(what, 'a subscription is no longer active; it is created again, and everything is pulled');
  }
  // The last pull has completed: only a check of the subscription can have failed since.
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

/** Whether the service has the subscription, ACTIVE; undefined if it does not say. */
async function isSubscribed(
  context: DiscoveryContext,
  { catalog_url: catalogUrl, subscription_id: subscriptionId }: Feed,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const action = actions.listSubscriptions;
  const query = { subscriptionId: subscriptionId ?? '' };
  try {
    const answer = await askService(context, { action, catalogUrl, query, signal });
    const { subscriptions } = readAnswer(answer, Listed).message;
    const own = subscriptions.find((one) => one.subscriptionId === subscriptionId);
    return own !== undefined && (own.status ?? active) === active;
  } catch (error) {
    if (!(error instanceof StepFailed) || error.status === undefined) throw error;
    if (unknownTo.includes(error.status)) return false;
    context.logger.warn({ catalogUrl, reason: error.message }, 'cannot read a subscription');
    return undefined;
  }
}

const active = 'ACTIVE';
const unknownTo = [400, 403, 404];

/** The needed part of an answer: services differ in the rest. */
const subscriptionsOf = <P extends TProperties>(subscription: P, options: { minItems?: number } = {}) =>
  Type.Object({
    message: Type.Object({ subscriptions: Type.Array(Type.Object(subscription), options) }),
  });

const Listed = subscriptionsOf({ subscriptionId: Type.String(), status: Type.Optional(Type.String()) });
const Subscribed = subscriptionsOf({ subscriptionId: SubscriptionId }, { minItems: 1 });

export const tidy: FeedStep = async (context, claim, signal) => {
  const { catalog_url: catalogUrl, cancelled_ids: ids, subscription_id: current } = claim.row;
  for (const id of ids) if (id !== current) await unsubscribe(context, catalogUrl, id, signal);
  await context.database.transaction((tx) =>
    settle(tx, feedTable, claim, { dueInMs: 0, set: { cancelled_ids: [] } }),
  );
};

/** Deactivates the subscription, and removes catalogs that only it brought. */
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

/** A subscription that the service does not know, or not as ours, needs no deactivation. */
async function unsubscribe(
  context: DiscoveryContext,
  catalogUrl: string,
  subscriptionId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const query = { subscriptionId };
    await askService(context, { action: actions.unsubscribe, catalogUrl, query, signal });
  } catch (error) {
    if (error instanceof StepFailed && unknownTo.includes(error.status ?? 0)) return;
    throw error;
  }
}
