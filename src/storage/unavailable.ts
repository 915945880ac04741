import { ProtocolError } from '../protocol/errors.ts';

/**
 * There was no connection, it broke, or the server does not do its work at present. Where a connection broke, nobody knows whether a commit
 * went through: the same request once more finds out.
 */
export class DatabaseUnavailable extends ProtocolError {
  constructor(cause: unknown, problem = 'cannot be reached') {
    super('NET_DOWNSTREAM_UNAVAILABLE', `The database ${problem} at present; try again later.`, {
      cause,
      retryAfterSeconds,
    });
  }
}

const retryAfterSeconds = 5;
