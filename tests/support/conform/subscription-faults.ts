import type { Body } from '../network/actor.ts';
import type { PassedRequest } from './broken-service.ts';
import { at, created, ended, first, isOther, listed, refused, subscription } from './catalog-fault-parts.ts';
import { accepted, coded, inAnswer, type PlantedFault } from './request-faults.ts';

// Faults of subscriptions in a catalog service, one for each check that should find it.

export const subscriptionFaults: PlantedFault[] = [
  inAnswer(
    'subscription-created',
    'it is INACTIVE from the start',
    created,
    first((one) => {
      one.status = 'INACTIVE';
    }),
  ),
  inAnswer(
    'subscription-shape',
    'createdAt is missing',
    created,
    first((one) => delete one.createdAt),
  ),
  inAnswer(
    'subscription-kept',
    'a schema type is forgotten',
    created,
    first((one) => one.schemaTypes.pop()),
  ),
  inAnswer('subscription-envelope', 'the action is that of the request', created, ({ body }) => {
    body.context.action = 'catalog/subscription';
  }),
  inAnswer('subscription-echo', 'another messageId', created, ({ body }) => {
    body.context.messageId = 'another';
  }),
  inAnswer(
    'subscription-needs-interest',
    'an empty one is taken',
    refused(subscription, ({ subscription: one }) => one !== undefined),
    accepted,
  ),
  inAnswer(
    'subscription-listed',
    'the list is empty',
    listed((query) => query.has('subscriptionId') && query.has('status')),
    ({ body }) => {
      body.message.subscriptions = [];
    },
  ),
  inAnswer(
    'list-pagination',
    'pagination is missing',
    listed((query) => query.get('limit') === '7'),
    ({ body }) => delete body.message.pagination,
  ),
  inAnswer(
    'list-status',
    'ACTIVE ones are among the INACTIVE',
    listed((query) => query.get('status') === 'INACTIVE'),
    ({ body }) => body.message.subscriptions.push({ status: 'ACTIVE' }),
  ),
  inAnswer('list-limit', 'any limit is taken', at('GET', subscription, isTooMany), accepted),
  seenByAll(),
  inAnswer(
    'delete-own-only',
    'somebody else may try',
    at('DELETE', subscription, isOther),
    coded('CTX_INVALID_FIELD', 404),
  ),
  inAnswer(
    'subscription-ended',
    'it stays ACTIVE',
    ended,
    first((one) => {
      one.status = 'ACTIVE';
    }),
  ),
  inAnswer('ended-envelope', 'another action', ended, ({ body }) => {
    body.context.action = 'catalog/unsubscribe';
  }),
  inAnswer(
    'ended-updated',
    'updatedAt stays',
    ended,
    first((one) => {
      one.updatedAt = one.createdAt;
    }),
  ),
  inAnswer(
    'ended-listed',
    'it is listed as ACTIVE',
    listed((query) => query.has('subscriptionId') && !query.has('status')),
    first((one) => {
      one.status = 'ACTIVE';
    }),
  ),
];

/** The subscription of the run is visible to everybody. */
function seenByAll(): PlantedFault {
  let ours: Body;
  return {
    ...{ check: 'list-own-only', what: 'everybody sees all of them', group: 1 },
    answer(answer, request) {
      if (created(request, answer)) ours = structuredClone(answer.body.message.subscriptions[0]);
      if (isOther(request) && request.method === 'GET') answer.body.message.subscriptions.push(ours);
    },
  };
}

function isTooMany({ query }: PassedRequest): boolean {
  return query.get('limit') === '101';
}
