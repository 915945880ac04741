import { ProtocolError } from '../protocol/errors.ts';

/** There was no connection, it broke, or the server cannot work at present. After a broken connection it is not known whether a commit went through: the same request again finds out. */
export class DatabaseUnavailable extends ProtocolError {
  constructor(cause: unknown, problem = 'cannot be reached') {
    super('NET_DOWNSTREAM_UNAVAILABLE', `The database ${problem} right now; try again later.`, {
      cause,
      retryAfterSeconds,
    });
  }
}

/** No node of OpenSearch answers, the cluster lacks a part of the index, or the index is not complete yet. */
export class SearchIndexUnavailable extends ProtocolError {
  constructor(cause: unknown, problem = 'cannot be reached') {
    super('NET_DOWNSTREAM_UNAVAILABLE', `The search index ${problem} right now; try again later.`, {
      cause,
      retryAfterSeconds,
    });
  }
}

const retryAfterSeconds = 5;
