import { type ErrorCode, ProtocolError } from '../../../src/protocol/errors.ts';

/** The only error class of this package. `code` is from the protocol's ErrorCode enumeration, or known only to the service. */
export class SignpostError extends Error {
  override readonly name = 'SignpostError';
  readonly code: ErrorCode | (string & {});
  /** JSONPath to the fault in the request, if known. */
  readonly path?: string;
  /** The messageId of the request: the service's operator can find it by this. */
  readonly messageId?: string;
  /** HTTP status of the answer, if there was one. */
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

/** Converts a fault from the protocol layer for callers of this package. Other errors stay unchanged. */
export function asSignpostError(thrown: unknown, messageId?: string): unknown {
  if (!(thrown instanceof ProtocolError)) return thrown;
  const { code, message, path, status } = thrown;
  return new SignpostError(code, message, { path, messageId, status, cause: thrown });
}

/** The reverse, for answers: an error that is not the sender's fault appears only as "internal error". */
export function asProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  if (thrown instanceof SignpostError && thrown.cause instanceof ProtocolError) return thrown.cause;
  if (thrown instanceof SignpostError) {
    const { code, message, path } = thrown;
    return new ProtocolError(code as ErrorCode, message, { path, cause: thrown });
  }
  return new ProtocolError('NET_INTERNAL_ERROR', 'internal error', { cause: thrown });
}
