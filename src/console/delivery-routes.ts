import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { Type } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';
import { Delivery, DeliveryHistory, deliveryStates, Receiver, ReceiverName } from './answers/network.ts';
import { actorOf } from './audit.ts';
import type { ConsoleContext } from './context.ts';
import {
  type DeliveryId,
  findDelivery,
  listDeliveries,
  parseDeliveryId,
  renderDeliveryId,
  replayDelivery,
  replayParked,
  skipDelivery,
} from './deliveries.ts';
import { notFound } from './errors.ts';
import {
  addList,
  CursorKey,
  CursorText,
  ListQuery,
  listOf,
  pageOf,
  renderCursor,
  withoutNulls,
} from './list.ts';
import { listReceivers } from './receivers.ts';

export function addDeliveryRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const { database, config } = context;

  addList(server, '/api/receivers', {
    summary: 'List who is sent something, with what waits and what is parked; receivers with trouble first.',
    tag,
    query: ReceiversQuery,
    cursor: ReceiverCursor,
    answer: listOf('Receivers', Receiver),
    async read(asked) {
      const receivers = await listReceivers(database, asked);
      return pageOf(receivers, asked.limit, ({ kind, receiver, isTroubled }) => ({
        ...{ kind, receiver, isTroubled },
      }));
    },
  });

  addList(server, '/api/deliveries', {
    summary: 'List deliveries: parked ones first, then open and delivered ones.',
    description:
      'In each state, callbacks come first, the latest of them first; then pushes by receiver and catalog. Of the delivered callbacks to one receiver, a page shows those among 50,000 callbacks to all: it may be short, or empty, and have a `next` that goes on behind them.',
    tag,
    query: DeliveriesQuery,
    cursor: DeliveryCursor,
    answer: listOf('Deliveries', Delivery),
    async read(asked) {
      const { items, next } = await listDeliveries(database, asked);
      return { items: items.map(withoutNulls), next: next && renderCursor(next) };
    },
  });

  server.get('/api/deliveries/:id', { config: { operation: showOperation } }, async ({ params }) => {
    const id = readId(params);
    const delivery = await findDelivery(database, id);
    if (delivery) return withoutNulls(delivery);
    throw notFound(
      `There is no delivery ${renderDeliveryId(id)}.`,
      'Callbacks are deleted some time after they were delivered.',
    );
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
    const { RETRY_HOURS } = config;
    const replayed = await replayParked(context, actorOf(request), { receiver, RETRY_HOURS });
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
  receiver: Type.Optional(ReceiverName),
  state: Type.Optional(Type.Enum([...deliveryStates])),
});
const ReceiverCursor = Type.Object({
  kind: Type.Enum(['push', 'callback']),
  receiver: CursorText,
  isTroubled: Type.Boolean(),
});
const DeliveryCursor = Type.Union([
  Type.Object({ state: Type.Enum([...deliveryStates]), callback: CursorKey }),
  Type.Object({ state: Type.Enum([...deliveryStates]), subscriber: CursorText, catalogKey: CursorKey }),
]);
const ReplayRequest = Type.Object({ receiver: Type.Optional(ReceiverName) }, { title: 'ReplayRequest' });

const tag = 'Deliveries';

const showOperation: PlainOperation = {
  summary: 'Show one delivery with its last requests and their answers.',
  tag,
  answer: DeliveryHistory,
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
