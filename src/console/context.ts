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

export interface ConsoleContext {
  config: Config;
  database: Database;
  search: SearchService;
  metrics: Metrics;
  operations?: OperationsServer;
  outside: {
    client: GuardedClient;
    /** Looks everything up again, without a cache. */
    freshRegistry(): RegistryClient;
    schemas: Pick<SchemaStore, 'checker'>;
  };
  shareLimit?: ShareLimit;
  events: ConsoleEvents;
  logger: Logger;
  now(): Date;
}
