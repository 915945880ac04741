import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import {
  downDiscoveryId,
  downDiscoveryUrl,
  type SignedPublish,
  servicePublishes,
} from '../../demo/network.ts';
import type { Logger } from '../../logger.ts';
import { type Action, actions } from '../../protocol/actions.ts';
import type { PublishMessage } from '../../protocol/publish-messages.ts';
import { findCatalog } from '../../storage/catalog/catalogs.ts';
import type { Database } from '../../storage/database.ts';
import { CommandError } from '../command.ts';
import { listenForCallback } from '../send/callback.ts';
import { exchange, withRegistry } from '../send/exchange.ts';
import { isAccepted, readRefusal } from '../send/report.ts';
import { buildRequest, prepareDraft } from '../send/request.ts';
import { resolveSigner } from '../send/signer.ts';

// The participants of the demo network send signed requests once the roles run: a discovery service that does not answer afterwards subscribes, then a
// facilitator, a grocer and a charging operator publish.

export interface Playing {
  /** Resolves when everything has been published, or has failed. */
  done: Promise<void>;
  close(): Promise<void>;
}

export function playDemo(config: Config, database: Database, logger: Logger): Playing {
  const stop = new AbortController();
  const done = play(config, database, stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) logger.warn({ err: error }, 'a part of the demo could not be published');
  });
  return {
    done,
    async close() {
      stop.abort();
      await Promise.race([done, delay(finishMs, undefined, { ref: false })]);
    },
  };
}

/** How long the end waits for a publish whose callback has not arrived. */
const finishMs = 1_000;

/** The subscription comes first: a subscriber is pushed only the catalogs that are published later. */
async function play(config: Config, database: Database, signal: AbortSignal): Promise<void> {
  await subscribeDownDiscovery(config);
  for (const { as, message } of servicePublishes(config.DEFAULT_NETWORK_ID)) {
    const missing = await withoutPublished(database, message);
    signal.throwIfAborted();
    if (missing.catalogs.length > 0) await publishToService(config, { as, message: missing });
  }
}

/** Catalogs that the service has are left as they are: somebody may have changed them. */
async function withoutPublished(database: Database, message: PublishMessage): Promise<PublishMessage> {
  const found = await Promise.all(message.catalogs.map(({ id }) => findCatalog(database, id)));
  const catalogs = message.catalogs.filter((_, index) => found[index] === undefined);
  const isMissing = (catalogId: string) => catalogs.some(({ id }) => id === catalogId);
  const publishDirectives = message.publishDirectives?.filter(({ catalogId }) => isMissing(catalogId));
  return { catalogs, publishDirectives };
}

/** Waits for on_publish: a catalog that extends a master must not be sent before the master is stored. */
async function publishToService(config: Config, { as, message }: SignedPublish): Promise<void> {
  const { draft, self } = prepare(config, as, actions.publish, message);
  await withRegistry(config, async (registry, client) => {
    const address = { host: '127.0.0.1', port: 0 };
    const listener = await listenForCallback({
      ...{ address, draft, self, registry, config, onRefused: () => undefined },
    });
    try {
      const request = buildRequest(draft, { self, uri: listener.url, now: new Date() });
      await listener.expect(request);
      const answer = await exchange(request, registry, client);
      if (!isAccepted(answer))
        throw new CommandError(`${as} was refused: ${readRefusal(answer.body).reason}`);
      await listener.wait(resultSeconds);
    } finally {
      await listener.close();
    }
  });
}

const resultSeconds = 30;

/** Idempotent: at the next start the subscription is there already. */
async function subscribeDownDiscovery(config: Config): Promise<void> {
  const subscription = { networkIds: [config.DEFAULT_NETWORK_ID] };
  const { draft, self } = prepare(config, downDiscoveryId, actions.subscribe, { subscription });
  await withRegistry(config, async (registry, client) => {
    const answer = await exchange(
      buildRequest(draft, { self, uri: downDiscoveryUrl, now: new Date() }),
      registry,
      client,
    );
    if (!isAccepted(answer))
      throw new CommandError(`${downDiscoveryId} was refused: ${readRefusal(answer.body).reason}`);
  });
}

function prepare(config: Config, as: string, { name: action }: Action, message: object) {
  const bytes = Buffer.from(JSON.stringify({ context: {}, message }));
  const draft = prepareDraft({ to: config.identities.catalog.url, method: 'POST', action, bytes });
  return { draft, self: resolveSigner({ as }, config) };
}
