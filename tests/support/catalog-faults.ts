import { generateSeed, privateKeyFromSeed } from '../../src/protocol/keys.ts';
import type { Body } from './actor.ts';
import type { PassedAnswer, PassedMessage, PassedRequest } from './broken-service.ts';
import {
  accepted,
  coded,
  inAnswer,
  inMessage,
  type PlantedFault,
  refusedBy,
  requestFaults,
  type When,
} from './request-faults.ts';

// Faults of a catalog service, one for each check that should find it.

const search = '/catalog/search';
const publish = '/catalog/publish';
const pull = '/catalog/pull';
const subscription = '/catalog/subscription';

/** The identity that the second caller has in the tests. */
export const otherId = 'other.signpost.test';

const isOther = ({ authorization = '' }: PassedRequest) => authorization.includes(`keyId="${otherId}|`);
const sent = ({ body }: PassedRequest): Body => body?.message ?? {};
const at =
  (method: string, path: string, fits: When = () => true): When =>
  (request, answer) =>
    request.method === method && request.path === path && fits(request, answer);
const refused =
  (path: string, fits: (message: Body) => unknown, status = 400): When =>
  (request, answer) =>
    answer.status === status && request.path === path && fits(sent(request));
const created = at('POST', subscription, (_request, { status }) => status === 200);
const ended = at('DELETE', subscription, (_request, { status }) => status === 200);
const listed = (fits: (query: URLSearchParams) => unknown) =>
  at('GET', subscription, ({ query }, { status }) => status === 200 && fits(query));
const found = (fits: (message: Body) => unknown): When =>
  at('POST', search, (request, { status }) => status === 200 && fits(sent(request)));

/** Changes the first subscription of an answer. */
const first = (change: (subscription: Body) => void) => (answer: PassedAnswer) =>
  change(answer.body.message.subscriptions[0]);
const named = (name: string) => (one: Body) => String(one.id ?? one.catalogId).endsWith(`-${name}`);
/** Changes a catalog of a search, where it is in the answer. */
const catalog = (name: string, change: (catalog: Body) => void) => (answer: PassedAnswer) =>
  answer.body.message.catalogs.filter(named(name)).forEach(change);
const has = (one: Body, name: string) => one.resources.some(named(name));

const onPublish = ({ action, body }: PassedMessage) =>
  action === 'catalog/on_publish' &&
  body.message.results.some(named('offers')) &&
  !body.message.results.some(named('master'));
const resultOf =
  (name: string) =>
  ({ action, body }: PassedMessage) =>
    action === 'catalog/on_publish' && body.message.results.some(named(name));
const result = (name: string, change: (result: Body) => void) => (message: PassedMessage) =>
  message.body.message.results.filter(named(name)).forEach(change);
const isOrphans = ({ action, body }: PassedMessage) =>
  action === 'catalog/on_publish' &&
  body.message.results.length === 1 &&
  body.message.results.some(named('orphans'));
const onPull = ({ action }: PassedMessage) => action === 'catalog/on_pull';
const push = ({ action, body }: PassedMessage) =>
  action === 'catalog/push' && body.message.catalogs.some(named('chargers'));
const stranger = () => ({
  ...{ subscriberId: '', recordId: '', privateKey: privateKeyFromSeed(generateSeed()) },
});

const subscriptionFaults: PlantedFault[] = [
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

/** The subscription of the run is shown to everybody. */
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

const only = (message: Body): Body => message.catalogs?.[0] ?? {};

const publishFaults: PlantedFault[] = [
  inAnswer(
    'publish-without-catalogs',
    'it is taken',
    refused(publish, ({ catalogs }) => catalogs?.length === 0),
    accepted,
  ),
  inAnswer(
    'required-field-missing',
    'another code',
    refused(publish, (message) => only(message).id !== undefined && !only(message).provider),
    coded('SCH_SCHEMA_VALIDATION_FAILED'),
  ),
  inAnswer(
    'catalog-needs-content',
    'it is taken',
    refused(publish, (message) => only(message).provider && !only(message).resources),
    accepted,
  ),
  inAnswer(
    'schema-violated',
    'another code',
    refused(publish, ({ catalogs }) => catalogs === 'none'),
    coded('SCH_INVALID_FORMAT'),
  ),
  inAnswer(
    'format-invalid',
    'it is taken',
    refused(publish, (message) => only(message).validity),
    accepted,
  ),
  inAnswer(
    'directive-names-catalog',
    'another code',
    refused(publish, ({ publishDirectives }) => publishDirectives?.[0]?.catalogId.endsWith('-other')),
    coded('SCH_REQUIRED_FIELD_MISSING'),
  ),
  inAnswer(
    'directive-names-resource',
    'it is taken',
    refused(publish, ({ publishDirectives }) => publishDirectives?.[0]?.resourceDirectives),
    accepted,
  ),
  inAnswer(
    'directive-type',
    'another code',
    refused(publish, ({ publishDirectives }) => publishDirectives?.[0]?.catalogType === 'OTHER'),
    coded('SCH_SCHEMA_VALIDATION_FAILED'),
  ),
  inAnswer(
    'body-too-large',
    'another status',
    refused(publish, () => true, 413),
    coded('SCH_SCHEMA_VALIDATION_FAILED', 400),
  ),
  inAnswer(
    'publish-acknowledged',
    'the acknowledgement has a context',
    at('POST', publish, (request) => sent(request).catalogs?.length === 4),
    ({ body }) => {
      body.context = {};
    },
  ),
  inMessage('on-publish-comes', 'none comes', onPublish, dropped, 'alone'),
  inMessage('on-publish-action', 'the action is that of the request', onPublish, ({ body }) => {
    body.context.action = 'catalog/publish';
  }),
  inMessage(
    'on-publish-digest',
    'requestDigest is missing',
    onPublish,
    ({ body }) => delete body.context.requestDigest,
  ),
  inMessage('on-publish-signed', 'another key signs', onPublish, (message) => {
    message.signer = stranger();
  }),
  inMessage('on-publish-shape', 'stats have no numbers', onPublish, ({ body }) => {
    body.message.results[0].stats = { itemCount: 'two' };
  }),
  inMessage('on-publish-results', 'a result comes twice', onPublish, ({ body }) =>
    body.message.results.push(body.message.results.find(named('plain'))),
  ),
  inMessage(
    'sound-accepted',
    'a sound catalog is REJECTED',
    onPublish,
    result('plain', (one) => {
      one.status = 'REJECTED';
    }),
  ),
  inMessage(
    'offers-alone-accepted',
    'resources are asked for',
    onPublish,
    result('offers', (one) => {
      one.status = 'REJECTED';
    }),
  ),
  inMessage(
    'attributes-checked',
    'attributes are not checked',
    onPublish,
    result('mixed', (one) => {
      one.status = 'ACCEPTED';
    }),
  ),
  inMessage(
    'result-errors',
    'errors are missing',
    onPublish,
    result('mixed', (one) => delete one.errors),
    2,
  ),
  inAnswer(
    'attributes-typed',
    'another status',
    refused(publish, (message) => named('untyped')(only(message))),
    coded('SCH_REQUIRED_FIELD_MISSING', 422),
  ),
  inMessage('on-publish-once', 'it comes twice', onPublish, (message) => {
    message.also = [...(message.also ?? []), { action: 'catalog/on_publish', body: message.body }];
  }),
];

function dropped(message: PassedMessage): void {
  message.isDropped = true;
}

const pushFaults: PlantedFault[] = [
  inMessage('push-comes', 'none comes', push, dropped, 'alone'),
  inMessage('push-signed', 'another key signs', push, (message) => {
    message.signer = stranger();
  }),
  inMessage('push-sender', 'bppId is that of the publisher', push, ({ body }) => {
    body.context.bppId = 'somebody.example';
  }),
  inMessage(
    'push-shape',
    'directives are missing',
    push,
    ({ body }) => delete body.message.publishDirectives,
  ),
  inMessage('push-keeps-publisher', 'bppId is that of the service', push, ({ body }) => {
    for (const one of body.message.catalogs) one.bppId = 'somebody.example';
  }),
  inMessage('push-matches-type', 'everything is pushed', push, (message) => {
    const body = structuredClone(message.body);
    body.message.catalogs[0].id = body.message.catalogs[0].id.replace(/chargers$/, 'plain');
    message.also = [...(message.also ?? []), { action: 'catalog/push', body }];
  }),
  pushedForEver(),
];

/** What is published after the end of the subscription is pushed, too. */
function pushedForEver(): PlantedFault {
  let last: Body;
  return {
    ...{ check: 'push-while-active', what: 'pushes go on after the end', group: 1 },
    message(message) {
      if (push(message)) last = structuredClone(message.body);
      if (!resultOf('chargers')(message) || !resultOf('master')(message)) return;
      const body = structuredClone(last);
      body.message.catalogs[0].resources = [{ id: `${body.message.catalogs[0].id}-withdrawn` }];
      message.also = [...(message.also ?? []), { action: 'catalog/push', body }];
    },
  };
}

const plainSearch = found((message) => Object.keys(message).length === 0);
const regular = found(({ filters }) => filters?.type === 'REGULAR');

const searchFaults: PlantedFault[] = [
  inAnswer('search-envelope', 'the action is that of the request', plainSearch, ({ body }) => {
    body.context.action = 'catalog/search';
  }),
  inAnswer('search-defaults', 'the page has another size', plainSearch, ({ body }) => {
    body.message.pagination.limit = 10;
  }),
  inAnswer(
    'search-finds',
    'nothing is found by its schema type',
    found(({ filters }) => filters?.schemaTypes),
    ({ body }) => {
      body.message.catalogs = [];
    },
  ),
  inAnswer(
    'search-assembled',
    'provider is missing',
    found(({ filters, limit }) => filters?.type === 'REGULAR' && limit === undefined),
    ({ body }) => delete body.message.catalogs[0].provider,
  ),
  foundWithoutType(),
  inAnswer(
    'search-networks',
    'the network does not matter',
    found(({ filters }) => filters?.networkIds?.[0]?.endsWith('/none')),
    ({ body }, request) => {
      const [network] = sent(request).filters.networkIds;
      body.message.catalogs.push({ id: network.replace(/network\.example\/none$/, 'plain') });
    },
  ),
  inAnswer(
    'search-limit-kept',
    'more than limit come',
    found(({ limit, filters }) => limit === 1 && filters?.type),
    ({ body }) => body.message.catalogs.push(body.message.catalogs[0]),
  ),
  inAnswer(
    'search-limit-range',
    'any limit is taken',
    refused(search, ({ limit }) => limit === 101),
    accepted,
  ),
  inAnswer(
    'enum-invalid',
    'another code',
    refused(search, ({ filters }) => filters?.type === 'OTHER'),
    coded('SCH_SCHEMA_VALIDATION_FAILED'),
  ),
  inAnswer(
    'merge-retains',
    'what is not named is lost',
    regular,
    catalog('chargers', (one) => {
      if (has(one, 'r3')) one.resources = one.resources.filter((resource: Body) => !named('r1')(resource));
    }),
  ),
  inAnswer(
    'merge-upserts',
    'what is there stays',
    regular,
    catalog('chargers', (one) => {
      for (const resource of one.resources.filter(named('r2'))) resource.descriptor.name = 'as before';
    }),
  ),
  inAnswer(
    'full-replaces',
    'what is not named stays',
    regular,
    catalog('chargers', (one) => {
      if (has(one, 'r4')) one.resources.push({ id: one.id.replace(/chargers$/, 'r1') });
    }),
  ),
  inAnswer(
    'master-inherited',
    'the template is forgotten',
    regular,
    catalog('extending', (one) => {
      for (const resource of one.resources) delete resource.resourceAttributes?.attributes;
    }),
  ),
  inMessage(
    'template-immutable',
    'values of the template may differ',
    resultOf('extending'),
    result('extending', (one) => {
      one.status = 'ACCEPTED';
    }),
  ),
  inMessage(
    'master-known',
    'any master will do',
    isOrphans,
    result('orphans', (one) => {
      one.status = 'ACCEPTED';
    }),
  ),
  inMessage(
    'master-without-offers',
    'a MASTER may have offers',
    resultOf('offering'),
    result('offering', (one) => {
      one.status = 'ACCEPTED';
    }),
  ),
];

/** REGULAR catalogs are found where no type is asked for. */
function foundWithoutType(): PlantedFault {
  let regularOne: Body;
  const withoutType = found(({ filters, limit }) => filters?.networkIds && !filters.type && limit === 100);
  return {
    ...{ check: 'search-masters', what: 'REGULAR ones are found without a type', group: 1 },
    answer(answer, request) {
      const { catalogs } = sent(request);
      if (Array.isArray(catalogs)) regularOne = catalogs.find(named('plain')) ?? regularOne;
      if (withoutType(request, answer)) answer.body.message.catalogs.push(regularOne);
    },
  };
}

const pullFaults: PlantedFault[] = [
  inAnswer('pull-incremental', 'it is taken', refusedBy('NET_NOT_IMPLEMENTED'), accepted),
  inAnswer(
    'pull-invalid-subscription',
    'it is taken',
    refused(pull, ({ subscriptionId }) => subscriptionId === 'none'),
    accepted,
  ),
  inAnswer(
    'pull-unknown-subscription',
    'another status',
    refused(pull, () => true, 404),
    coded('CTX_INVALID_FIELD', 400),
  ),
  inAnswer('pull-own-only', 'another status', at('POST', pull, isOther), coded('CTX_INVALID_FIELD', 404)),
  inAnswer(
    'pull-limit',
    'any limit is taken',
    refused(pull, ({ limit }) => limit === 101),
    accepted,
  ),
  inAnswer(
    'pull-dates-ignored',
    'they are looked at',
    at('POST', pull, (request) => sent(request).fromDate),
    (answer, request) => {
      const error = { code: 'NET_CATALOG_STALE', message: 'There is nothing so old.' };
      answer.status = 400;
      answer.body = { message: { status: 'NACK', messageId: request.body.context.messageId, error } };
    },
  ),
  inAnswer(
    'pull-acknowledged',
    'another messageId',
    at('POST', pull, (_request, { status }) => status === 200),
    ({ body }) => {
      body.message.messageId = 'another';
    },
  ),
  inMessage('on-pull-comes', 'none comes', onPull, dropped, 'alone'),
  inMessage('on-pull-action', 'the action is that of the request', onPull, ({ body }) => {
    body.context.action = 'catalog/pull';
  }),
  inMessage('on-pull-digest', 'requestDigest is that of another request', onPull, ({ body }) => {
    body.context.requestDigest.digest = `BLAKE-512=${'A'.repeat(86)}==`;
  }),
  inMessage('on-pull-signed', 'another key signs', onPull, (message) => {
    message.signer = stranger();
  }),
  inMessage(
    'on-pull-status',
    'FAILED comes with catalogs',
    onPull,
    ({ body }) => {
      body.message.status = 'FAILED';
    },
    2,
  ),
  inMessage('on-pull-one-form', 'both forms come', onPull, ({ body }) => {
    body.message.downloadManifest = { url: 'https://catalog.example/download' };
  }),
  inMessage(
    'on-pull-pagination',
    'pagination is missing',
    onPull,
    ({ body }) => delete body.message.pagination,
  ),
  inMessage('pull-latest', 'an earlier version comes', onPull, ({ body }) => {
    for (const one of body.message.catalogs.filter(named('chargers'))) one.resources = [{ id: 'r1' }];
  }),
  inMessage('pull-matches', 'everything comes', onPull, ({ body }) => {
    for (const { id } of body.message.catalogs.filter(named('chargers')))
      body.message.catalogs.push({ id: id.replace(/chargers$/, 'plain') });
  }),
  inAnswer(
    'pull-needs-active',
    'an ended subscription will do',
    refused(pull, ({ subscriptionId, limit, mode }) => subscriptionId !== 'none' && !limit && !mode),
    accepted,
  ),
  inAnswer(
    'codes-canonical',
    'a code of its own',
    refused(pull, () => true, 404),
    coded('CTX_NO_SUCH_SUBSCRIPTION'),
    2,
  ),
];

/** Those of downloads, which come only where an answer is large. */
export const downloadFaults: PlantedFault[] = [
  inMessage(
    'download-shape',
    'expiresAt is missing',
    onPull,
    ({ body }) => delete body.message.downloadManifest.expiresAt,
  ),
  inMessage('download-checksum', 'the checksum is another one', onPull, ({ body }) => {
    body.message.downloadManifest.checksum = `sha256:${'0'.repeat(64)}`;
  }),
];

export const catalogFaults: readonly PlantedFault[] = [
  ...requestFaults(search, { method: 'GET', path: subscription }),
  ...subscriptionFaults,
  ...publishFaults,
  ...pushFaults,
  ...searchFaults,
  ...pullFaults,
];
