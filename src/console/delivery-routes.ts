import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { Type } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';
import { actorOf } from './audit.ts';
import type { ConsoleContext } from './context.ts';
import {
  type DeliveryId,
  deliveryStates,
  listDeliveries,
  listReceivers,
  parseDeliveryId,
  renderDeliveryId,
  replayDelivery,
  replayParked,
  skipDelivery,
} from './deliveries.ts';
import { notFound } from './errors.ts';
import {
  CursorKey,
  CursorText,
  ListQuery,
  listOf,
  nextCursor,
  parseListQuery,
  renderCursor,
  withoutNulls,
} from './list.ts';

/** What leaves the node: receivers, deliveries, and another try, or none, for what is parked. */
export function addDeliveryRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const { database, config } = context;

  server.get('/api/receivers', { config: { operation: receiversOperation } }, async ({ query }) => {
    const { limit, after, state } = parseListQuery(ReceiversQuery, query, ReceiverCursor);
    const items = await listReceivers(database, { limit, after, state });
    const next = nextCursor(items, limit, ({ kind, receiver }) => ({ kind, receiver }));
    return { items: items.map(withoutNulls), next };
  });

  server.get('/api/deliveries', { config: { operation: listOperation } }, async ({ query }) => {
    const { limit, after, state, receiver } = parseListQuery(DeliveriesQuery, query, DeliveryCursor);
    const { items, next } = await listDeliveries(database, { limit, after, state, receiver });
    return { items: items.map(withoutNulls), next: next && renderCursor(next) };
  });

  server.post('/api/deliveries/:id/replay', { config: { operation: replayOperation } }, async (request) => {
    const id = readId(request.params);
    await replayDelivery(context, actorOf(request), id, config);
    return tellOf(id);
  });

  server.post('/api/deliveries/:id/skip', { config: { operation: skipOperation } }, async (request) => {
    const id = readId(request.params);
    await skipDelivery(context, actorOf(request), id);
    return tellOf(id);
  });

  server.post('/api/deliveries/replay', { config: { operation: replayAllOperation } }, async (request) => {
    const { receiver } = validator(ReplayRequest)(request.body ?? {});
    const replayed = await replayParked(context, actorOf(request), {
      ...{ receiver, RETRY_HOURS: config.RETRY_HOURS },
    });
    context.events.tell('delivery');
    return replayed;
  });

  function tellOf(id: DeliveryId): { id: string } {
    const shown = renderDeliveryId(id);
    context.events.tell('delivery', shown);
    return { id: shown };
  }
}

function readId(parameters: unknown): DeliveryId {
  const { id } = parameters as { id: string };
  const read = parseDeliveryId(id);
  if (!read) throw notFound(`There is no delivery ${id}.`, 'Ids are as push-7 and callback-12.');
  return read;
}

const Receiver = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'The identity that pushes go to, or the origin that callbacks go to.',
});
const ReceiversQuery = Type.Object({
  ...ListQuery.properties,
  state: Type.Optional(
    Type.Enum(['open', 'parked'], {
      description: 'Only receivers that have deliveries waiting, or parked.',
    }),
  ),
});
const DeliveriesQuery = Type.Object({
  ...ListQuery.properties,
  receiver: Type.Optional(Receiver),
  state: Type.Optional(Type.Enum([...deliveryStates])),
});
const ReceiverCursor = Type.Object({ kind: Type.Enum(['push', 'callback']), receiver: CursorText });
const DeliveryCursor = Type.Union([
  Type.Object({ callback: CursorKey }),
  Type.Object({ subscriber: CursorText, catalogKey: CursorKey }),
]);
const ReplayRequest = Type.Object({ receiver: Type.Optional(Receiver) }, { title: 'ReplayRequest' });

const Time = Type.String({ format: 'date-time' });
const tag = 'Deliveries';

const receiversOperation: PlainOperation = {
  summary: 'List who is sent something, with what waits and what is parked.',
  tag,
  query: ReceiversQuery,
  answer: listOf(
    'Receivers',
    Type.Object({
      receiver: Receiver,
      kind: Type.Enum(['push', 'callback']),
      waiting: Type.Integer(),
      parked: Type.Integer(),
      orMore: Type.Boolean({ description: 'There are more than were counted: 10,000 of each at most.' }),
      oldestWaitingAt: Type.Optional(Time),
      nextTryAt: Type.Optional(Time),
      lastAnswer: Type.Optional(
        Type.Object({
          at: Type.Optional(Time),
          status: Type.Optional(Type.Integer()),
          error: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
};
const listOperation: PlainOperation = {
  summary: 'List callbacks, the latest first, and then pushes by receiver and catalog.',
  description:
    'Of the delivered callbacks to one receiver, a page shows those among 50,000 callbacks to all: it may be short, or empty, and have a `next` that goes on behind them.',
  tag,
  query: DeliveriesQuery,
  answer: listOf(
    'Deliveries',
    Type.Object({
      id: Type.String({ examples: ['push-7', 'callback-12'] }),
      receiver: Receiver,
      action: Type.String(),
      about: Type.String({ description: 'The catalogId of a push, the messageId of a callback.' }),
      state: Type.Enum([...deliveryStates]),
      detail: Type.String({ description: 'What exactly: refused, no endpoint, skipped …' }),
      form: Type.Optional(
        Type.Enum(['full', 'strict'], {
          description:
            'What was sent last: everything, or strict form, for a receiver whose schemas are closed.',
        }),
      ),
      attempts: Type.Integer(),
      nextTryAt: Type.Optional(Time),
      lastStatus: Type.Optional(Type.Integer()),
      lastError: Type.Optional(Type.String()),
      acknowledgedVersion: Type.Optional(Type.Integer({ description: 'Of a push: what the receiver has.' })),
      version: Type.Optional(Type.Integer({ description: 'Of a push: what there is.' })),
      createdAt: Type.Optional(Time),
    }),
  ),
};
const replayOperation: PlainOperation = {
  summary: 'Try a parked delivery again.',
  description: 'A callback is sent as it was; a push is computed anew from what its receiver has.',
  tag,
  answer: Type.Object({ id: Type.String() }),
  answers: { 409: 'It is not parked.' },
};
const skipOperation: PlainOperation = {
  summary: 'Give up a delivery that waits or is parked.',
  description: 'A callback is given up for good; of a push, the next change of its catalog is sent whole.',
  tag,
  answer: Type.Object({ id: Type.String() }),
  answers: { 409: 'It neither waits nor is parked, or it is being sent just now.' },
};
const replayAllOperation: PlainOperation = {
  summary: 'Try all parked deliveries again, of one receiver or of all.',
  tag,
  body: ReplayRequest,
  answer: Type.Object({ callbacks: Type.Integer(), pushes: Type.Integer() }, { title: 'Replayed' }),
};
