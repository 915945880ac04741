import type { FastifyInstance } from 'fastify';
import { Type } from '../protocol/type.ts';
import { Delivery, DeliveryHistory, Receiver, ReceiverName, Replay } from './answers/network.ts';
import { actorOf } from './audit.ts';
import type { ConsoleContext } from './context.ts';
import {
  type DeliveryId,
  findDelivery,
  listDeliveries,
  parseDeliveryId,
  replayDelivery,
  replayParked,
  skipDelivery,
} from './deliveries.ts';
import { notFound } from './errors.ts';
import { addList, CursorKey, CursorText, listOf, pageOf, renderCursor } from './list.ts';
import { listReceivers } from './receivers.ts';
import { addRoute } from './route.ts';

export function addDeliveryRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const { database, config, events } = context;

  addList(server, '/api/receivers', {
    summary: 'List receivers, with their waiting and parked deliveries; receivers with trouble first.',
    tag,
    filter: {
      state: Type.Optional(
        Type.Enum(['open', 'parked'], {
          description: 'Only receivers that have deliveries waiting, or parked.',
        }),
      ),
    },
    cursor: Type.Object({
      kind: Type.Enum(['push', 'callback']),
      receiver: CursorText,
      isTroubled: Type.Boolean(),
    }),
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
      'In each state, callbacks come first, the latest of them first; then pushes by receiver and catalog. For delivered callbacks to one receiver, a page scans 50,000 callbacks: it may be short, or empty, and still have a `next`.',
    tag,
    filter: { receiver: Type.Optional(ReceiverName), state: Type.Optional(State) },
    cursor: Type.Union([
      Type.Object({ state: State, callback: CursorKey }),
      Type.Object({ state: State, subscriber: CursorText, catalogKey: CursorKey }),
    ]),
    answer: listOf('Deliveries', Delivery),
    async read(asked) {
      const { items, next } = await listDeliveries(database, asked);
      return { items, next: next && renderCursor(next) };
    },
  });

  addRoute(server, 'GET /api/deliveries/:id', {
    summary: 'Show one delivery with its last requests and their answers.',
    tag,
    answer: DeliveryHistory,
    async handle({ params }) {
      const delivery = await findDelivery(database, readId(params.id));
      if (delivery) return delivery;
      throw notFound(
        `There is no delivery ${params.id}.`,
        'Callbacks are deleted some time after they were delivered.',
      );
    },
  });

  addRoute(server, 'POST /api/deliveries/:id/replay', {
    summary: 'Try a parked delivery again.',
    description: 'A callback is sent as it was; a push is computed again from what its receiver has.',
    tag,
    answer: Type.Object({ id: Type.String() }),
    answers: { 409: 'It is not parked.' },
    async handle({ params: { id } }, request) {
      await replayDelivery(context, actorOf(request), readId(id), config);
      events.tell('delivery', id);
      return { id };
    },
  });

  addRoute(server, 'POST /api/deliveries/:id/skip', {
    summary: 'Skip a waiting or parked delivery.',
    description: 'A skipped callback is never sent. After a skipped push, the next change sends it whole.',
    tag,
    answer: Type.Object({ id: Type.String() }),
    answers: { 409: 'It is neither waiting nor parked, or it is being sent right now.' },
    async handle({ params: { id } }, request) {
      await skipDelivery(context, actorOf(request), readId(id));
      events.tell('delivery', id);
      return { id };
    },
  });

  addRoute(server, 'POST /api/deliveries/replay', {
    summary: 'Try all parked deliveries again, of one receiver or of all.',
    tag,
    body: Type.Object({ receiver: Type.Optional(ReceiverName) }, { title: 'ReplayRequest' }),
    answer: Replay,
    async handle({ body: { receiver } }, request) {
      const { RETRY_HOURS } = config;
      const replayed = await replayParked(context, actorOf(request), { receiver, RETRY_HOURS });
      events.tell('delivery');
      return replayed;
    },
  });
}

function readId(id: string): DeliveryId {
  const read = parseDeliveryId(id);
  if (!read) throw notFound(`There is no delivery ${id}.`, 'Ids look like push-7 and callback-12.');
  return read;
}

const State = Delivery.properties.state;
const tag = 'Deliveries';
