import type { FastifyInstance } from 'fastify';
import { startCallbackLoop } from '../delivery/callback-loop.ts';
import { createAdmission } from '../http/admission.ts';
import { createServer } from '../http/server.ts';
import { createRateLimits, type SignedService } from '../http/signed-route.ts';
import { findRemembered } from '../storage/request-memory.ts';
import { watchBacklog } from './backlog.ts';
import type { CatalogContext } from './context.ts';
import { addDownloadRoute } from './download.ts';
import { createFreshMessages } from './fresh-messages.ts';
import { startHousekeeping } from './housekeeping.ts';
import { startSubmissionLoop } from './process-submission.ts';
import { addPublishRoute } from './publish.ts';
import { addPullRoute, startPullLoop } from './pull.ts';
import { startPush } from './push.ts';
import { startRebuildLoop } from './rebuild-dependents.ts';
import { addSearchRoute } from './search.ts';
import { addSubscriptionRoutes } from './subscription.ts';

/** The catalog service: one line per action, one per loop of work that is due. */
export async function startCatalogRole(
  context: CatalogContext,
): Promise<{ url: string; close(): Promise<void> }> {
  const { config, url } = context;
  const backlog = watchBacklog(context);
  const admission = createAdmission({
    limits: {
      waitingConnections: config.OVERLOAD_WAITING_CONNECTIONS,
      eventLoopDelayMs: config.OVERLOAD_EVENT_LOOP_MS,
      backlog: config.OVERLOAD_BACKLOG,
    },
    waitingConnections: () => context.database.waiting(),
    backlog: backlog.size,
  });
  const server = createServer({
    role: 'catalog',
    logger: context.logger,
    metrics: context.metrics,
    ready: () => readiness(context),
    admission,
    operations: context.operations,
    trustProxy: config.TRUSTED_PROXIES,
  });
  const service = signedService(context);
  const fresh = createFreshMessages();
  addSubscriptionRoutes(server, service, context);
  addPublishRoute(server, service, context, fresh);
  addPullRoute(server, service, context);
  addDownloadRoute(server, context);
  addSearchRoute(server, service, context);
  await server.listen({ host: config.HOST, port: config.CATALOG_PORT });

  const loops = [
    startCallbacks(context),
    startSubmissionLoop(context, fresh),
    startRebuildLoop(context),
    startPush(context),
    startHousekeeping(context),
    startPullLoop(context),
  ];
  return {
    url,
    async close() {
      await closeServer(server);
      await Promise.all(loops.map((loop) => loop.close()));
      admission.close();
      backlog.close();
    },
  };
}

/** How long requests may finish when the role is closed; a large download would hold it up for ever. */
const finishMs = 3_000;

function signedService({ config, self, registry, logger, database, now }: CatalogContext): SignedService {
  return {
    role: 'catalog',
    self,
    registryName: config.REGISTRY_NAME,
    findKey: registry.findKey,
    recall: (key, occurrence) => findRemembered(database, key, occurrence),
    rateLimits:
      config.RATE_LIMIT_PER_SECOND === 0 ? undefined : createRateLimits(config.RATE_LIMIT_PER_SECOND),
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

async function readiness({ database, registry }: CatalogContext): Promise<object> {
  await database.ping();
  return { registry: registry.state() };
}

function startCallbacks({ database, self, client, registry, metrics, logger, now, config }: CatalogContext) {
  return startCallbackLoop({
    role: 'catalog',
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
