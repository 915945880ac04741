import type { FastifyInstance } from 'fastify';
import { repeat } from '../delivery/repeat.ts';
import type { SignedService } from '../http/signed-route.ts';
import { type Action, actions } from '../protocol/actions.ts';
import type { ParticipantRecord } from '../protocol/registry-record.ts';
import { listAwaitedServices, notePresence, requestPull } from '../storage/feeds/feeds.ts';
import { settleNoted } from '../storage/feeds/precedence.ts';
import { findChainValues } from '../storage/work/sent-requests.ts';
import type { DiscoveryContext } from './context.ts';
import { addOnPullRoute } from './on-pull.ts';
import { startPullClient } from './pull-client.ts';
import { createPushAside } from './push-aside.ts';
import { addPushRoute } from './receive-push.ts';
import { isService, watchServices } from './services.ts';
import { configureSubscriptions } from './subscription-steps.ts';

// Synchronization with the configured catalog services: subscriptions, pushes, pulls.

export function createSync(context: DiscoveryContext) {
  const { database } = context;
  const services = watchServices(context);
  const pushAside = createPushAside(context);
  const loops: { close(): Promise<void> }[] = [];
  return {
    /** Pushes of services that we subscribed to are not counted. */
    isExempt: (identity: string, action: Action) => action === actions.push && services.has(identity),
    findSentRequest: (messageId: string) => findChainValues(database, 'discovery', messageId),
    async isAwaited(identity: string, record: ParticipantRecord) {
      const awaited = await listAwaitedServices(database);
      return awaited.some((service) => isService(service, identity, record));
    },
    addRoutes(server: FastifyInstance, service: SignedService) {
      addPushRoute(server, service, context, pushAside);
      addOnPullRoute(server, service, context);
    },
    /** Starts sending requests; call it when the server listens, so that answers can arrive. */
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
/** After a longer absence, a process may have missed pushes. */
const absenceMs = 60_000;

/** Records at intervals that the service is up. After an absence, of the process, the machine or the database, everything is pulled. */
function startPresence({ database, logger }: DiscoveryContext): { close(): Promise<void> } {
  return repeat({ what: 'recording that this service runs', everyMs: noteEveryMs, logger }, () =>
    database.transaction(async (tx) => {
      const awayMs = await notePresence(tx);
      if (awayMs === undefined || awayMs <= absenceMs) return;
      const feeds = await requestPull(tx, { spacingMs: 0 });
      if (feeds > 0) logger.info({ awayMs }, 'back after an absence; everything will be pulled');
    }),
  );
}

const settleEveryMs = 1_000;

/** Decides whose copies count if more catalogs changed than one transaction could lock. */
function startSettling({ database, logger }: DiscoveryContext): { close(): Promise<void> } {
  const what = 'deciding which copies are used';
  return repeat({ what, everyMs: settleEveryMs, logger }, async (signal) => {
    while (!signal.aborted && (await database.transaction(settleNoted)));
  });
}
