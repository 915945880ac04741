import type { Config } from '../config.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { OperationsServer } from '../http/operations.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { SigningKey } from '../protocol/keys.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';
import type { Database } from '../storage/database.ts';

/** What the actions and loops of the catalog service work with. */
export interface CatalogContext {
  config: Config;
  database: Database;
  /** The service's own key: it signs answers, callbacks and pushes. */
  self: SigningKey;
  /** The service's public base address. */
  url: string;
  client: GuardedClient;
  registry: RegistryClient;
  /** The domain schemas that typed attributes are checked against. */
  schemas: SchemaStore;
  metrics: Metrics;
  /** Where /health, /ready, /metrics and /docs are, unless on the role's own port. */
  operations?: OperationsServer;
  logger: Logger;
  now(): Date;
}
