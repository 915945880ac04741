import type { Config } from '../config.ts';
import { createLogger, type Logger } from '../logger.ts';
import { type Database, openDatabase } from './database.ts';

// A thread that works on the database has separate connections, so nothing large passes between it and the process.

export type ThreadDatabase = ReturnType<typeof threadDatabase>;

/** By default, a thread does one thing at a time. */
export function threadDatabase(database: Database, logger: Logger, config: Config, maxConnections = 1) {
  return {
    maxConnections,
    ...{ databaseUrl: database.url, logLevel: logger.level, logFormat: config.LOG_FORMAT },
    transactionMs: config.TRANSACTION_LIMIT_SECONDS * 1000,
  };
}

/** A transaction ends at TRANSACTION_LIMIT_SECONDS. So work in a thread that takes twice as long does not wait for the database: it is stuck. */
export function stuckAfterMs({ TRANSACTION_LIMIT_SECONDS }: Config): number {
  return 2 * TRANSACTION_LIMIT_SECONDS * 1000;
}

/** Opened by the first task of a thread, and kept for the life of the thread. */
export function openThreadDatabase({ databaseUrl: url, logLevel, logFormat, ...limits }: ThreadDatabase) {
  opened ??= open().catch((error) => {
    opened = undefined;
    throw error;
  });
  return opened;

  async function open(): Promise<{ database: Database; logger: Logger }> {
    const logger = createLogger({ level: logLevel, format: logFormat });
    return { database: await openDatabase({ url, logger, ...limits }), logger };
  }
}

let opened: Promise<{ database: Database; logger: Logger }> | undefined;
