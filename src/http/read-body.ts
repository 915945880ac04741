import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ProtocolError } from '../protocol/errors.ts';
import type { Receipt } from './receive-budget.ts';

// The bytes of a request as received: no decompression, no decoding, whatever Content-Type says. Signatures cover these bytes.

/** After an early answer, up to this much more is read and discarded, so that a sender that writes before it reads sees the answer. */
const maxDiscardedBytes = 64 * 1024 * 1024;
const maxDiscardMs = 10_000;
/** Bodies take turns: this many pieces of at most 64 KiB per interval. */
const turnEveryMs = 4;
const piecesAtOnce = 2;

const nothing = Buffer.alloc(0);

/** The sender disconnected before its request was complete: no answer is possible. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export interface ReadOptions {
  maxBytes: number;
  receipt?: Receipt;
  /** Without it, only the deadline of the whole request applies (server.ts). */
  progress?: Progress;
  /** The source of an unknown sender: its body is read in turns with those of other such sources. */
  inTurnsOf?: string;
}

/** A body must bring this many bytes in each interval, or end. */
export interface Progress {
  bytes: number;
  everyMs: number;
}

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Undefined for a chunked body: its length is known at its end. */
export function declaredLength(request: IncomingMessage): number | undefined {
  if (!hasBody(request)) return 0;
  return request.headers['transfer-encoding'] === undefined
    ? Number(request.headers['content-length'])
    : undefined;
}

/** A body of exactly `maxBytes` is allowed. */
export function checkDeclaredLength(request: IncomingMessage, maxBytes: number): void {
  if ((declaredLength(request) ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

export function readBody(request: IncomingMessage, options: ReadOptions): Promise<Buffer> | Buffer {
  checkDeclaredLength(request, options.maxBytes);
  return hasBody(request) ? collect(request, options) : nothing;
}

function collect(request: IncomingMessage, options: ReadOptions): Promise<Buffer> {
  const { maxBytes, receipt, progress, inTurnsOf } = options;
  return new Promise((resolve, reject) => {
    const gone = () => new ClientGone('the sender disconnected before the end of its request');
    if (request.destroyed) return reject(gone());
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return fail(tooLarge(maxBytes));
      try {
        receipt?.take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = () => {
      stop();
      const [first = nothing] = chunks;
      resolve(chunks.length > 1 ? Buffer.concat(chunks, bytes) : first);
    };
    const onGone = () => fail(gone());
    const fail = (error: unknown) => {
      stop();
      reject(error);
    };
    const onStalled = () =>
      fail(new ProtocolError('NET_TIMEOUT', 'The body did not arrive in time.', { status: 408 }));
    const stopWatching = progress && watchProgress(() => bytes, progress, onStalled);
    const stop = () => {
      stopWatching?.();
      stopReading();
      request.off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    const stopReading =
      inTurnsOf === undefined ? flow(request, onData) : readInTurns(request, inTurnsOf, onData);
    request.on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

function watchProgress(read: () => number, { bytes, everyMs }: Progress, onStalled: () => void): () => void {
  let before = 0;
  let looking: NodeJS.Immediate | undefined;
  const timer = setInterval(() => {
    // After a pause of this process, the data that arrived meanwhile is read right after the timers: check again then.
    looking = setImmediate(() => {
      if (read() - before < bytes) onStalled();
      before = read();
    });
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    clearImmediate(looking);
  };
}

/** The answer to a request whose body is unread. Ends when the sender has written everything or is cut off: an earlier end would lose the answer. */
export function answerEarly(request: IncomingMessage, source: string, answer: Buffer): Readable {
  const discarded = discardRest(request, source);
  async function* answerThenWait() {
    yield answer;
    await discarded;
  }
  return Readable.from(answerThenWait(), { objectMode: false });
}

function discardRest(request: IncomingMessage, source: string): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(() => request.destroy(), maxDiscardMs).unref();
    const stopReading = readInTurns(request, source, (chunk) => {
      bytes += chunk.length;
      if (bytes > maxDiscardedBytes) request.destroy();
    });
    const done = () => {
      clearTimeout(timer);
      stopReading();
      resolve();
    };
    request.on('error', done).on('close', done).on('end', done);
  });
}

function flow(request: IncomingMessage, onData: (chunk: Buffer) => void): () => void {
  request.on('data', onData);
  return () => request.off('data', onData);
}

/** By source, the functions that read a piece of each of its bodies. */
const waiting = new Map<string, Set<() => void>>();
let ticking: NodeJS.Timeout | undefined;

/** Reads a body in pieces, one source after the other: a hundred large bodies at full speed would block for seconds. Returns its end function. */
function readInTurns(request: IncomingMessage, source: string, onData: (chunk: Buffer) => void): () => void {
  const readPiece = () => {
    const chunk: Buffer | null = request.read();
    if (chunk !== null) onData(chunk);
  };
  request.pause();
  waiting.set(source, (waiting.get(source) ?? new Set()).add(readPiece));
  ticking ??= setInterval(giveTurns, turnEveryMs).unref();
  return () => {
    const bodies = waiting.get(source);
    bodies?.delete(readPiece);
    if (bodies?.size === 0) waiting.delete(source);
  };
}

function giveTurns(): void {
  for (const [source, bodies] of [...waiting].slice(0, piecesAtOnce)) {
    // At the end of the queue, for the next time.
    waiting.delete(source);
    waiting.set(source, bodies);
    for (const readPiece of [...bodies].slice(0, Math.ceil(piecesAtOnce / waiting.size))) {
      bodies.delete(readPiece);
      bodies.add(readPiece);
      readPiece();
    }
  }
  if (waiting.size > 0) return;
  clearInterval(ticking);
  ticking = undefined;
}

export function tooLarge(maxBytes: number): ProtocolError {
  const says = `The body has more than ${maxBytes} bytes; split it across several requests.`;
  return new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', says, { status: 413 });
}
