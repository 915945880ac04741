import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, ownConsoleUrl } from '../config.ts';
import { type ServiceContext, signedService } from '../delivery/service.ts';
import { addHomePage } from '../http/home-page.ts';
import { createLargeBodies } from '../http/large-bodies.ts';
import { warnIfReachable } from '../http/local-only.ts';
import type { OperationsServer } from '../http/operations.ts';
import { createServer } from '../http/server.ts';
import { connectionLimits } from '../http/signed-limits.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { SigningKey } from '../protocol/keys.ts';
import type { RegistryClient } from '../registry/client.ts';
import { loadOrCreateSigningKey } from '../registry/key-files.ts';
import { startOrClose } from '../start-or-close.ts';
import { createCrawlHints } from './hint-crawlers.ts';
import { withListingProblems } from './listing.ts';
import { createCallbackRelay } from './relay.ts';
import { addFileRoutes, manifestLink } from './serve.ts';
import { startPublisherThread } from './thread.ts';
import { placesIn } from './tree.ts';
import { addTriggerRoute, triggerName } from './trigger.ts';
import { loadOrCreateTriggerToken } from './trigger-token.ts';

/** The context of the publisher. It has no database: the published directory is its whole state. */
interface PublisherContext extends Omit<ServiceContext, 'database' | 'self' | 'hosting'> {
  /** Adds registry, signing key and troubles to /ready. */
  report(): Promise<object>;
  /** A registry client without a cache: the operator may just have registered something. */
  freshRegistry(): RegistryClient;
  operations?: OperationsServer;
}

/** The publisher: its files for everybody at one address, the trigger for its operator at another. */
export async function startPublisherRole(context: PublisherContext) {
  const { config, metrics, operations, logger, now } = context;
  const { root } = placesIn(config.publisherDir);
  await mkdir(root, { recursive: true });
  const token = loadOrCreateTriggerToken(config);
  warnIfReachable({ host: config.PUBLISHER_TRIGGER_HOST, what: triggerName }, logger);

  const thread = startPublisherThread(config, logger);
  const { NEXT_UPDATE_SECONDS: nextUpdateSeconds } = config;
  const renewal = startRenewal({ refresh: thread.refreshDue, nextUpdateSeconds, metrics, logger, now });
  const files = createServer({
    role: 'publisher',
    logger,
    metrics,
    ready: async () => ({ ...renewal.check(), ...(await context.report()) }),
    operations,
    trustProxy: config.TRUSTED_PROXIES,
    connections: connectionLimits(config),
  });
  const ready = async () => ({});
  const trigger = createServer({ role: 'trigger', logger, metrics, ready, requestTimeoutMs: uploadMs });
  const { id: nodeId } = config.identities.publisher;
  const hints = createCrawlHints({ urls: config.CRAWL_HINT_URLS, nodeId, client: context.client, logger });
  addHomePage(files, {
    role: 'publisher',
    about: `The catalogs of ${nodeId} as signed files, for crawlers of discovery services.`,
    links: [manifestLink],
    ...{ operations, consoleUrl: ownConsoleUrl(config) },
  });
  addHomePage(trigger, {
    role: 'trigger',
    about: `Here programs of this machine publish catalogs as ${nodeId}. Every request except for these pages needs the token.`,
    consoleUrl: ownConsoleUrl(config),
  });
  addFileRoutes(files, { root, now });
  addTriggerRoute(trigger, {
    config,
    token,
    publish: async (body, indexName) => {
      const answer = await thread.publish(body, indexName);
      const { url } = config.identities.publisher;
      const published = { root, baseUrl: config.catalogBaseUrl, key: currentKey(config), url };
      return withListingProblems(await hints.tell(answer), published, context.freshRegistry());
    },
  });
  const relay = createCallbackRelay();
  const largeBodies = createLargeBodies(logger);
  // A key may be rotated while the role runs.
  const signed = {
    ...signedService({ ...context, self: currentKey(config) }, { role: 'publisher', ...relay }, largeBodies),
    get self() {
      return currentKey(config);
    },
  };
  relay.addRoutes(files, trigger, signed);

  const close = async () => {
    const renewed = renewal.close();
    await Promise.all([trigger.close(), files.close()]);
    hints.close();
    await thread.close();
    await largeBodies.close();
    await renewed;
  };
  return startOrClose(async () => {
    await files.listen({ host: config.HOST, port: config.PUBLISHER_PORT });
    await trigger.listen({ host: config.PUBLISHER_TRIGGER_HOST, port: config.PUBLISHER_TRIGGER_PORT });
    await Promise.race([renewal.first, delay(firstRenewalMs, undefined, { ref: false })]);
    return { url: config.identities.publisher.url, triggerUrl: config.triggerUrl, close };
  }, close);
}

/** For a body of 256 MiB from this machine. */
const uploadMs = 10 * 60_000;
/** Maximum wait for the first renewal: files are also served while another process holds the lock. */
const firstRenewalMs = 5_000;

function currentKey({ DATA_DIR, identities }: Config): SigningKey {
  return loadOrCreateSigningKey(DATA_DIR, identities.publisher);
}

// Keeps published files from expiring: renews now, and again well before the earliest announced update.

interface RenewalOptions {
  /** Renews due files, and resolves with the earliest announced update. */
  refresh(): Promise<Date>;
  nextUpdateSeconds: number;
  metrics: Metrics;
  logger: Logger;
  now(): Date;
}

/** Maximum pause, even if nothing is due: the tree may have been replaced by an older one. */
const maxPauseMs = 10 * 60_000;

export function startRenewal({ refresh, nextUpdateSeconds, metrics, logger, now }: RenewalOptions) {
  const help = 'Unix time of the next update that is announced first';
  const announcedAt = metrics.gauge('signpost_publisher_next_update_seconds', help);
  let announced: Date | undefined;
  let problem = 'nothing was renewed yet';
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  async function renew(): Promise<void> {
    try {
      announced = await refresh();
      announcedAt.set(announced.getTime() / 1000);
      problem = 'the renewal has not ended';
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      if (!closed) logger.error({ err: error }, 'index and manifest could not be renewed; trying again');
    }
    if (closed) return;
    const pauseMs = Math.min(maxPauseMs, (nextUpdateSeconds * 1_000) / 8);
    timer = setTimeout(() => {
      running = renew();
    }, pauseMs);
  }

  let running = renew();
  return {
    /** Resolves after the first renewal, even if it failed. */
    first: running,
    /** The announced next update; throws if it has passed, or if the last attempt failed before the first success. */
    check() {
      if (announced === undefined) throw new Error(problem);
      if (announced <= now())
        throw new Error(`the update announced for ${announced.toISOString()} is overdue: ${problem}`);
      return { nextUpdate: announced.toISOString() };
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
