import { AnswerContext, Context, envelope } from './context.ts';
import {
  closed,
  closedTitled,
  DateTime,
  Limit,
  NetworkId,
  Offset,
  oneOfTexts,
  Pagination,
  SchemaType,
  SubscriptionId,
  titled,
} from './shapes.ts';
import { type Static, Type } from './type.ts';

export const SubscriptionStatus = oneOfTexts(['ACTIVE', 'INACTIVE'], { title: 'SubscriptionStatus' });
export type SubscriptionStatus = Static<typeof SubscriptionStatus>;

export const Subscription = titled('Subscription', {
  subscriptionId: SubscriptionId,
  status: SubscriptionStatus,
  networkIds: Type.Array(NetworkId, { description: 'Empty: every network.' }),
  schemaTypes: Type.Array(SchemaType, { description: 'Empty: every schema type on those networks.' }),
  createdAt: DateTime,
  updatedAt: DateTime,
});
export type Subscription = Static<typeof Subscription>;

/** Every change of every catalog is compared with every subscription: no subscriber may make that expensive for all. */
const maxInterests = 1_000;

export const SubscriptionSelection = closed(
  {
    networkIds: Type.Optional(
      Type.Array(NetworkId, { maxItems: maxInterests, description: 'Omitted or empty: every network.' }),
    ),
    schemaTypes: Type.Optional(
      Type.Array(SchemaType, { maxItems: maxInterests, description: 'Omitted or empty: every schema type.' }),
    ),
  },
  {
    title: 'SubscriptionSelection',
    description: 'Has at least one of networkIds and schemaTypes.',
    anyOf: [{ required: ['networkIds'] }, { required: ['schemaTypes'] }],
  },
);
export type SubscriptionSelection = Static<typeof SubscriptionSelection>;

export const SubscribeMessage = closedTitled('SubscribeMessage', { subscription: SubscriptionSelection });
export type SubscribeMessage = Static<typeof SubscribeMessage>;

export const SubscribeRequest = envelope('SubscribeRequest', Context, SubscribeMessage);

/** With a subscriptionId, POST updates that subscription, and reactivates it if it is INACTIVE. */
export const SubscribeQuery = Type.Object({ subscriptionId: Type.Optional(SubscriptionId) });

export const ListSubscriptionsQuery = Type.Object({
  status: Type.Optional(SubscriptionStatus),
  subscriptionId: Type.Optional(SubscriptionId),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});
export type ListSubscriptionsQuery = Static<typeof ListSubscriptionsQuery>;

export const UnsubscribeQuery = Type.Object({ subscriptionId: SubscriptionId });

export const SubscriptionsAnswer = Type.Object(
  {
    context: AnswerContext,
    message: Type.Object({ subscriptions: Type.Array(Subscription), pagination: Type.Optional(Pagination) }),
  },
  { title: 'SubscriptionsAnswer', description: 'Action catalog/on_subscription; pagination if listed.' },
);
export type SubscriptionsAnswer = Static<typeof SubscriptionsAnswer>;
