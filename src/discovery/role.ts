import type { FastifyInstance } from 'fastify';
import { startCallbackLoop } from '../delivery/callback-loop.ts';
import { createAdmission } from '../http/admission.ts';
import { createServer } from '../http/server.ts';
import { createRateLimits, type SignedService } from '../http/signed-route.ts';
import { findRemembered } from '../storage/request-memory.ts';
import type { DiscoveryContext } from './context.ts';
import { addDiscoverRoute } from './discover.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createSync, type Sync } from './sync.ts';

/** The discovery service: one line per action, one per loop of work that is due. */
export async function startDiscoveryRole(
  context: DiscoveryContext,
): Promise<{ url: string; close(): Promise<void> }> {
  const { config, url } = context;
  const admission = createAdmission({
    limits: {
      waitingConnections: config.OVERLOAD_WAITING_CONNECTIONS,
      eventLoopDelayMs: config.OVERLOAD_EVENT_LOOP_MS,
      backlog: config.OVERLOAD_BACKLOG,
    },
    waitingConnections: () => context.database.waiting(),
  });
  const server = createServer({
    role: 'discovery',
    logger: context.logger,
    metrics: context.metrics,
    ready: () => readiness(context),
    admission,
    operations: context.operations,
    trustProxy: config.TRUSTED_PROXIES,
  });
  const sync = createSync(context);
  const service = signedService(context, sync);
  addDiscoverRoute(server, service, context);
  sync.addRoutes(server, service);
  await server.listen({ host: config.HOST, port: config.DISCOVERY_PORT });
  await sync.start();

  const loops = [sync, startCallbacks(context), startHousekeeping(context)];
  return {
    url,
    async close() {
      await closeServer(server);
      await Promise.all(loops.map((loop) => loop.close()));
      admission.close();
    },
  };
}

/** How long requests may finish when the role is closed. */
const finishMs = 3_000;

function signedService(
  { config, self, registry, logger, database, now }: DiscoveryContext,
  { isExempt, findSentRequest }: Sync,
): SignedService {
  const perSecond = config.RATE_LIMIT_PER_SECOND;
  return {
    role: 'discovery',
    self,
    registryName: config.REGISTRY_NAME,
    findKey: registry.findKey,
    findSentRequest,
    recall: (key, occurrence) => findRemembered(database, key, occurrence),
    rateLimits: perSecond === 0 ? undefined : createRateLimits(perSecond, isExempt),
    limits: {
      clockSkewSeconds: config.CLOCK_SKEW_SECONDS,
      maxSignatureSeconds: config.MAX_SIGNATURE_SECONDS,
      requireCallbackChain: config.REQUIRE_CALLBACK_CHAIN,
      bodyBytes: config.BODY_SIZE_LIMIT,
      bulkBodyBytes: config.BULK_BODY_SIZE_LIMIT,
    },
    logger,
    now,
  };
}

async function readiness({ database, registry }: DiscoveryContext): Promise<object> {
  await database.ping();
  return { registry: registry.state() };
}

function startCallbacks({
  database,
  self,
  client,
  registry,
  metrics,
  logger,
  now,
  config,
}: DiscoveryContext) {
  return startCallbackLoop({
    role: 'discovery',
    database,
    sender: { key: self, client, findKey: registry.findKey, logger, now },
    policy: { baseMs: config.RETRY_BASE_MS },
    metrics,
  });
}

async function closeServer(server: FastifyInstance): Promise<void> {
  const cutOff = setTimeout(() => server.server.closeAllConnections(), finishMs);
  await server.close();
  clearTimeout(cutOff);
}
