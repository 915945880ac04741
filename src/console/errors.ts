import { type ErrorCode, ProtocolError, type ProtocolErrorOptions } from '../protocol/errors.ts';

export class ConsoleError extends ProtocolError {
  readonly hint?: string;

  constructor(code: ErrorCode, message: string, options: ProtocolErrorOptions & { hint?: string } = {}) {
    super(code, message, options);
    this.hint = options.hint;
  }
}

export function notFound(message: string, hint?: string): ConsoleError {
  return new ConsoleError('NET_NOT_IMPLEMENTED', message, { status: 404, hint });
}

export function conflict(message: string, hint?: string): ConsoleError {
  return new ConsoleError('BIZ_INVALID_STATE_TRANSITION', message, { hint });
}

/** The page expects no NACK. */
export function consoleErrorBody(error: ProtocolError): object {
  const { code, message, path } = error;
  const hint = error instanceof ConsoleError ? error.hint : undefined;
  return {
    error: { code, message, ...(hint !== undefined && { hint }), ...(path !== undefined && { path }) },
  };
}
