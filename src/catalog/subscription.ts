import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { rememberAnswer } from '../delivery/remember-answer.ts';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { actions } from '../protocol/actions.ts';
import { answerContext } from '../protocol/context.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { pageOf } from '../protocol/page.ts';
import type { Pagination } from '../protocol/shapes.ts';
import type { Subscription, SubscriptionsAnswer } from '../protocol/subscription-messages.ts';
import { schemaIdentities } from '../rules/schema-address.ts';
import {
  deactivateSubscription,
  findSameSubscription,
  findSubscription,
  insertSubscription,
  listSubscriptions,
  lockSubscription,
  lockSubscriptionsOf,
  purgeInactive,
  type StoredSubscription,
  type SubscriptionChange,
  type SubscriptionTotals,
  sumActiveSubscriptions,
  updateSubscription,
} from '../storage/catalog/subscriptions.ts';
import type { Transaction } from '../storage/database.ts';
import { findOtherUses, noteServed } from '../storage/work/request-memory.ts';
import type { CatalogContext } from './context.ts';

// Subscriptions: create, update, list, deactivate (catalog spec: POST, GET, DELETE /catalog/subscription). Each belongs to the identity that
// created it; the operations share one answer.

export function addSubscriptionRoutes(
  server: FastifyInstance,
  service: SignedService,
  context: CatalogContext,
): void {
  signedRoute(server, service, actions.subscribe, (request) => subscribe(context, request));
  signedRoute(server, service, actions.listSubscriptions, (request) => list(context, request));
  signedRoute(server, service, actions.unsubscribe, (request) => unsubscribe(context, request));
}

/** Updating is our addition: the specification does not say how a subscription is changed or becomes active again. */
async function subscribe(
  { config, database, now }: CatalogContext,
  request: VerifiedRequest<typeof actions.subscribe>,
): Promise<Answer> {
  const { identity, query, message } = request;
  const { schemaTypes } = message.subscription;
  const schemaIds = schemaTypes && schemaIdentities(schemaTypes, config.SCHEMA_ALIASES);
  const change = { ...message.subscription, schemaIds, now: now() };
  return database.transaction(async (tx) => {
    const subscription =
      query.subscriptionId === undefined
        ? await createOwn(tx, identity, change)
        : await updateOwn(tx, query.subscriptionId, identity, change);
    const answer = render(request.context, { subscriptions: [subscription] });
    await rememberAnswer(tx, request, answer, { open: false });
    return answer;
  });
}

/** If its owner already has the same subscription, ACTIVE, no second one is created. */
async function createOwn(tx: Transaction, identity: string, change: SubscriptionChange) {
  await lockSubscriptionsOf(tx, identity);
  const same = await findSameSubscription(tx, identity, change);
  if (same) return same;
  const created = await insertSubscription(tx, identity, change);
  await checkRoom(tx, identity);
  return created;
}

async function updateOwn(tx: Transaction, id: string, identity: string, change: SubscriptionChange) {
  await lockSubscriptionsOf(tx, identity);
  ownSubscription(await lockSubscription(tx, id), identity, idInQuery);
  const updated = await updateSubscription(tx, id, change);
  await checkRoom(tx, identity);
  return updated;
}

/** All ACTIVE subscriptions of one caller: each change of a catalog is compared with every name in them, which must not become expensive. */
export const maxActive: SubscriptionTotals = { count: 1_000, names: 10_000, characters: 1_000_000 };

/** A write beyond the limit is rolled back. */
async function checkRoom(tx: Transaction, identity: string): Promise<void> {
  const { count, names, characters } = await sumActiveSubscriptions(tx, identity);
  if (count > maxActive.count)
    throw new ProtocolError(
      'POL_NP_CAPACITY_EXCEEDED',
      `${identity} has ${maxActive.count} ACTIVE subscriptions, which is the maximum; deactivate one.`,
    );
  if (names > maxActive.names || characters > maxActive.characters)
    throw new ProtocolError(
      'POL_NP_CAPACITY_EXCEEDED',
      `The ACTIVE subscriptions of ${identity} would name more than ${maxActive.names} networks and schema types, or use more than ${maxActive.characters} characters for them; deactivate one, or name fewer.`,
    );
}

/** An unknown id gives an empty list; another caller's id is refused. */
async function list(
  { database, now }: CatalogContext,
  { identity, query, key, expires }: VerifiedRequest<typeof actions.listSubscriptions>,
): Promise<Answer> {
  const { status, subscriptionId: id } = query;
  const named = id === undefined ? undefined : await findSubscription(database, id);
  if (named) ownSubscription(named, identity, idInQuery);
  const page = pageOf(query);
  const { subscriptions, total } = await listSubscriptions(database, {
    owner: identity,
    status,
    id,
    ...page,
  });
  await noteServed(database, key, expires);
  return render(freshIds(now()), { subscriptions, pagination: { total, ...page } });
}

/** INACTIVE subscriptions kept per caller, who can list and reactivate them. Older ones are deleted, so repeated subscribing cannot fill the disk. */
export const maxInactive = 1_000;

/** Deactivating an INACTIVE subscription changes nothing and is no error. */
async function unsubscribe(
  { database, now }: CatalogContext,
  request: VerifiedRequest<typeof actions.unsubscribe>,
): Promise<Answer> {
  const { identity, query } = request;
  return database.transaction(async (tx) => {
    await lockSubscriptionsOf(tx, identity);
    const found = await lockSubscription(tx, query.subscriptionId);
    await checkSignatureCounts(tx, request, found?.owner === identity);
    const { subscriptionId } = ownSubscription(found, identity, idInQuery);
    const subscription = await deactivateSubscription(tx, subscriptionId, now());
    await purgeInactive(tx, identity, maxInactive);
    const answer = render(freshIds(now()), { subscriptions: [subscription] });
    await rememberAnswer(tx, request, answer, { open: false });
    return answer;
  });
}

/** How long after signing a signature counts for another subscription: peers send both at about the same time. */
const twinsMs = 5_000;

/** No signature covers the address of a DELETE (protocol decision: replay). Two DELETEs of one second have the same signature, so it counts for other subscriptions of its signer, but only for seconds, and not after a GET. */
async function checkSignatureCounts(
  tx: Transaction,
  { key, created, receivedAt }: VerifiedRequest<typeof actions.unsubscribe>,
  isOwn: boolean,
): Promise<void> {
  const uses = await findOtherUses(tx, key);
  if (!uses.includes('DELETE')) return;
  const isFresh = Math.abs(receivedAt.getTime() - created.getTime()) <= twinsMs;
  if (isOwn && isFresh && !uses.includes('GET')) return;
  const message = 'This signature was used for another address: sign each DELETE separately.';
  throw new ProtocolError('AUT_SIGNATURE_INVALID', message);
}

const idInQuery = '$.query.subscriptionId';

/** A subscription of the caller; 404 if there is none, 403 if it belongs to another caller. */
export function ownSubscription(found: StoredSubscription | undefined, identity: string, path: string) {
  if (!found)
    throw new ProtocolError('CTX_INVALID_FIELD', 'There is no such subscription.', { path, status: 404 });
  if (found.owner !== identity)
    throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', 'The subscription belongs to another participant.', {
      path,
    });
  return found;
}

/** GET and DELETE have no context to repeat. */
function freshIds(now: Date) {
  return { messageId: randomUUID(), transactionId: randomUUID(), timestamp: now.toISOString() };
}

function render(
  request: Parameters<typeof answerContext>[1],
  message: { subscriptions: Subscription[]; pagination?: Pagination },
): Answer & { body: string } {
  const answer: SubscriptionsAnswer = {
    context: answerContext(actions.subscribe.answerAction, request),
    message,
  };
  return { status: 200, body: JSON.stringify(answer) };
}
