import { DeadlineExceeded, NoTurn } from '../fair-turns.ts';
import type { Database } from '../storage/database.ts';
import { createQueryable, type Run } from '../storage/statement.ts';
import { ConsoleError } from './errors.ts';

// Reading is free for everybody on this machine, so the server cancels long statements of the console. They must not occupy the connections or
// processors of the services. Transactions for operators' changes have the usual limit.

const statementTimeoutMs = 5_000;
const retryAfterSeconds = 2;

export function limitStatements(database: Database, timeoutMs = statementTimeoutMs): Database {
  const query: Run = (text, values, options) =>
    database.query<never>(text, values, { timeoutMs, ...options }).catch((error) => {
      throw explainDelay(error, timeoutMs);
    });
  return Object.assign(Object.create(database), createQueryable(query));
}

function explainDelay(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof DeadlineExceeded)) return error;
  const seconds = `${timeoutMs / 1000} s`;
  if (error instanceof NoTurn) {
    const hint = 'Try again when the load is lower; DATABASE_CONNECTIONS sets how many there are.';
    const said = `No connection to the database became free within ${seconds}.`;
    return new ConsoleError('NET_OVERLOADED', said, { retryAfterSeconds, cause: error, hint });
  }
  return new ConsoleError('NET_TIMEOUT', `The database took longer than ${seconds} for this.`, {
    ...{ cause: error },
    hint: 'Ask for less (a whole id, one owner, one network, a smaller page), or try again when the database has less to do.',
  });
}
