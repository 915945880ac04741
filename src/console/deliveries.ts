import { listPushes, type PushSummary, replayPushes, skipPush } from '../storage/catalog/push-list.ts';
import type { Actor } from '../storage/console/audit.ts';
import type { Database, Queryable } from '../storage/database.ts';
import {
  type CallbackSummary,
  listCallbacks,
  listCallbacksTo,
  replayCallbacks,
  skipCallback,
} from '../storage/work/callback-list.ts';
import { type Delivery as DeliveryAnswer, deliveryStates, type Replay } from './answers/network.ts';
import { type AuditTools, audited } from './audited.ts';
import { conflict } from './errors.ts';
import { withoutNulls } from './list.ts';

// Deliveries (callbacks and pushes) for operators, at the console and on the command line.

export type DeliveryState = (typeof deliveryStates)[number];

export interface DeliveryId {
  kind: 'callback' | 'push';
  id: number;
}

/** The displayed form: `push-7`, `callback-12`. */
export function renderDeliveryId({ kind, id }: DeliveryId): string {
  return `${kind}-${id}`;
}

export function parseDeliveryId(text: string): DeliveryId | undefined {
  const [, kind, id] = /^(callback|push)-(\d{1,15})$/.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return { kind: kind === 'push' ? 'push' : 'callback', id: Number(id) };
}

type TimeNames = 'failingSince' | 'nextTryAt' | 'createdAt';
export type Delivery = Omit<DeliveryAnswer, TimeNames> & { [name in TimeNames]?: Date };

/** The end of a page of deliveries: in each state, callbacks come first, then pushes. */
type DeliveryPosition = StatePosition & { state: DeliveryState };

type StatePosition = { callback: number } | { subscriber: string; catalogKey: number };

interface DeliveryFilter {
  receiver?: string;
  state?: DeliveryState;
  limit: number;
  after?: DeliveryPosition;
}

/** Failures first: parked, open, delivered. In each state callbacks, the latest first; then pushes by receiver and catalog. */
export async function listDeliveries(queryable: Queryable, { after, ...filter }: DeliveryFilter) {
  const states = filter.state ? [filter.state] : deliveryStates;
  const items: Delivery[] = [];
  for (const state of states.slice(after ? Math.max(states.indexOf(after.state), 0) : 0)) {
    const page = await listInState(queryable, {
      ...{ ...filter, state, limit: filter.limit - items.length },
      after: after?.state === state ? after : undefined,
    });
    items.push(...page.items);
    if (page.next) return { items, next: { ...page.next, state } };
  }
  return { items };
}

async function listInState(
  queryable: Queryable,
  { receiver, state, limit, after }: Omit<DeliveryFilter, 'after'> & { after?: StatePosition },
): Promise<{ items: Delivery[]; next?: StatePosition }> {
  const isAmongPushes = after !== undefined && 'subscriber' in after;
  const before = isAmongPushes ? undefined : after?.callback;
  if (receiver !== undefined && isOrigin(receiver)) {
    const page = { receiver, state, limit, before, lookAt: maxCallbacksLookedAt };
    const { callbacks, next } = await listCallbacksTo(queryable, page);
    return { items: callbacks.map(callbackItem), next: next === undefined ? undefined : { callback: next } };
  }
  const callbacks =
    isAmongPushes || receiver !== undefined ? [] : await listCallbacks(queryable, { state, limit, before });
  const room = limit - callbacks.length;
  const wanted = { subscriber: receiver, state, limit: room, after: isAmongPushes ? after : undefined };
  const pushes = room === 0 ? [] : await listPushes(queryable, wanted);
  const items = [...callbacks.map(callbackItem), ...pushes.map(pushItem)];
  return { items, next: items.length < limit ? undefined : positionOf(callbacks.at(-1), pushes.at(-1)) };
}

/** Callbacks go to origins, pushes to identities. */
function isOrigin(receiver: string): boolean {
  return /^https?:\/\//i.test(receiver);
}

/** Maximum of delivered callbacks that a page examines for one receiver. */
const maxCallbacksLookedAt = 50_000;

function positionOf(callback?: CallbackSummary, push?: PushSummary): StatePosition | undefined {
  if (push) return { subscriber: push.subscriber, catalogKey: push.catalogKey };
  return callback && { callback: callback.id };
}

export async function findDelivery(queryable: Queryable, { kind, id }: DeliveryId) {
  const [push] = kind === 'push' ? await listPushes(queryable, { id, limit: 1 }) : [];
  const [callback] = kind === 'callback' ? await listCallbacks(queryable, { id, limit: 1 }) : [];
  const item = push ? pushItem(push) : callback && callbackItem(callback);
  return item && { ...item, history: push?.history ?? callback?.history ?? [] };
}

function callbackItem(callback: CallbackSummary): Delivery {
  const { id, receiver, action, messageId: about, state, attempts, dueAt, createdAt } = callback;
  const { lastStatus, lastError, form } = callback;
  const group: DeliveryState =
    state === 'open' ? 'open' : ['refused', 'parked'].includes(state) ? 'parked' : 'delivered';
  return withoutNulls({
    ...{ id: renderDeliveryId({ kind: 'callback', id }), receiver, action, about, state: group },
    ...{ detail: state, form, attempts, nextTryAt: dueAt, lastStatus, lastError, createdAt },
    failingSince: group === 'delivered' || lastError === null ? null : createdAt,
  });
}

function pushItem(push: PushSummary): Delivery {
  const { id, subscriber: receiver, catalogId: about, state, attempts, dueAt } = push;
  const { lastStatus, lastError, form, failingSince, acknowledgedVersion, version } = push;
  const group: DeliveryState =
    state === 'pending' ? 'open' : ['parked', 'no endpoint'].includes(state) ? 'parked' : 'delivered';
  return withoutNulls({
    ...{ id: renderDeliveryId({ kind: 'push', id }), receiver, action: 'catalog/push', about, state: group },
    ...{ detail: state, form, attempts, failingSince, nextTryAt: dueAt, lastStatus, lastError },
    ...{ acknowledgedVersion, version },
  });
}

const hourMs = 3_600_000;

type DeliveryTools = AuditTools & { database: Database };

/** Retries a parked delivery. A callback is sent unchanged; a push is computed again. */
export async function replayDelivery(
  tools: DeliveryTools,
  by: Actor,
  { kind, id }: DeliveryId,
  { RETRY_HOURS }: { RETRY_HOURS: number },
): Promise<void> {
  const { database } = tools;
  const target = renderDeliveryId({ kind, id });
  await audited(tools, by, { action: 'deliveries.replay', target }, async () => {
    const replayed =
      kind === 'push'
        ? await replayPushes(database, { id })
        : await replayCallbacks(database, { id, giveUpAfterMs: RETRY_HOURS * hourMs });
    if (replayed === 0) throw conflict(`${target} is not parked.`);
  });
}

export async function replayParked(
  tools: DeliveryTools,
  by: Actor,
  { receiver, RETRY_HOURS }: { receiver?: string; RETRY_HOURS: number },
): Promise<Replay> {
  const { database } = tools;
  const target = receiver ?? 'all receivers';
  return audited(tools, by, { action: 'deliveries.replay', target }, async () => {
    const callbacks = await replayCallbacks(database, { receiver, giveUpAfterMs: RETRY_HOURS * hourMs });
    return { callbacks, pushes: await replayPushes(database, { subscriber: receiver }) };
  });
}

/** Drops a waiting or parked delivery. The next change of a catalog is still pushed. */
export async function skipDelivery(tools: DeliveryTools, by: Actor, { kind, id }: DeliveryId): Promise<void> {
  const { database } = tools;
  const target = renderDeliveryId({ kind, id });
  await audited(tools, by, { action: 'deliveries.skip', target }, async () => {
    const isSkipped = kind === 'push' ? await skipPush(database, id) : await skipCallback(database, id);
    if (!isSkipped)
      throw conflict(
        `${target} neither waits nor is parked.`,
        'A delivery that is being sent cannot be skipped.',
      );
  });
}
