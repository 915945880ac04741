import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import {
  downDiscoveryId,
  downDiscoveryUrl,
  type SignedPublish,
  servicePublishes,
} from '../../demo/network.ts';
import { questions } from '../../demo/questions.ts';
import type { Logger } from '../../logger.ts';
import { actions } from '../../protocol/actions.ts';
import type { DiscoverMessage } from '../../protocol/discover-messages.ts';
import type { PublishMessage } from '../../protocol/publish-messages.ts';
import { findCatalog } from '../../storage/catalog/catalogs.ts';
import type { Database } from '../../storage/database.ts';
import { CommandError } from '../command.ts';
import { publishTo } from '../publish/to.ts';
import { sendMessage } from '../send/exchange.ts';
import { isAccepted, readRefusal } from '../send/report.ts';

// The participants of the demo network send signed requests once the roles run: one subscribes, three publish, and a consumer searches.

export function playDemo(config: Config, database: Database, logger: Logger) {
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

/** How long the shutdown waits for a publish whose callback has not arrived. */
const finishMs = 1_000;

/** Subscribes first: only later publishes are pushed to a subscriber. */
async function play(config: Config, database: Database, signal: AbortSignal): Promise<void> {
  await subscribeDownDiscovery(config);
  for (const { as, message } of servicePublishes(config.DEFAULT_NETWORK_ID)) {
    const missing = await withoutPublished(database, message);
    signal.throwIfAborted();
    if (missing.catalogs.length > 0) await publishToService(config, { as, message: missing });
  }
}

/** Skips catalogs that the service has, because they may have been changed. */
async function withoutPublished(database: Database, message: PublishMessage): Promise<PublishMessage> {
  const found = await Promise.all(message.catalogs.map(({ id }) => findCatalog(database, id)));
  const catalogs = message.catalogs.filter((_, index) => found[index] === undefined);
  const isMissing = (catalogId: string) => catalogs.some(({ id }) => id === catalogId);
  const publishDirectives = message.publishDirectives?.filter(({ catalogId }) => isMissing(catalogId));
  return { catalogs, publishDirectives };
}

/** Waits for on_publish: a catalog that extends a master must not be sent before the master is stored. */
async function publishToService(config: Config, { as, message }: SignedPublish): Promise<void> {
  const { url: to } = config.identities.catalog;
  const listen = { host: '127.0.0.1', port: 0 };
  const terminal = { config: () => config, note: () => undefined };
  await publishTo({ message }, { to, as, wait: resultSeconds, listen }, terminal);
}

const resultSeconds = 30;

/** Idempotent: at the next start the subscription exists already. */
async function subscribeDownDiscovery(config: Config): Promise<void> {
  const networkIds = [config.DEFAULT_NETWORK_ID];
  const answer = await sendMessage(config, {
    ...{ to: config.identities.catalog.url, as: downDiscoveryId, uri: downDiscoveryUrl },
    ...{ action: actions.subscribe.name, message: { subscription: { networkIds } } },
  });
  if (isAccepted(answer)) return;
  throw new CommandError(`${downDiscoveryId} was refused: ${readRefusal(answer.body).reason}`);
}

/** A consumer that sends a search to the discovery service every half minute. The answers arrive in the inbox of the console. */
export function startConsumer(config: Config, logger: Logger, published: Promise<void>) {
  const stop = new AbortController();
  const { signal } = stop;
  const askOnAndOn = async () => {
    while (!signal.aborted)
      for (const message of questions) {
        // Also before the first search: the inbox stays empty while a newcomer sends the first request.
        await delay(pauseMs, undefined, { signal });
        await search(config, message).catch((error) =>
          logger.debug({ err: error }, 'a search was not answered'),
        );
      }
  };
  const asking = published.then(askOnAndOn).catch((error: unknown) => {
    if (!signal.aborted) logger.debug({ err: error }, 'the demo consumer has stopped searching');
  });
  return {
    async close() {
      stop.abort();
      await asking;
    },
  };
}

const pauseMs = 30_000;

async function search(config: Config, message: DiscoverMessage): Promise<void> {
  const { discovery, consumer } = config.identities;
  const asked = { to: discovery.url, action: actions.discover.name, message };
  await sendMessage(config, { ...asked, as: consumer.id, uri: `${config.consoleUrl}/inbox` });
}
