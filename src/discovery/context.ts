import type { Config } from '../config.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { OperationsServer } from '../http/operations.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { SigningKey } from '../protocol/keys.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { Database } from '../storage/database.ts';
import type { ThreadPool } from '../thread-pool.ts';

/** What the actions and loops of the discovery service work with. */
export interface DiscoveryContext {
  config: Config;
  database: Database;
  /** The service's own key: it signs requests, answers and callbacks. */
  self: SigningKey;
  /** The service's public base address. */
  url: string;
  client: GuardedClient;
  registry: RegistryClient;
  /** For filters and geometry that take long. */
  threads: ThreadPool;
  metrics: Metrics;
  /** Where /health, /ready, /metrics and /docs are, unless on the role's own port. */
  operations?: OperationsServer;
  logger: Logger;
  now(): Date;
}
