/**
 * The endpoints of the protocol (catalog spec: Endpoints), and one of ours. Plain values: `actions.ts` adds the shapes of the
 * bodies, which take a fifth of a second to load, and which a command that only sends does without.
 */
export interface Endpoint {
  /** The `context.action` of its body. */
  name: string;
  method: 'POST' | 'GET' | 'DELETE';
  path: string;
  kind: 'request' | 'callback';
  /** Side of the context that must name the signer. */
  caller?: 'bpp' | 'bap';
  /** Action that answers later. */
  callback?: string;
}

/** The only version there is (catalog spec: Versioning). */
export const protocolVersion = '2.0.0';

const subscription = {
  name: 'catalog/subscription',
  path: '/catalog/subscription',
  kind: 'request',
} as const;

export const endpoints = {
  subscribe: { ...subscription, method: 'POST' },
  listSubscriptions: { ...subscription, method: 'GET' },
  unsubscribe: { ...subscription, method: 'DELETE' },
  publish: {
    name: 'catalog/publish',
    method: 'POST',
    path: '/catalog/publish',
    kind: 'request',
    caller: 'bpp',
    callback: 'catalog/on_publish',
  },
  onPublish: {
    name: 'catalog/on_publish',
    method: 'POST',
    path: '/catalog/on_publish',
    kind: 'callback',
  },
  push: { name: 'catalog/push', method: 'POST', path: '/catalog/push', kind: 'request', caller: 'bpp' },
  pull: {
    name: 'catalog/pull',
    method: 'POST',
    path: '/catalog/pull',
    kind: 'request',
    caller: 'bap',
    callback: 'catalog/on_pull',
  },
  onPull: { name: 'catalog/on_pull', method: 'POST', path: '/catalog/on_pull', kind: 'callback' },
  search: { name: 'catalog/search', method: 'POST', path: '/catalog/search', kind: 'request' },
  discover: {
    name: 'discover',
    method: 'POST',
    path: '/discover',
    kind: 'request',
    caller: 'bap',
    callback: 'on_discover',
  },
  onDiscover: { name: 'on_discover', method: 'POST', path: '/on_discover', kind: 'callback' },
  crawlLog: { name: 'crawl-log', method: 'GET', path: '/crawl-log', kind: 'request' },
} as const satisfies Record<string, Endpoint>;

/** Messages to a participant: the answers to its requests, and catalogs that it subscribed to. */
export const receivedActions = ['onPublish', 'onPull', 'onDiscover', 'push'] as const;
