import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { createTurns } from '../fair-turns.ts';
import { createAdmission } from '../http/admission.ts';
import { createCostLimits } from '../http/cost-limits.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import { createLargeBodies, type LargeBodies } from '../http/large-bodies.ts';
import type { OperationsServer } from '../http/operations.ts';
import { createRateLimits, ofThisProcess, type RateLimits, type ShareLimit } from '../http/rate-limit.ts';
import { createServer } from '../http/server.ts';
import { connectionLimits, signedLimits } from '../http/signed-limits.ts';
import type { LargeCallbacks, SignedService } from '../http/signed-route.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { SigningKey } from '../protocol/keys.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { Database } from '../storage/database.ts';
import {
  type CallbackShare,
  listCallersOwedMore,
  purgeUndelivered,
  receiverOf,
} from '../storage/work/callbacks.ts';
import type { WorkLoop } from '../storage/work/due-work.ts';
import { createPromiseStore } from '../storage/work/promises.ts';
import { findRemembered } from '../storage/work/request-memory.ts';
import { type CallbackLoop, startCallbackLoop } from './callback-loop.ts';
import { createReceiverForms } from './receiver-forms.ts';
import type { KeepPromise } from './remember-answer.ts';
import { repeat } from './repeat.ts';
import { createStrictRenderer, type FormTools } from './strict-renderer.ts';

// The base of every signed service: a server with load shedding, signed routes that remember their answers, and the callbacks that are owed.

const sampleEveryMs = 5_000;
const purgeEveryMs = 60_000;
const retryAfterSeconds = 10;

export interface ServiceContext {
  config: Config;
  database: Database;
  /** The service's own key: it signs answers, callbacks and other requests. */
  self: SigningKey;
  hosting: Hosting;
  client: GuardedClient;
  registry: RegistryClient;
  metrics: Metrics;
  logger: Logger;
  now(): Date;
}

interface Hosting {
  url: string;
  /** The part of /ready that every service has: registry, own key, troubles. */
  report(): Promise<object>;
  /** Where /health, /ready, /metrics and /docs are, unless on the role's own port. */
  operations?: OperationsServer;
  /** Makes limits hold for all workers together, if there are several. */
  shareLimit?: ShareLimit;
}

interface ServiceOptions {
  role: string;
  isExempt?: RateLimits['exempt'];
  findSentRequest?: SignedService['findSentRequest'];
  /** Identities whose callbacks are awaited: only theirs are parsed before their signature is verified. */
  isAwaited?: LargeCallbacks['isAwaited'];
  /** Throws if the service cannot work, for a reason that only the role knows. Its result is shown at /ready. */
  check?(): object | undefined;
}

/** All senders share the form that each receiver gets. */
export interface Service extends FormTools {
  server: FastifyInstance;
  signed: SignedService;
  startCallbacks(): WorkLoop;
  /** Stores a promise. If the loop is sending callbacks here, the callback is sent as soon as it is stored. */
  keepPromise: KeepPromise;
  close(): Promise<void>;
}

/** Waiting requests of one caller: more than the burst that its rate allows. */
const maxWaitingOfCaller = 500;

export function createService(context: ServiceContext, options: ServiceOptions): Service {
  const { config, database, self, hosting, client, registry, metrics, logger, now } = context;
  const { role } = options;
  const storePromise = createPromiseStore(database);
  const admission = createAdmission({
    limits: {
      waitingConnections: config.OVERLOAD_WAITING_CONNECTIONS,
      eventLoopDelayMs: config.OVERLOAD_EVENT_LOOP_MS,
    },
    waitingConnections: () => database.waiting() + storePromise.waiting(),
  });
  const server = createServer({
    ...{ role, logger, metrics, admission },
    ready: async () => {
      await database.ping();
      const own = options.check?.();
      return { ...(await hosting.report()), ...own };
    },
    operations: hosting.operations,
    trustProxy: config.TRUSTED_PROXIES,
    connections: connectionLimits(config),
  });
  const largeBodies = createLargeBodies(logger);
  const backlog = watchCallbackBacklog(role, context);
  const forms = createReceiverForms(database, { logger, now });
  const strict = createStrictRenderer(logger);
  let callbacks: CallbackLoop | undefined;
  return {
    server,
    forms,
    strict,
    signed: {
      ...signedService(context, { ...options, shareLimit: hosting.shareLimit }, largeBodies),
      admitPromise: backlog.admit,
      turns: createTurns({
        size: Math.max(1, Math.floor(config.DATABASE_CONNECTIONS / 2)),
        maxWaiting: maxWaitingOfCaller,
      }),
    },
    startCallbacks() {
      callbacks = startCallbackLoop({
        ...{ role, database, forms, strict, metrics },
        sender: { key: self, client, findKey: registry.findKey, logger, now },
        policy: { baseMs: config.RETRY_BASE_MS },
      });
      return callbacks;
    },
    async keepPromise(promise) {
      const receiver = receiverOf(promise.callback.destination);
      if (callbacks) await callbacks.handOver(receiver, (lease) => storePromise(promise, lease));
      else await storePromise(promise);
    },
    async close() {
      await server.close();
      admission.close();
      await Promise.all([largeBodies.close(), backlog.close()]);
    },
  };
}

/** What a service needs to verify requests and sign answers; a service without a database remembers no requests. */
export function signedService(
  { config, self, registry, logger, database, now }: SignedContext,
  { role, isExempt, findSentRequest, isAwaited, shareLimit = ofThisProcess }: SignedOptions,
  largeBodies: LargeBodies,
): SignedService {
  const perSecond = config.RATE_LIMIT_PER_SECOND;
  const share: ShareLimit = (name, limit) => shareLimit(`${role} ${name}`, limit);
  return {
    role,
    self,
    registryName: config.REGISTRY_NAME,
    findKey: registry.findKey,
    findSentRequest,
    largeCallbacks: isAwaited && { isAwaited, scan: largeBodies.scan },
    recall: database && ((key, occurrence) => findRemembered(database, key, occurrence)),
    rateLimits: perSecond === 0 ? undefined : createRateLimits(perSecond, { exempt: isExempt, share }),
    costs: createCostLimits(config, share),
    largeBodies,
    limits: signedLimits(config),
    logger,
    now,
  };
}

type SignedContext = Pick<ServiceContext, 'config' | 'self' | 'registry' | 'logger' | 'now'> &
  Partial<Pick<ServiceContext, 'database'>>;
type SignedOptions = Omit<ServiceOptions, 'check'> & Pick<Hosting, 'shareLimit'>;

// How many callbacks one caller may have waiting, and one receiver undelivered. They are stored until they are delivered: without a share for each, a
// caller that asks for large answers and accepts none would fill the disk for everybody.

/** The on_publish of a publisher that does not listen is kept for a day. */
const waitingShare: CallbackShare = { rows: 100_000, bytes: 256 * 1024 * 1024 };

/** Undelivered callbacks that an operator can inspect and replay. */
const undeliveredShare: CallbackShare = { rows: 1_000, bytes: 64 * 1024 * 1024 };

function watchCallbackBacklog(role: string, { database, logger }: ServiceContext) {
  let crowded: ReadonlySet<string> = new Set();
  const sampler = repeat(
    { what: 'measuring waiting callbacks', everyMs: sampleEveryMs, logger },
    async () => {
      crowded = new Set(await listCallersOwedMore(database, role, waitingShare));
    },
  );
  const purger = repeat(
    { what: 'purging undelivered callbacks', everyMs: purgeEveryMs, logger },
    async () => {
      const purged = await purgeUndelivered(database, undeliveredShare);
      if (purged > 0)
        logger.warn({ purged }, 'more callbacks were not delivered than are kept; the oldest are gone');
    },
  );
  return {
    /** Throws NET_OVERLOADED for a caller with too many undelivered callbacks. */
    admit(identity: string) {
      if (!crowded.has(identity)) return;
      const message = `Too many callbacks are waiting for ${identity}. Try again later.`;
      throw new ProtocolError('NET_OVERLOADED', message, { retryAfterSeconds });
    },
    async close() {
      await Promise.all([sampler.close(), purger.close()]);
    },
  };
}
