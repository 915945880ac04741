import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ProtocolError } from '../protocol/errors.ts';
import { errorAnswer } from './error-answer.ts';

// Answers requests that Node refuses before Fastify sees them, by default without a reason.

export const maxHeaderBytes = 16 * 1024;

/** An `Expect` other than 100-continue (RFC 9110, 10.1.1). Node calls this before there is a request for Fastify. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const refusal = new ProtocolError('NET_NOT_IMPLEMENTED', 'The Expect header must be 100-continue.');
  const body = JSON.stringify(errorAnswer(refusal).body);
  response.writeHead(417, { 'content-type': 'application/json', connection: 'close' }).end(body);
}

/** Bytes that are not HTTP, and headers that are too slow or too large, never become a request; they are answered on the socket. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: AnsweringSocket): void {
  // While an earlier answer is being sent, another one would look like a part of it.
  const isAnswering = socket._httpMessage?.headersSent === true;
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) return void socket.destroy();
  const [status, refusal] = unreadable[error.code ?? ''] ?? notHttp;
  const body = JSON.stringify(errorAnswer(refusal).body);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}

/** Node keeps the current answer here. */
type AnsweringSocket = Socket & { _httpMessage?: ServerResponse | null };

type Unreadable = [status: string, refusal: ProtocolError];

const notHttp: Unreadable = [
  '400 Bad Request',
  new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', 'This is not HTTP/1.1.'),
];

export const headTooLarge = new ProtocolError(
  'SCH_SCHEMA_VALIDATION_FAILED',
  `Address and headers have more than ${maxHeaderBytes} bytes.`,
);

const unreadable: Record<string, Unreadable> = {
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    new ProtocolError('NET_TIMEOUT', 'The request did not arrive in time.'),
  ],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', headTooLarge],
};
