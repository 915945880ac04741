import type { Config } from '../config.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { OperationsServer } from '../http/operations.ts';
import type { ShareLimit } from '../http/rate-limit.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';
import type { SearchService } from '../search/port.ts';
import type { Database } from '../storage/database.ts';
import type { ConsoleEvents } from './events.ts';

/** What the console asks others with, as the services do. */
interface Outside {
  client: GuardedClient;
  /** Asks the registry anew: nothing is remembered from before. */
  freshRegistry(): RegistryClient;
  schemas: Pick<SchemaStore, 'checker'>;
}

/** What the console works with: the database of the services that it shows. */
export interface ConsoleContext {
  config: Config;
  database: Database;
  search: SearchService;
  metrics: Metrics;
  operations?: OperationsServer;
  outside: Outside;
  shareLimit?: ShareLimit;
  /** Tells the pages that are open what changes. */
  events: ConsoleEvents;
  logger: Logger;
  now(): Date;
}
