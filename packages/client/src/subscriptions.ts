import { actions } from '../../../src/protocol/actions.ts';
import {
  type ListSubscriptionsQuery,
  type Subscription,
  type SubscriptionSelection,
  SubscriptionsAnswer,
} from '../../../src/protocol/subscription-messages.ts';
import { validator } from '../../../src/protocol/validate.ts';
import { ask, type CallOptions, type Core, type Question } from './core.ts';
import { asSignpostError, SignpostError } from './errors.ts';

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
  return first(
    await exchange(core, { action: actions.subscribe, message, query: { subscriptionId } }, options),
  );
}

export async function listSubscriptions(
  core: Core,
  query: ListSubscriptionsQuery = {},
  options: CallOptions = {},
): Promise<Subscription[]> {
  return (await exchange(core, { action: actions.listSubscriptions, query }, options)).message.subscriptions;
}

export async function unsubscribe(
  core: Core,
  subscriptionId: string,
  options: CallOptions = {},
): Promise<Subscription> {
  return first(await exchange(core, { action: actions.unsubscribe, query: { subscriptionId } }, options));
}

async function exchange(
  core: Core,
  question: Omit<Question, 'service'>,
  options: CallOptions,
): Promise<SubscriptionsAnswer> {
  const { body } = await ask(core, { service: 'catalog', ...question }, options);
  try {
    return validator(SubscriptionsAnswer)(body);
  } catch (error) {
    throw asSignpostError(error);
  }
}

function first({ message, context }: SubscriptionsAnswer): Subscription {
  const [subscription] = message.subscriptions;
  if (subscription) return subscription;
  throw new SignpostError('NET_INTERNAL_ERROR', 'The answer has no subscription.', {
    messageId: context.messageId,
  });
}
