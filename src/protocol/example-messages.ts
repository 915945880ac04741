/**
 * One example of every message, for the OpenAPI documents, the collection of requests and the description of flows; a test sends each of them. A provider publishes one catalog, a discovery service subscribes
 * to it and pulls it, a consumer finds it.
 */
import { type Acknowledgement, ack } from './acknowledgement.ts';
import type { actions } from './actions.ts';
import { type Context, callbackContext } from './context.ts';
import type { CrawlLogAnswer } from './crawl-messages.ts';
import { bodyDigest } from './digest.ts';
import type { DiscoverMessage, OnDiscoverMessage } from './discover-messages.ts';
import { type Endpoint, endpoints, protocolVersion } from './endpoints.ts';
import {
  catalog,
  catalogService,
  consumer,
  discoveryService,
  exampleIds as ids,
  networkId,
  passedOn,
  provider,
} from './example-catalog.ts';
import type { OnPublishMessage, PublishDirective, PublishMessage } from './publish-messages.ts';
import type { OnPullMessage, PullMessage } from './pull-messages.ts';
import type { SearchMessage } from './search-messages.ts';
import type { SubscribeMessage, Subscription } from './subscription-messages.ts';

export interface Example {
  summary: string;
  description?: string;
  value: object;
}

export interface ActionExamples {
  query?: Readonly<Record<string, string | number>>;
  bodies: Readonly<Record<string, Example>>;
  answer: object;
}

const asked = '2026-01-31T12:00:00Z';
const answered = new Date('2026-01-31T12:00:01Z');

const directive: PublishDirective = {
  catalogId: catalog.id,
  catalogType: 'REGULAR',
  updateMode: 'FULL',
  visibleTo: [networkId],
};

const subscription: Subscription = {
  subscriptionId: ids.subscription,
  status: 'ACTIVE',
  networkIds: [networkId],
  schemaTypes: [],
  createdAt: asked,
  updatedAt: asked,
};
const pagination = { total: 1, limit: 20, offset: 0 };

const publish: PublishMessage = { catalogs: [catalog], publishDirectives: [directive] };
const push: PublishMessage = { catalogs: [passedOn], publishDirectives: [directive] };
const subscribe: SubscribeMessage = { subscription: { networkIds: [networkId] } };
const pull: PullMessage = { subscriptionId: ids.subscription, limit: 20 };
const search: SearchMessage = { filters: { type: 'REGULAR', networkIds: [networkId] }, limit: 20 };
const byWordAndPlace: DiscoverMessage = {
  intent: {
    textSearch: 'fast charger',
    spatial: [
      {
        op: 'S_DWITHIN',
        targets: '$.catalogs[*].provider.availableAt[*].geo',
        geometry: { type: 'Point', coordinates: [77.64, 12.97] },
        distanceMeters: 5_000,
      },
    ],
  },
  limit: 20,
};
const byFilter: DiscoverMessage = {
  intent: {
    filters: {
      type: 'jsonpath',
      expression: "$.catalogs[*].resources[?@.resourceAttributes.attributes.connectorType == 'CCS2']",
    },
  },
};

const accepted: OnPublishMessage = {
  results: [
    {
      catalogId: catalog.id,
      status: 'ACCEPTED',
      stats: { itemCount: 1, providerCount: 1, categoryCount: 1 },
    },
  ],
};
const partial: OnPublishMessage = {
  results: [
    {
      catalogId: catalog.id,
      status: 'PARTIAL',
      stats: { itemCount: 0, providerCount: 1, categoryCount: 0 },
      errors: [
        {
          code: 'SCH_INVALID_ENUM',
          message: 'connectorType must be one of CCS2, CHAdeMO, Type2',
          details: { path: '$.message.catalogs[0].resources[0].resourceAttributes.attributes.connectorType' },
        },
      ],
    },
  ],
};
const inline: OnPullMessage = { status: 'COMPLETED', catalogs: [passedOn], pagination };
const download: OnPullMessage = {
  status: 'COMPLETED',
  downloadManifest: {
    url: 'https://catalog.example.org/downloads/9d2b1c6a?expires=1769947200&signature=c2lnbmF0dXJl',
    expiresAt: '2026-02-01T12:00:00Z',
    format: 'json.gz',
    sizeBytes: 48_213,
    checksum: `sha256:${'5f'.repeat(32)}`,
  },
};
const failed: OnPullMessage = {
  status: 'FAILED',
  messageId: ids.message,
  error: { code: 'NET_INTERNAL_ERROR', message: 'internal error' },
};
const finder = { bppId: 'discovery.example.org', bppUri: 'https://discovery.example.org' };
const found: OnDiscoverMessage = { catalogs: [passedOn], pagination };
const crawlLog: CrawlLogAnswer = {
  entries: [
    {
      at: asked,
      nodeId: provider.bppId,
      indexUrl: 'https://provider.example.org/index/catalogs.index.json',
      catalogId: catalog.id,
      code: 'digest-mismatch',
      message: 'The file is not the one that the index names.',
      hint: 'Copy the files to the host again, the index last.',
    },
  ],
  pagination,
};

const acknowledged: Acknowledgement = ack(ids.message);

export const actionExamples = {
  subscribe: {
    bodies: { subscribe: body(endpoints.subscribe, 'All catalogs of a network', subscribe) },
    answer: answer('catalog/on_subscription', { subscriptions: [subscription] }),
  },
  listSubscriptions: {
    query: { status: 'ACTIVE', limit: 20, offset: 0 },
    bodies: {},
    answer: answer('catalog/on_subscription', { subscriptions: [subscription], pagination }),
  },
  unsubscribe: {
    query: { subscriptionId: ids.subscription },
    bodies: {},
    answer: answer('catalog/on_subscription', { subscriptions: [{ ...subscription, status: 'INACTIVE' }] }),
  },
  publish: {
    bodies: { publish: body(endpoints.publish, 'A charging station with its price', publish, provider) },
    answer: acknowledged,
  },
  onPublish: {
    bodies: {
      accepted: callback(endpoints.onPublish, 'The catalog was accepted unchanged', accepted, provider),
      partial: callback(endpoints.onPublish, 'A resource was left out', partial, provider),
    },
    answer: acknowledged,
  },
  push: {
    bodies: { push: body(endpoints.push, 'A catalog that was published', push, catalogService) },
    answer: acknowledged,
  },
  pull: {
    bodies: { pull: body(endpoints.pull, 'The first page of a subscription', pull, discoveryService) },
    answer: acknowledged,
  },
  onPull: {
    bodies: {
      inline: callback(endpoints.onPull, 'The catalogs themselves', inline, discoveryService),
      download: callback(endpoints.onPull, 'Too many for a message: a download', download, discoveryService),
      failed: callback(endpoints.onPull, 'The pull failed', failed, discoveryService),
    },
    answer: acknowledged,
  },
  search: {
    bodies: { search: body(endpoints.search, 'The regular catalogs of a network', search, discoveryService) },
    answer: answer('catalog/on_search', { catalogs: [passedOn], pagination }),
  },
  discover: {
    bodies: {
      words: body(endpoints.discover, 'By words, within 5 km of a place', byWordAndPlace, consumer),
      filter: body(endpoints.discover, 'By a condition on the attributes', byFilter, consumer),
    },
    answer: acknowledged,
  },
  onDiscover: {
    bodies: {
      found: callback(endpoints.onDiscover, 'One charger, with its offer', found, { ...consumer, ...finder }),
    },
    answer: acknowledged,
  },
  crawlLog: { query: { nodeId: provider.bppId, limit: 20, offset: 0 }, bodies: {}, answer: crawlLog },
} satisfies Record<keyof typeof actions, ActionExamples>;

function context(action: string, parties: Partial<Context> = {}): Context {
  return {
    version: protocolVersion,
    action,
    messageId: ids.message,
    transactionId: ids.transaction,
    timestamp: asked,
    ...parties,
  };
}

function body(endpoint: Endpoint, summary: string, message: object, parties?: Partial<Context>): Example {
  return { summary, value: { context: context(endpoint.name, parties), message } };
}

function callback({ name }: Endpoint, summary: string, message: object, parties: Partial<Context>): Example {
  const requestDigest = bodyDigest(Buffer.from('the body of the request'));
  const answering = callbackContext(name, context(name, parties), { now: answered, requestDigest });
  return { summary, value: { context: answering, message } };
}

function answer(action: string, message: object): object {
  return { context: context(action), message };
}
