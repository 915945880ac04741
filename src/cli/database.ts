import { userInfo } from 'node:os';
import { attempt } from '../attempt.ts';
import type { Config } from '../config.ts';
import type { AuditTools } from '../console/audited.ts';
import { ConsoleError } from '../console/errors.ts';
import type { Logger } from '../logger.ts';
import { silentLogger } from '../silent-logger.ts';
import type { Actor } from '../storage/console/audit.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { abandonEmbeddedPostgres, startEmbeddedPostgres } from '../storage/embedded/postgres.ts';
import { type CommandContext, explainError, reasonOf } from './command.ts';
import { interruptedExitCode } from './interrupt.ts';

const commandConnections = 2;

export async function withDatabase<T>(
  context: CommandContext,
  work: (database: Database, config: Config) => Promise<T>,
): Promise<T> {
  const config = context.config();
  const { DATABASE_URL, DATA_DIR } = config;
  const workAt = (url: string) => withDatabaseAt(url, context, (database) => work(database, config));
  return DATABASE_URL ? workAt(DATABASE_URL) : onEmbedded(DATA_DIR, noteWarnings(context), workAt);
}

export async function withDatabaseAt<T>(
  url: string,
  context: CommandContext,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({
    ...{ url, logger: noteWarnings(context), maxConnections: commandConnections },
    transactionMs: context.config().TRANSACTION_LIMIT_SECONDS * 1000,
  }).catch(explainError(Error, reasonOf));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Prints database warnings as notes: loading a logger would delay the start by 100 ms. */
function noteWarnings({ note }: Pick<CommandContext, 'note'>): Logger {
  const say = (details: { reason?: string } | string, text?: string) => {
    if (typeof details === 'string') note(details);
    else note(details.reason === undefined ? `${text}` : `${text}: ${details.reason}`);
  };
  return { ...silentLogger(), warn: say, error: say, fatal: say } as object as Logger;
}

async function onEmbedded<T>(dataDir: string, logger: Logger, work: (url: string) => Promise<T>): Promise<T> {
  // Ctrl-C ends a command and the database server that it started.
  const leave = () => process.exit(interruptedExitCode);
  const onInterrupt = () => void abandonEmbeddedPostgres(dataDir).then(leave, leave);
  process.on('SIGINT', onInterrupt);
  try {
    const embedded = await startEmbeddedPostgres({ dataDir, logger }).catch(explainError(Error, reasonOf));
    return await work(embedded.url).finally(embedded.close);
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/**
 * Runs a database change in the name of the current system user: it is recorded in the audit log, like actions in the console.
 * A refusal becomes a sentence that says what to do.
 */
export async function act<T>(
  context: CommandContext,
  advice: string,
  work: (acting: AuditTools & { database: Database; by: Actor }, config: Config) => Promise<T>,
): Promise<T> {
  const logger = { warn: (_details: object, text: string) => context.note(text) };
  // In a container, the user may have no name.
  const operator = attempt(() => userInfo().username) ?? `uid ${process.getuid?.()}`;
  const by: Actor = { actor: 'cli', operator };
  return withDatabase(context, (database, config) => work({ database, logger, by }, config)).catch(
    explainError(ConsoleError, ({ message }) => `${message} ${advice}`),
  );
}
