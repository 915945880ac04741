import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { startCatalogRole } from './catalog/role.ts';
import { type Config, listeningAddress, ownConsoleUrl, type SigningRole } from './config.ts';
import { addDatabaseGauges, addTroubleGauge } from './console/health/database-gauges.ts';
import { startMinuteRecorder } from './console/health/record-minutes.ts';
import { startConsoleRole } from './console/role.ts';
import { createTroubles } from './delivery/troubles.ts';
import { startDiscoveryRole } from './discovery/role.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createConfiguredClient } from './http/guarded-client.ts';
import type { ShareLimit } from './http/rate-limit.ts';
import { connectionLimits } from './http/signed-limits.ts';
import type { Logger } from './logger.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import {
  type Closers,
  openConfiguredDatabase,
  openConfiguredReplicas,
  openOperations,
} from './open-parts.ts';
import { programVersion } from './program-version.ts';
import { startPublisherRole } from './publisher/role.ts';
import { createRegistryClient } from './registry/client.ts';
import { requireSigningKey } from './registry/key-files.ts';
import {
  openSigningKey,
  type Registration,
  type RegistrationWatch,
  watchRegistration,
} from './registry/registration.ts';
import { startRegistryRole } from './registry/role.ts';
import { openConfiguredSchemas } from './schemas/schema-store.ts';
import { createSearch, type SearchService } from './search/port.ts';
import type { Role } from './setting-table.ts';
import { closeBoth } from './start-or-close.ts';
import { createEmptySearches } from './storage/console/empty-searches.ts';
import type { Database } from './storage/database.ts';
import { startTelemetry } from './telemetry/start.ts';
import { createThreadPool } from './thread-pool.ts';

// The composition root: opens the shared parts, starts the roles in the order in which they need each other, and closes everything in reverse.

interface RunningRole {
  role: Role;
  url: string;
  listensOn: string;
  triggerUrl?: string;
  /** The operator token of the console, if this start created it; shown once. */
  newToken?: string;
}

type StartedRole = Omit<RunningRole, 'role' | 'listensOn'> & { close(): Promise<void> };

export interface Process {
  roles: RunningRole[];
  /** The separate address of /health, /ready, /metrics and /docs, if there is one. */
  operationsUrl?: string;
  /** Undefined if no role of this process needs one. */
  database?: Database;
  /** Closes everything, even after failures; then throws the first failure. */
  close(): Promise<void>;
}

/** `last`: other workers answer already. `never`: another worker answers, which has all roles. */
export type OperationsStart = 'first' | 'last' | 'never';

export interface StartOptions {
  logger: Logger;
  /** Called once the database is there, before any role starts: the demo registers its participants. */
  prepare?: (database: Database) => Promise<void>;
  now?: () => Date;
  /** If aborted, the start stops, closes what was opened, and throws the reason. */
  signal?: AbortSignal;
  metrics?: Metrics;
  /** False if another worker reports the gauges of the database. */
  measuresDatabase?: boolean;
  /** Makes limits count for all workers together. */
  shareLimit?: ShareLimit;
  /** When to open the separate address of /health, /ready, /metrics and /docs; default: first. */
  operationsStart?: OperationsStart;
}

/** Threads for evaluating searches. A hostile search may hold a thread until its deadline, and all such searches together half of the threads (fair-turns.ts). */
function evaluatingThreads({ WORKERS }: Config) {
  const size = Math.max(4, Math.ceil(availableParallelism() / WORKERS));
  return { size, heapMb: evaluationHeapMb, maxWaiting: maxWaitingEvaluations, shortMs: shortEvaluationMs };
}

/** Enough to compare two equal geometries of 50,000 vertices, the accepted maximum (measured). */
const evaluationHeapMb = 160;
/** Maximum of waiting evaluations of one identity: more than its waiting searches. */
const maxWaitingEvaluations = 100;
/** Processor time; most evaluations take less. */
const shortEvaluationMs = 50;

/** The start does not wait longer for a registry's answer. */
const firstLookMs = 2_000;

export async function startProcess(config: Config, options: StartOptions): Promise<Process> {
  const { logger, prepare, signal, shareLimit, operationsStart = 'first' } = options;
  const { now = () => new Date(), metrics = createMetrics() } = options;
  const [closers, serverClosers]: [Closers, Closers] = [[], []];
  const close = () => closeBoth(closers, serverClosers);
  try {
    const telemetry = await startTelemetry(config, metrics, logger);
    if (telemetry) closers.push(() => telemetry.close());
    const operations = openOperations(config, logger, closers);
    const operationsAddress = { host: config.OPERATIONS_HOST, port: config.OPERATIONS_PORT ?? 0 };
    let operationsUrl: string | undefined;
    if (operationsStart === 'first') operationsUrl = await operations?.listen(operationsAddress);
    const database = config.roles.some(keepsData)
      ? await openConfiguredDatabase(config, { ...options, metrics }, { closers, serverClosers })
      : undefined;
    const emptySearches = createEmptySearches();
    if (database) {
      const recorder = startMinuteRecorder({
        ...{ database, metrics, emptySearches, logger, now },
        about: { roles: config.roles, version: programVersion() },
      });
      closers.push(() => recorder.close());
      const housekeeping = startHousekeeping({ database, config, logger, now });
      closers.push(() => housekeeping.close());
      if (options.measuresDatabase !== false) addDatabaseGauges({ database, metrics, logger });
      await prepare?.(database);
    }

    const troubles = createTroubles(database, now);
    if (options.measuresDatabase !== false) addTroubleGauge({ metrics, troubles, logger });
    const client = createConfiguredClient(config);
    closers.push(() => client.close());
    const { registryUrl: url, REGISTRY_NAME: registryName } = config;
    const freshRegistry = () => createRegistryClient({ url, registryName, client, logger, metrics });
    const registry = freshRegistry();
    const shared = { config, client, registry, metrics, now };

    const registrations: RegistrationWatch[] = [];
    const { findKey } = freshRegistry(); // the services must not cache that a key is missing
    const openIdentity = (role: SigningRole) => {
      const identity = config.identities[role];
      const roleLogger = logger.child({ role });
      const self = openSigningKey(config.DATA_DIR, identity, roleLogger);
      const key = () => requireSigningKey(config.DATA_DIR, identity);
      const note = (state: Registration) => troubles.note(role, state);
      const watch = watchRegistration({ key, findKey, note, logger: roleLogger, now });
      registrations.push(watch);
      closers.push(() => watch.close());
      const report = async () => ({
        ...{ registry: registry.state(), key: watch.state(), troubles: await troubles.listOf(role) },
      });
      return { self, hosting: { url: identity.url, report, operations, shareLimit } };
    };

    const openSchemas = async () => {
      const schemas = await openConfiguredSchemas(config, client, logger);
      closers.push(() => schemas.close());
      return schemas;
    };

    let search: SearchService | undefined;
    const openSearch = async () => {
      if (search) return search;
      const threads = createThreadPool({ ...evaluatingThreads(config), logger });
      closers.push(() => threads.close());
      const replicas = await openConfiguredReplicas(config, { database: needed(database), logger, metrics });
      if (replicas) closers.push(() => replicas.close());
      const opened = createSearch({ config, database: needed(database), replicas, threads, logger, now });
      closers.push(() => opened.close());
      search = opened;
      return opened;
    };

    const start: Record<Role, () => Promise<StartedRole>> = {
      registry: () =>
        startRegistryRole({
          database: needed(database),
          logger: logger.child({ role: 'registry' }),
          metrics,
          host: config.HOST,
          port: config.REGISTRY_PORT,
          operations,
          trustProxy: config.TRUSTED_PROXIES,
          connections: connectionLimits(config),
          consoleUrl: ownConsoleUrl(config),
        }),
      catalog: async () =>
        startCatalogRole({
          ...shared,
          ...openIdentity('catalog'),
          database: needed(database),
          schemas: await openSchemas(),
          logger: logger.child({ role: 'catalog' }),
        }),
      publisher: async () =>
        startPublisherRole({
          ...shared,
          report: openIdentity('publisher').hosting.report,
          freshRegistry,
          operations,
          logger: logger.child({ role: 'publisher' }),
        }),
      discovery: async () =>
        startDiscoveryRole(
          {
            ...shared,
            ...openIdentity('discovery'),
            database: needed(database),
            search: await openSearch(),
            logger: logger.child({ role: 'discovery' }),
          },
          { schemas: await openSchemas(), emptySearches },
        ),
      console: async () =>
        startConsoleRole({
          config,
          database: needed(database),
          search: await openSearch(),
          outside: { client, freshRegistry, schemas: await openSchemas() },
          metrics,
          operations,
          shareLimit,
          logger: logger.child({ role: 'console' }),
          now,
        }),
    };
    const roles: RunningRole[] = [];
    for (const role of config.roles) {
      signal?.throwIfAborted();
      const running = await start[role]();
      closers.push(running.close);
      const { url, triggerUrl, newToken } = running;
      roles.push({ role, url, listensOn: listeningAddress(config, role), triggerUrl, newToken });
    }
    // By now the lookup of our keys has usually finished; it is reported first.
    const known = Promise.all(registrations.map(({ first }) => first));
    await Promise.race([known, delay(firstLookMs, undefined, { ref: false })]);
    signal?.throwIfAborted();
    if (operationsStart === 'last') operationsUrl = await operations?.listen(operationsAddress);
    operations?.allStarted();
    return { roles, operationsUrl, database, close };
  } catch (error) {
    await close().catch(() => undefined); // the error of the failed start matters more
    throw error;
  }
}

/** The publisher's whole state is its published directory. */
export function keepsData(role: Role): boolean {
  return role !== 'publisher';
}

function needed(database: Database | undefined): Database {
  if (!database) throw new Error('a role was started without the database that it needs');
  return database;
}
