import { actions } from '../../../src/protocol/actions.ts';
import {
  type ListSubscriptionsQuery,
  type Subscription,
  type SubscriptionSelection,
  SubscriptionsAnswer,
} from '../../../src/protocol/subscription-messages.ts';
import { askCatalog, type CallOptions, type Core } from './core.ts';
import { SignpostError } from './errors.ts';

// The operations on /catalog/subscription (catalog spec: Subscription).

export interface SubscribeOptions extends CallOptions {
  /** Updates this one, and reactivates it if it is INACTIVE. */
  subscriptionId?: string;
}

export async function subscribe(
  core: Core,
  selection: SubscriptionSelection,
  { subscriptionId, ...options }: SubscribeOptions = {},
): Promise<Subscription> {
  const message = { subscription: selection };
  const question = { action: actions.subscribe, message, query: { subscriptionId } };
  return first(await askCatalog(core, question, SubscriptionsAnswer, options));
}

export async function listSubscriptions(
  core: Core,
  query: ListSubscriptionsQuery = {},
  options: CallOptions = {},
): Promise<Subscription[]> {
  const question = { action: actions.listSubscriptions, query };
  return (await askCatalog(core, question, SubscriptionsAnswer, options)).message.subscriptions;
}

export async function unsubscribe(
  core: Core,
  subscriptionId: string,
  options: CallOptions = {},
): Promise<Subscription> {
  const question = { action: actions.unsubscribe, query: { subscriptionId } };
  return first(await askCatalog(core, question, SubscriptionsAnswer, options));
}

function first({ message, context }: SubscriptionsAnswer): Subscription {
  const [subscription] = message.subscriptions;
  if (subscription) return subscription;
  const { messageId } = context;
  throw new SignpostError('NET_INTERNAL_ERROR', 'The answer has no subscription.', { messageId });
}
