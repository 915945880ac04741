import { type ErrorCode, ProtocolError } from '../../../src/protocol/errors.ts';

/** The one error of this package. `code` is one of the ErrorCode enumeration of the protocol, or one that only the service knows. */
export class SignpostError extends Error {
  override readonly name = 'SignpostError';
  readonly code: ErrorCode | (string & {});
  /** JSONPath to the culprit in the request, where there is one. */
  readonly path?: string;
  /** The messageId of the request: the service's operator can find it by this. */
  readonly messageId?: string;
  /** HTTP status of the answer, where one came. */
  readonly status?: number;

  constructor(
    code: SignpostError['code'],
    message: string,
    details: { path?: string; messageId?: string; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.code = code;
    this.path = details.path;
    this.messageId = details.messageId;
    this.status = details.status;
  }
}

/** A fault that the protocol layer found, as callers of this package see it. Anything else stays what it is. */
export function asSignpostError(thrown: unknown, messageId?: string): unknown {
  if (!(thrown instanceof ProtocolError)) return thrown;
  const { code, message, path, status } = thrown;
  return new SignpostError(code, message, { path, messageId, status, cause: thrown });
}

/** The other way round, for answers: what is not a fault of the sender shows as "internal error" and nothing else. */
export function asProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  if (thrown instanceof SignpostError && thrown.cause instanceof ProtocolError) return thrown.cause;
  if (thrown instanceof SignpostError) {
    const { code, message, path } = thrown;
    return new ProtocolError(code as ErrorCode, message, { path, cause: thrown });
  }
  return new ProtocolError('NET_INTERNAL_ERROR', 'internal error', { cause: thrown });
}
