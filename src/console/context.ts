import type { Config } from '../config.ts';
import type { OperationsServer } from '../http/operations.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { Database } from '../storage/database.ts';
import type { ThreadPool } from '../thread-pool.ts';

/** What the console works with: the database of the services that it shows. */
export interface ConsoleContext {
  config: Config;
  database: Database;
  /** For intents that take long to evaluate. */
  threads: ThreadPool;
  metrics: Metrics;
  operations?: OperationsServer;
  logger: Logger;
  now(): Date;
}
