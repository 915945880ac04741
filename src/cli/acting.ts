import { userInfo } from 'node:os';
import type { AuditTools } from '../console/audited.ts';
import { ConsoleError } from '../console/errors.ts';
import type { Actor } from '../storage/console/audit.ts';
import type { Database } from '../storage/database.ts';
import { type CommandContext, CommandError } from './command.ts';

// Commands that change something on the database stand in the audit log, beside what is done at the console.

export interface Acting extends AuditTools {
  database: Database;
  by: Actor;
}

/** Has a command act as the user of the system that typed it. A refusal becomes a sentence, with what to do about it. */
export async function act<T>(
  context: CommandContext,
  database: Database,
  work: (acting: Acting) => Promise<T>,
  advice: string,
): Promise<T> {
  const logger = { warn: (_details: object, text: string) => context.note(text) };
  try {
    return await work({ database, logger, by: { actor: 'cli', operator: userName() } });
  } catch (error) {
    if (!(error instanceof ConsoleError)) throw error;
    throw new CommandError(`${error.message} ${advice}`, error);
  }
}

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
