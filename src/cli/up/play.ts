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

// What the participants of the demo network do once the roles are there, by signed requests as everybody else: a discovery service that is
// going to be down subscribes; a facilitator, a grocer and a charging operator publish.

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

/** A callback that is waited for may still come. */
const finishMs = 1_000;

/** Who subscribes is pushed only what is published later. */
async function play(config: Config, database: Database, signal: AbortSignal): Promise<void> {
  await subscribeWhoIsDown(config);
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

/** Waits for the result: what extends a master must not be sent before that is there. */
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

/** Subscribing once more changes nothing. */
async function subscribeWhoIsDown(config: Config): Promise<void> {
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
