/**
 * Every action of the protocol in one table (catalog spec: Endpoints), and one of ours, read by server, client,
 * command line and documentation.
 */
import type { TObject, TSchema } from 'typebox';
import { Acknowledgement } from './acknowledgement.ts';
import { CrawlLogAnswer, CrawlLogQuery } from './crawl-messages.ts';
import { checkDiscoverMessage, DiscoverRequest, OnDiscoverCallback } from './discover-messages.ts';
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

export interface Action {
  /** The `context.action` of its body. */
  name: string;
  method: 'POST' | 'GET' | 'DELETE';
  path: string;
  kind: 'request' | 'callback';
  summary: string;
  /** The whole body. */
  body?: TObject<{ context: TObject; message: TObject }>;
  /** What the parts of a message must have in common, beyond its schema; throws. */
  check?(message: object): void;
  query?: TObject;
  /** The body of the synchronous answer, on success. */
  answer: TSchema;
  /** The `context.action` of that answer, where it has a context. */
  answerAction?: string;
  /** Side of the context that must name the signer. */
  caller?: 'bpp' | 'bap';
  /** Action that answers later. */
  callback?: string;
  /** Whether an accepted request is remembered, so that a repeat gets the same answer. */
  remembered: boolean;
  bodyLimit: 'request' | 'bulk';
}

const subscription = {
  name: 'catalog/subscription',
  path: '/catalog/subscription',
  kind: 'request',
  answer: SubscriptionsAnswer,
  answerAction: 'catalog/on_subscription',
  bodyLimit: 'request',
} as const;

export const actions = {
  subscribe: {
    ...subscription,
    method: 'POST',
    summary: 'Create a subscription; with a subscriptionId, update or reactivate that one.',
    body: SubscribeRequest,
    query: SubscribeQuery,
    remembered: true,
  },
  listSubscriptions: {
    ...subscription,
    method: 'GET',
    summary: "List the caller's subscriptions.",
    query: ListSubscriptionsQuery,
    remembered: false,
  },
  unsubscribe: {
    ...subscription,
    method: 'DELETE',
    summary: 'Deactivate a subscription.',
    query: UnsubscribeQuery,
    remembered: true,
  },
  publish: {
    name: 'catalog/publish',
    method: 'POST',
    path: '/catalog/publish',
    kind: 'request',
    summary: 'Publish catalogs; results come on catalog/on_publish.',
    body: PublishRequest,
    check: checkPublishMessage,
    answer: Acknowledgement,
    caller: 'bpp',
    callback: 'catalog/on_publish',
    remembered: true,
    bodyLimit: 'request',
  },
  onPublish: {
    name: 'catalog/on_publish',
    method: 'POST',
    path: '/catalog/on_publish',
    kind: 'callback',
    summary: 'Results of a publish, one per catalog.',
    body: OnPublishCallback,
    answer: Acknowledgement,
    remembered: false,
    bodyLimit: 'request',
  },
  push: {
    name: 'catalog/push',
    method: 'POST',
    path: '/catalog/push',
    kind: 'request',
    summary: 'Receive catalogs from a catalog service that this service subscribes to.',
    body: PushRequest,
    check: checkPublishMessage,
    answer: Acknowledgement,
    caller: 'bpp',
    remembered: true,
    bodyLimit: 'bulk',
  },
  pull: {
    name: 'catalog/pull',
    method: 'POST',
    path: '/catalog/pull',
    kind: 'request',
    summary: 'Ask for the catalogs of a subscription; they come on catalog/on_pull.',
    body: PullRequest,
    check: checkPullMessage,
    answer: Acknowledgement,
    caller: 'bap',
    callback: 'catalog/on_pull',
    remembered: true,
    bodyLimit: 'request',
  },
  onPull: {
    name: 'catalog/on_pull',
    method: 'POST',
    path: '/catalog/on_pull',
    kind: 'callback',
    summary: 'The catalogs that a pull asked for, inline or as a download.',
    body: OnPullCallback,
    check: checkOnPullMessage,
    answer: Acknowledgement,
    remembered: false,
    bodyLimit: 'bulk',
  },
  search: {
    name: 'catalog/search',
    method: 'POST',
    path: '/catalog/search',
    kind: 'request',
    summary: 'Search the indexed catalogs by type, network and schema type.',
    body: SearchRequest,
    answer: SearchAnswer,
    answerAction: 'catalog/on_search',
    remembered: false,
    bodyLimit: 'request',
  },
  discover: {
    name: 'discover',
    method: 'POST',
    path: '/discover',
    kind: 'request',
    summary: 'Find resources by text, filter and place; they come on on_discover.',
    body: DiscoverRequest,
    check: checkDiscoverMessage,
    answer: Acknowledgement,
    caller: 'bap',
    callback: 'on_discover',
    remembered: true,
    bodyLimit: 'request',
  },
  onDiscover: {
    name: 'on_discover',
    method: 'POST',
    path: '/on_discover',
    kind: 'callback',
    summary: 'The catalogs that a discover found.',
    body: OnDiscoverCallback,
    answer: Acknowledgement,
    remembered: false,
    // A discovery service answers with up to 8 MiB, more than the limit of a request.
    bodyLimit: 'bulk',
  },
  crawlLog: {
    name: 'crawl-log',
    method: 'GET',
    path: '/crawl-log',
    kind: 'request',
    summary: "Read what the crawler did not take of the caller's own files, why, and what to do about it.",
    query: CrawlLogQuery,
    answer: CrawlLogAnswer,
    remembered: false,
    bodyLimit: 'request',
  },
} as const satisfies Record<string, Action>;
