import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { startCatalogRole } from './catalog/role.ts';
import { type Config, listeningAddress, type SigningRole } from './config.ts';
import { startConsoleRole } from './console/role.ts';
import { startDiscoveryRole } from './discovery/role.ts';
import { createGuardedClient } from './http/guarded-client.ts';
import { createOperationsServer, type OperationsServer } from './http/operations.ts';
import { connectionLimits } from './http/signed-limits.ts';
import type { Logger } from './logger.ts';
import { createMetrics } from './metrics.ts';
import { startPublisherRole } from './publisher/role.ts';
import { createRegistryClient } from './registry/client.ts';
import { requireSigningKey } from './registry/key-files.ts';
import { openSigningKey, type RegistrationWatch, watchRegistration } from './registry/registration.ts';
import { startRegistryRole } from './registry/role.ts';
import { openConfiguredSchemas } from './schemas/schema-store.ts';
import { createSearch, type SearchService } from './search/port.ts';
import type { Role } from './setting-table.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { startEmbeddedPostgres } from './storage/embedded/postgres.ts';
import { createThreadPool } from './thread-pool.ts';

// The composition root: opens what the roles of this process share, starts them in the order in which they need each
// other, and closes everything in the reverse order.

export interface RunningRole {
  role: Role;
  /** Its public base address. */
  url: string;
  listensOn: string;
  /** Where the publisher takes what its operator wants published. */
  triggerUrl?: string;
}

interface StartedRole extends Omit<RunningRole, 'role' | 'listensOn'> {
  close(): Promise<void>;
}

export interface Process {
  roles: RunningRole[];
  /** Where /health, /ready, /metrics and /docs are, when that is an address of their own. */
  operationsUrl?: string;
  /** Undefined where no role of this process keeps anything in one. */
  database?: Database;
  /** Closes everything, whatever fails on the way; then the first failure is thrown. */
  close(): Promise<void>;
}

export interface StartOptions {
  logger: Logger;
  /** Called once the database is there, before any role starts: the demo registers its participants. */
  prepare?: (database: Database) => Promise<void>;
  /** The clock of its roles. */
  now?: () => Date;
  /** Aborted, nothing more is started, and what is gets closed; then its reason is thrown. */
  signal?: AbortSignal;
}

/** For evaluations that take long. One that is built to take longest holds one of them until its deadline. */
const evaluatingThreads = Math.max(2, availableParallelism());

/** A registry that takes longer to answer is not waited for. */
const firstLookMs = 2_000;

export async function startProcess(
  config: Config,
  { logger, prepare, signal, now = () => new Date() }: StartOptions,
): Promise<Process> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    const failures: unknown[] = [];
    for (const closer of closers.splice(0).reverse()) {
      await closer().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const operations = await openOperations(config, logger, closers);
    const database = config.roles.some(keepsData)
      ? await openConfiguredDatabase(config, logger, closers, signal)
      : undefined;
    if (database) await prepare?.(database);

    const metrics = createMetrics();
    const client = createGuardedClient({
      allowPrivateAddresses: config.ALLOW_PRIVATE_ADDRESSES,
      nameServers: config.DNS_SERVERS,
    });
    closers.push(() => client.close());
    const freshRegistry = () =>
      createRegistryClient({
        url: config.registryUrl,
        registryName: config.REGISTRY_NAME,
        client,
        logger,
        metrics,
      });
    const registry = freshRegistry();

    const registrations: RegistrationWatch[] = [];
    const { findKey } = freshRegistry(); // what it does not find yet must not be remembered by the services
    const openIdentity = (role: SigningRole) => {
      const identity = config.identities[role];
      const roleLogger = logger.child({ role });
      const self = openSigningKey(config.DATA_DIR, identity, roleLogger);
      const key = () => requireSigningKey(config.DATA_DIR, identity);
      const watch = watchRegistration({ key, findKey, logger: roleLogger });
      registrations.push(watch);
      closers.push(() => watch.close());
      return { self, url: identity.url, registration: watch.state };
    };

    const openSchemas = async () => {
      const schemas = await openConfiguredSchemas(config, client, logger);
      closers.push(() => schemas.close());
      return schemas;
    };

    let search: SearchService | undefined;
    const openSearch = () => {
      if (search) return search;
      const threads = createThreadPool({ size: evaluatingThreads, logger });
      closers.push(() => threads.close());
      search = createSearch({ config, database: needed(database), threads, now });
      return search;
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
        }),
      catalog: async () =>
        startCatalogRole({
          config,
          database: needed(database),
          ...openIdentity('catalog'),
          client,
          registry,
          schemas: await openSchemas(),
          metrics,
          operations,
          logger: logger.child({ role: 'catalog' }),
          now,
        }),
      publisher: async () =>
        startPublisherRole({
          config,
          registration: openIdentity('publisher').registration,
          registry,
          freshRegistry,
          client,
          metrics,
          operations,
          logger: logger.child({ role: 'publisher' }),
          now,
        }),
      discovery: async () =>
        startDiscoveryRole({
          config,
          database: needed(database),
          ...openIdentity('discovery'),
          client,
          registry,
          search: openSearch(),
          schemas: await openSchemas(),
          metrics,
          operations,
          logger: logger.child({ role: 'discovery' }),
          now,
        }),
      console: () =>
        startConsoleRole({
          config,
          database: needed(database),
          search: openSearch(),
          metrics,
          operations,
          logger: logger.child({ role: 'console' }),
          now,
        }),
    };
    const roles: RunningRole[] = [];
    for (const role of config.roles) {
      signal?.throwIfAborted();
      const running = await start[role]();
      closers.push(running.close);
      const { url, triggerUrl } = running;
      roles.push({ role, url, listensOn: listeningAddress(config, role), triggerUrl });
    }
    // Usually it is known by now whether the registry has our keys, and told before everything else.
    await Promise.race([
      Promise.all(registrations.map(({ first }) => first)),
      delay(firstLookMs, undefined, { ref: false }),
    ]);
    signal?.throwIfAborted();
    operations?.allStarted();
    return { roles, operationsUrl: operations?.url, database, close };
  } catch (error) {
    await close().catch(() => undefined); // why it did not start matters more
    throw error;
  }
}

/** The publisher's whole state is the directory that it publishes. */
export function keepsData(role: Role): boolean {
  return role !== 'publisher';
}

function needed(database: Database | undefined): Database {
  if (!database) throw new Error('a role was started without the database that it needs');
  return database;
}

async function openConfiguredDatabase(
  config: Config,
  logger: Logger,
  closers: (() => Promise<void>)[],
  signal: AbortSignal | undefined,
): Promise<Database> {
  let url = config.DATABASE_URL;
  if (url === undefined) {
    const embedded = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, logger, signal });
    closers.push(() => embedded.close());
    url = embedded.url;
  }
  signal?.throwIfAborted();
  const database = await openDatabase({
    ...{ url, logger, waitForServer: true, signal },
    maxConnections: config.DATABASE_CONNECTIONS,
    transactionMs: config.TRANSACTION_LIMIT_SECONDS * 1000,
  });
  closers.push(() => database.close());
  return database;
}

/**
 * /health, /ready, /metrics and /docs of all roles at one address of their own, when OPERATIONS_PORT names one. It answers before anything
 * else is there, so that whoever watches the process sees that it lives while it waits for its database.
 */
async function openOperations(
  { OPERATIONS_HOST: host, OPERATIONS_PORT: port = 0 }: Config,
  logger: Logger,
  closers: (() => Promise<void>)[],
): Promise<(OperationsServer & { url: string }) | undefined> {
  if (port === 0) return undefined;
  const operations = createOperationsServer(logger);
  closers.push(() => operations.close());
  return { ...operations, url: await operations.listen({ host, port }) };
}
