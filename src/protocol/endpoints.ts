/** The endpoints of the protocol (catalog spec: Endpoints), and one of ours. `actions.ts` adds the schemas, which take a fifth of a second to load: a command that only sends needs none. */
export interface Endpoint {
  name: string;
  method: 'POST' | 'GET' | 'DELETE';
  path: string;
  kind: 'request' | 'callback';
  /** Side of the context that must name the signer. */
  caller?: 'bpp' | 'bap';
  callback?: string;
}

/** The only existing version (catalog spec: Versioning). */
export const protocolVersion = '2.0.0';

/** A POST whose path is the name of its action. */
const post = <N extends string, K extends Endpoint['kind'], const R extends object = object>(
  kind: K,
  name: N,
  rest?: R,
) => ({ name, method: 'POST', path: `/${name}` as const, kind, ...(rest as R) }) as const;

const subscription = post('request', 'catalog/subscription');

export const endpoints = {
  subscribe: subscription,
  listSubscriptions: { ...subscription, method: 'GET' },
  unsubscribe: { ...subscription, method: 'DELETE' },
  publish: post('request', 'catalog/publish', { caller: 'bpp', callback: 'catalog/on_publish' }),
  onPublish: post('callback', 'catalog/on_publish'),
  push: post('request', 'catalog/push', { caller: 'bpp' }),
  pull: post('request', 'catalog/pull', { caller: 'bap', callback: 'catalog/on_pull' }),
  onPull: post('callback', 'catalog/on_pull'),
  search: post('request', 'catalog/search'),
  discover: post('request', 'discover', { caller: 'bap', callback: 'on_discover' }),
  onDiscover: post('callback', 'on_discover'),
  crawlLog: { name: 'crawl-log', method: 'GET', path: '/crawl-log', kind: 'request' },
} as const satisfies Record<string, Endpoint>;

/** Messages to a participant: the answers to its requests, and the catalogs of its subscriptions. */
export const receivedActions = ['onPublish', 'onPull', 'onDiscover', 'push'] as const;

/** The paths of a host's manifest, below its root (self-hosted spec: Endpoints); both have the same content. */
export const manifestPaths = ['.well-known/dedi.index.json', '.well-known/dedi.json'] as const;
