import type { FastifyInstance } from 'fastify';
import { repeat } from '../delivery/repeat.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import type { LargeCallbacks, SignedService } from '../http/signed-route.ts';
import { actions } from '../protocol/actions.ts';
import { listAwaitedServices, notePresence, requestPull } from '../storage/feeds/feeds.ts';
import { settleNoted } from '../storage/feeds/precedence.ts';
import { findChainValues } from '../storage/work/sent-requests.ts';
import type { DiscoveryContext } from './context.ts';
import { addOnPullRoute } from './on-pull.ts';
import { startPullClient } from './pull-client.ts';
import { createPushAside } from './push-aside.ts';
import { addPushRoute } from './receive-push.ts';
import { isService, watchServices } from './services.ts';
import { configureSubscriptions } from './subscribe.ts';

// Staying in step with the catalog services of the settings: subscriptions, pushes, pulls.

interface Sync {
  /** Pushes of services that we subscribed to are not counted. */
  isExempt: NonNullable<RateLimits['exempt']>;
  findSentRequest: NonNullable<SignedService['findSentRequest']>;
  isAwaited: LargeCallbacks['isAwaited'];
  addRoutes(server: FastifyInstance, service: SignedService): void;
  /** Begins to ask; call it when the server listens, so that the answers find somebody. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export function createSync(context: DiscoveryContext): Sync {
  const { database } = context;
  const services = watchServices(context);
  const pushAside = createPushAside(context);
  const loops: { close(): Promise<void> }[] = [];
  return {
    isExempt: (identity, action) => action === actions.push && services.has(identity),
    findSentRequest: (messageId) => findChainValues(database, 'discovery', messageId),
    async isAwaited(identity, record) {
      const awaited = await listAwaitedServices(database);
      return awaited.some((service) => isService(service, identity, record));
    },
    addRoutes(server, service) {
      addPushRoute(server, service, context, pushAside);
      addOnPullRoute(server, service, context);
    },
    async start() {
      await configureSubscriptions(context);
      loops.push(startPresence(context), startPullClient(context), startSettling(context));
    },
    async close() {
      await Promise.all([services, pushAside, ...loops].map((part) => part.close()));
    },
  };
}

const noteEveryMs = 10_000;
/** A process that was away for longer may have missed pushes. */
const absenceMs = 60_000;

/** Notes at intervals that the service is up. After an absence, of the process, the machine or the database, everything is pulled. */
function startPresence(context: DiscoveryContext): { close(): Promise<void> } {
  const { logger } = context;
  return repeat({ what: 'noting the presence', everyMs: noteEveryMs, logger }, () => notePresent(context));
}

async function notePresent({ database, logger }: DiscoveryContext): Promise<void> {
  await database.transaction(async (tx) => {
    const awayMs = await notePresence(tx);
    if (awayMs === undefined || awayMs <= absenceMs) return;
    const feeds = await requestPull(tx, { spacingMs: 0 });
    if (feeds > 0) logger.info({ awayMs }, 'back after an absence; everything will be pulled');
  });
}

const settleEveryMs = 1_000;

/** Settles whose copies count where more catalogs have changed than one transaction could lock. */
function startSettling({ database, logger }: DiscoveryContext): { close(): Promise<void> } {
  const what = 'settling whose copies count';
  return repeat({ what, everyMs: settleEveryMs, logger }, async (signal) => {
    while (!signal.aborted && (await database.transaction(settleNoted)));
  });
}
