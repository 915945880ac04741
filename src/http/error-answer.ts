import { ack, nack } from '../protocol/acknowledgement.ts';
import { ProtocolError } from '../protocol/errors.ts';

/** The answer of a route. A text, a Buffer or a SpooledBody is JSON that is already rendered. */
export interface Answer {
  status: number;
  body: object | string;
  headers?: Record<string, string>;
}

interface RefusedRequest {
  /** Repeated in the NACK if it could be read. */
  messageId?: string;
  /** Our subscriberId, for the challenge of a 401. */
  realm?: string;
}

/** The one function from an error to an answer (catalog spec: Errors). */
export function errorAnswer(thrown: unknown, { messageId, realm }: RefusedRequest = {}): Answer {
  const error = asProtocolError(thrown);
  const headers: Record<string, string> = {};
  if (error.retryAfterSeconds !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  if (error.status === 401 && realm !== undefined)
    headers['www-authenticate'] = `Signature realm="${realm}",headers="(created) (expires) digest"`;
  // 202 acknowledges a received message that is not processed: an ACK with an error block.
  const received = error.status === 202 && messageId !== undefined;
  const body = received ? ack(messageId, error) : nack(error, messageId);
  return { status: error.status, body, headers };
}

/** Any error that is not the caller's fault shows as "internal error" and nothing else. */
export function asProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const status = statusOfFastifyError(thrown);
  if (status === undefined)
    return new ProtocolError('NET_INTERNAL_ERROR', 'internal error', { cause: thrown });
  const text = thrown instanceof Error ? thrown.message : 'The request cannot be read.';
  const message = status === 415 ? 'The body must be application/json.' : text;
  return new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', message, { status, cause: thrown });
}

/** Fastify's own refusals: a body too large, a media type without a parser, a URL that cannot be decoded. */
function statusOfFastifyError(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || !('statusCode' in thrown)) return undefined;
  const { code, statusCode } = thrown;
  if (typeof code !== 'string' || !code.startsWith('FST_') || typeof statusCode !== 'number')
    return undefined;
  return statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}
