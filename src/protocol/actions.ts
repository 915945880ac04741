import { Acknowledgement } from './acknowledgement.ts';
import { CrawlLogAnswer, CrawlLogQuery } from './crawl-messages.ts';
import { checkDiscoverMessage, DiscoverRequest, OnDiscoverCallback } from './discover-messages.ts';
import { type Endpoint, endpoints } from './endpoints.ts';
import { checkPublishMessage, OnPublishCallback, PublishRequest, PushRequest } from './publish-messages.ts';
import { checkOnPullMessage, checkPullMessage, OnPullCallback, PullRequest } from './pull-messages.ts';
import { SearchAnswer, SearchRequest } from './search-messages.ts';
import {
  ListSubscriptionsQuery,
  SubscribeQuery,
  SubscribeRequest,
  SubscriptionsAnswer,
  UnsubscribeQuery,
} from './subscription-messages.ts';
import type { TObject, TSchema } from './type.ts';

export interface Action extends Endpoint {
  summary: string;
  body?: TObject<{ context: TObject; message: TObject }>;
  /** Checks constraints between parts of a message that its schema cannot express; throws. */
  check?(message: object): void;
  query?: TObject;
  answer: TSchema;
  /** The `context.action` of that answer, where it has a context. */
  answerAction?: string;
  /** Whether an accepted request is remembered, so that a repeat gets the same answer. */
  remembered: boolean;
  bodyLimit: 'request' | 'bulk';
}

const subscription = {
  answer: SubscriptionsAnswer,
  answerAction: 'catalog/on_subscription',
  bodyLimit: 'request',
} as const;

const acknowledged = { answer: Acknowledgement, remembered: true, bodyLimit: 'request' } as const;
/** A discovery service answers with up to 8 MiB, more than the limit of a request. */
const callback = { answer: Acknowledgement, remembered: false, bodyLimit: 'bulk' } as const;

export const actions = {
  subscribe: {
    ...endpoints.subscribe,
    ...subscription,
    summary: 'Create a subscription; with a subscriptionId, update or reactivate that one.',
    body: SubscribeRequest,
    query: SubscribeQuery,
    remembered: true,
  },
  listSubscriptions: {
    ...endpoints.listSubscriptions,
    ...subscription,
    summary: "List the caller's subscriptions.",
    query: ListSubscriptionsQuery,
    remembered: false,
  },
  unsubscribe: {
    ...endpoints.unsubscribe,
    ...subscription,
    summary: 'Deactivate a subscription.',
    query: UnsubscribeQuery,
    remembered: true,
  },
  publish: {
    ...endpoints.publish,
    ...acknowledged,
    summary: 'Publish catalogs; results come on catalog/on_publish.',
    body: PublishRequest,
    check: checkPublishMessage,
  },
  onPublish: {
    ...endpoints.onPublish,
    ...callback,
    summary: 'Results of a publish, one per catalog.',
    body: OnPublishCallback,
    bodyLimit: 'request',
  },
  push: {
    ...endpoints.push,
    ...acknowledged,
    summary: 'Receive catalogs from a catalog service that this service subscribes to.',
    body: PushRequest,
    check: checkPublishMessage,
    bodyLimit: 'bulk',
  },
  pull: {
    ...endpoints.pull,
    ...acknowledged,
    summary: 'Ask for the catalogs of a subscription; they come on catalog/on_pull.',
    body: PullRequest,
    check: checkPullMessage,
  },
  onPull: {
    ...endpoints.onPull,
    ...callback,
    summary: 'The catalogs of a pull, inline or as a download.',
    body: OnPullCallback,
    check: checkOnPullMessage,
  },
  search: {
    ...endpoints.search,
    summary: 'Search the indexed catalogs by type, network and schema type.',
    body: SearchRequest,
    answer: SearchAnswer,
    answerAction: 'catalog/on_search',
    remembered: false,
    bodyLimit: 'request',
  },
  discover: {
    ...endpoints.discover,
    ...acknowledged,
    summary: 'Find resources by text, filter and place; they come on on_discover.',
    body: DiscoverRequest,
    check: checkDiscoverMessage,
  },
  onDiscover: {
    ...endpoints.onDiscover,
    ...callback,
    summary: 'The catalogs that a discover found.',
    body: OnDiscoverCallback,
  },
  crawlLog: {
    ...endpoints.crawlLog,
    summary: "Read which of the caller's own files the crawler did not accept, why, and what to do about it.",
    query: CrawlLogQuery,
    answer: CrawlLogAnswer,
    remembered: false,
    bodyLimit: 'request',
  },
} as const satisfies Record<string, Action>;
