import type { Catalog, ReceivedCatalog } from '../../../src/protocol/catalog.ts';
import type { Intent } from '../../../src/protocol/discover-messages.ts';
import type { PublishResult } from '../../../src/protocol/publish-messages.ts';
import type { SearchFilters } from '../../../src/protocol/search-messages.ts';
import type {
  ListSubscriptionsQuery,
  Subscription,
  SubscriptionSelection,
} from '../../../src/protocol/subscription-messages.ts';
import { createAwaitedCallbacks } from './awaited-callbacks.ts';
import type { CallOptions, Core } from './core.ts';
import { type DiscoverOptions, discover, type Found } from './discover.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';
import { readOptions, type SignpostOptions } from './options.ts';
import { type PublishOptions, publish } from './publish.ts';
import { type PullOptions, pull } from './pull.ts';
import { type ReceivedRequest, receive, type SentAnswer } from './receive.ts';
import { type SearchOptions, search } from './search.ts';
import { listSubscriptions, type SubscribeOptions, subscribe, unsubscribe } from './subscriptions.ts';

/** A participant of a network: it signs messages that it sends, and verifies those that it receives. */
export class Signpost {
  readonly #core: Core;
  #listener: Listener | undefined;

  constructor(options: SignpostOptions) {
    const settings = readOptions(options);
    this.#core = { settings, awaited: createAwaitedCallbacks(), callbacks: settings.callbacks };
  }

  /** Resolves with the results of catalog/on_publish, one per catalog. A result may be REJECTED or PARTIAL, with its errors. */
  publish(catalogs: Catalog | readonly Catalog[], options?: PublishOptions): Promise<PublishResult[]> {
    return publish(this.#core, catalogs, options);
  }

  /** The hits of a discovery service; requests pages on demand. A string is a text search. */
  discover(intent: Intent | string, options?: DiscoverOptions): AsyncGenerator<Found, void, void> {
    return discover(this.#core, intent, options);
  }

  /** Afterwards, matching catalogs are pushed to your registered address: see `onMessage`. */
  subscribe(selection: SubscriptionSelection, options?: SubscribeOptions): Promise<Subscription> {
    return subscribe(this.#core, selection, options);
  }

  subscriptions(query?: ListSubscriptionsQuery, options?: CallOptions): Promise<Subscription[]> {
    return listSubscriptions(this.#core, query, options);
  }

  unsubscribe(subscriptionId: string, options?: CallOptions): Promise<Subscription> {
    return unsubscribe(this.#core, subscriptionId, options);
  }

  pull(subscriptionId: string, options?: PullOptions): AsyncGenerator<ReceivedCatalog, void, void> {
    return pull(this.#core, subscriptionId, options);
  }

  /** Catalogs of a catalog service by type, network and schema type; default type: MASTER. */
  search(filters?: SearchFilters, options?: SearchOptions): AsyncGenerator<ReceivedCatalog, void, void> {
    return search(this.#core, filters, options);
  }

  /** Handles a request that your server received. The adapters call it. */
  receive(request: ReceivedRequest): Promise<SentAnswer> {
    return receive(this.#core, request);
  }

  /** For scripts: a server for callbacks, at the address of `callbacks` or on a free port of this machine. */
  async listen(options?: ListenOptions): Promise<Listener> {
    const { callbacks } = this.#core.settings;
    const listener = await listen(this, callbacks, options);
    this.#listener = listener;
    this.#core.callbacks = callbacks ?? listener.url;
    return listener;
  }

  /** Stops listening, and ends calls that wait for a callback. */
  async close(): Promise<void> {
    this.#core.awaited.close();
    await this.#listener?.close();
    this.#listener = undefined;
  }
}
