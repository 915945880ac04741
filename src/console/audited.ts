import { ProtocolError } from '../protocol/errors.ts';
import { type Actor, writeAudit } from '../storage/console/audit.ts';
import type { Queryable } from '../storage/database.ts';

export interface AuditTools {
  database: Queryable;
  logger: { warn(details: object, text: string): void };
}

/** Runs an operator's action, from the console or a command, and logs its outcome. */
export async function audited<T>(
  { database, logger }: AuditTools,
  by: Actor,
  { action, target }: { action: string; target: string },
  work: () => Promise<T>,
): Promise<T> {
  // A failure to write the log does not undo the action.
  const write = (outcome: string) =>
    writeAudit(database, { ...by, action, target, outcome }).catch((err) =>
      logger.warn({ err, action, target, outcome }, 'an action of an operator was not recorded'),
    );
  try {
    const result = await work();
    await write('done');
    return result;
  } catch (error) {
    await write(error instanceof ProtocolError ? `${error.code}: ${error.message}` : 'internal error');
    throw error;
  }
}
