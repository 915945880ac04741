import { userInfo } from 'node:os';
import { attempt } from '../attempt.ts';
import type { Config } from '../config.ts';
import type { AuditTools } from '../console/audited.ts';
import { ConsoleError } from '../console/errors.ts';
import type { Actor } from '../storage/console/audit.ts';
import type { Database } from '../storage/database.ts';
import { type CommandContext, explainError } from './command.ts';
import { withDatabase } from './database.ts';

// Commands that change the database are recorded in the audit log, like actions in the console.

/** Runs a database change in the name of the current system user. A refusal becomes a sentence that says what to do. */
export async function act<T>(
  context: CommandContext,
  advice: string,
  work: (acting: AuditTools & { database: Database; by: Actor }, config: Config) => Promise<T>,
): Promise<T> {
  const logger = { warn: (_details: object, text: string) => context.note(text) };
  const by: Actor = { actor: 'cli', operator: userName() };
  return withDatabase(context, (database, config) => work({ database, logger, by }, config)).catch(
    explainError(ConsoleError, ({ message }) => `${message} ${advice}`),
  );
}

/** In a container, the user may have no name. */
function userName(): string {
  return attempt(() => userInfo().username) ?? `uid ${process.getuid?.()}`;
}
