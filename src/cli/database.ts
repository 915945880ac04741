import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { startEmbeddedPostgres } from '../storage/embedded-postgres.ts';
import { type CommandContext, CommandError } from './command.ts';

const commandConnections = 2;

/** Runs a command's work on the database that the settings name, the embedded one unless DATABASE_URL is set. */
export async function withDatabase<T>(
  context: CommandContext,
  work: (database: Database, config: Config) => Promise<T>,
): Promise<T> {
  const config = context.config();
  const logger = createLogger({ level: 'warn', format: config.LOG_FORMAT });
  const embedded = config.DATABASE_URL
    ? undefined
    : await startEmbeddedPostgres({ dataDir: config.DATA_DIR, logger }).catch(asCommandError);
  try {
    const url = config.DATABASE_URL ?? embedded?.url ?? '';
    const database = await openDatabase({ url, logger, maxConnections: commandConnections }).catch(
      asCommandError,
    );
    try {
      return await work(database, config);
    } finally {
      await database.close();
    }
  } finally {
    await embedded?.close();
  }
}

function asCommandError(error: unknown): never {
  throw new CommandError(error instanceof Error ? error.message : String(error), error);
}
