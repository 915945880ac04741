import { actions } from '../protocol/actions.ts';
import { identityOf } from '../protocol/identity.ts';
import { SubscriptionId } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import { withoutTrailingSlashes } from '../rules/base-address.ts';
import type { SubscriptionSetting } from '../setting-items.ts';
import { type ConfiguredFeed, configureFeeds, type Feed } from '../storage/feeds/feeds.ts';
import { settleAllPrecedence } from '../storage/feeds/precedence.ts';
import { askService, readAnswer, StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';

// The subscriptions that the settings ask for (catalog spec: POST and DELETE /catalog/subscription). There is one for each network of a
// service, because neither a pull nor what it brings says to which networks a catalog belongs.

export async function configureSubscriptions({ config, database }: DiscoveryContext): Promise<void> {
  const feeds = feedsOf(config.DISCOVERY_SUBSCRIPTIONS, config.REGISTRY_NAME);
  await database.transaction(async (tx) => {
    await configureFeeds(tx, feeds);
    await settleAllPrecedence(tx);
  });
}

/**
 * One feed per service and network, in the order of the settings. Several entries for the same one ask for the schema types of all of them;
 * omitted or empty lists mean everything, as in the subscriptions themselves.
 */
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

/** Creating a subscription that is there already returns that one, so that a repeat after a crash makes no second one. */
export async function subscribe(
  context: DiscoveryContext,
  feed: Feed,
  signal: AbortSignal,
): Promise<{ subscriptionId: string; service: string | null }> {
  const { catalog_url: catalogUrl, network_id: networkId, schema_types: schemaTypes } = feed;
  const networkIds = networkId === '' ? [] : [networkId];
  const message = { subscription: { networkIds, schemaTypes } };
  const answer = await askService(context, { action: actions.subscribe, catalogUrl, message, signal });
  const [created] = readAnswer(answer, Subscribed).message.subscriptions;
  if (created === undefined) throw new StepFailed('the answer names no subscription');
  return { subscriptionId: created.subscriptionId, service: serviceOf(context, feed, answer.signer) };
}

/** Who answers at the configured address is the service, where the operator does not say who it must be. */
function serviceOf(
  { config, logger }: DiscoveryContext,
  { service, catalog_url: catalogUrl }: Feed,
  signer: string | undefined,
): string | null {
  const answering = signer === undefined ? null : identityOf(signer, config.REGISTRY_NAME);
  if (service !== null && answering !== null && service !== answering)
    logger.warn({ catalogUrl, service, answering }, 'the catalog service is not who it should be');
  return service ?? answering;
}

/** Whether the service has the subscription, ACTIVE; undefined where it does not say. */
export async function isSubscribed(
  context: DiscoveryContext,
  { catalog_url: catalogUrl, subscription_id: subscriptionId }: Feed,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const query = { subscriptionId: subscriptionId ?? '' };
  try {
    const answer = await askService(context, {
      action: actions.listSubscriptions,
      catalogUrl,
      query,
      signal,
    });
    const { subscriptions } = readAnswer(answer, Listed).message;
    const own = subscriptions.find((one) => one.subscriptionId === subscriptionId);
    return own !== undefined && (own.status ?? active) === active;
  } catch (error) {
    if (!(error instanceof StepFailed) || error.status === undefined) throw error;
    if (unknownTo.includes(error.status)) return false;
    context.logger.warn({ catalogUrl, reason: error.message }, 'cannot look at a subscription');
    return undefined;
  }
}

const active = 'ACTIVE';
const unknownTo = [400, 403, 404];

const Listed = Type.Object({
  message: Type.Object({
    subscriptions: Type.Array(
      Type.Object({ subscriptionId: Type.String(), status: Type.Optional(Type.String()) }),
    ),
  }),
});

/** The needed part of the answer: services differ in the rest. */
const Subscribed = Type.Object({
  message: Type.Object({
    subscriptions: Type.Array(Type.Object({ subscriptionId: SubscriptionId }), { minItems: 1 }),
  }),
});

/** A subscription that the service does not know, or not as ours, needs no deactivation. */
export async function unsubscribe(
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
