import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ProtocolError } from '../protocol/errors.ts';

// The bytes of a request as they came: no decompression, no decoding, whatever Content-Type says. Signatures cover these bytes.

/** Memory is the process's, so the sum of what is being received is limited for the process. */
const maxReceivingBytes = 512 * 1024 * 1024;
let receivingBytes = 0;

/** After an early answer, so much more is read and thrown away, so that a sender that writes first and reads then sees it. */
const maxDiscardedBytes = 64 * 1024 * 1024;
const maxDiscardMs = 10_000;

const nothing = Buffer.alloc(0);

/** The sender went away before its request was complete: there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** Exactly `maxBytes` pass. More is refused as soon as it is known. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> | Buffer {
  if (!hasBody(request)) return nothing;
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  return collect(request, maxBytes);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      receivingBytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) fail(tooLarge(maxBytes));
      else if (receivingBytes > maxReceivingBytes) fail(tooMuchAtOnce());
    };
    const onEnd = () => {
      stop();
      const [first = nothing] = chunks;
      resolve(chunks.length > 1 ? Buffer.concat(chunks, bytes) : first);
    };
    const onGone = () => fail(new ClientGone('the sender went away before the end of its request'));
    const fail = (error: Error) => {
      stop();
      reject(error);
    };
    const stop = () => {
      receivingBytes -= bytes;
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/**
 * The answer to a request whose body was not read to its end. It stands there at once, but the exchange ends only when the sender
 * has written all: a connection that is closed while it still writes would take the answer away from it. A sender that goes on for
 * too long is cut off.
 */
export function answerEarly(request: IncomingMessage, answer: Buffer): Readable {
  const discarded = discardRest(request);
  async function* answerThenWait() {
    yield answer;
    await discarded;
  }
  return Readable.from(answerThenWait(), { objectMode: false });
}

function discardRest(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(() => request.destroy(), maxDiscardMs).unref();
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    request
      .on('error', done)
      .on('close', done)
      .on('end', done)
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxDiscardedBytes) request.destroy();
      })
      .resume();
  });
}

function tooLarge(maxBytes: number): ProtocolError {
  return new ProtocolError(
    'SCH_SCHEMA_VALIDATION_FAILED',
    `The body has more than ${maxBytes} bytes; split it across several requests.`,
    { status: 413 },
  );
}

function tooMuchAtOnce(): ProtocolError {
  return new ProtocolError('NET_OVERLOADED', 'Too much is being received at once. Try again later.', {
    retryAfterSeconds: 2,
  });
}
