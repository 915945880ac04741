import { setImmediate as immediate } from 'node:timers/promises';
import { DeadlineExceeded } from '../fair-turns.ts';
import type { Logger } from '../logger.ts';
import type { Action } from '../protocol/actions.ts';
import type { Envelope } from '../protocol/envelope.ts';
import { overloaded, ProtocolError } from '../protocol/errors.ts';
import { joinJson } from '../protocol/json-pieces.ts';
import { type AsideResult, type AsideTask, readAside, readAsideUrl } from '../protocol/read-aside.ts';
import { createThreadPool } from '../thread-pool.ts';

// Large bodies are parsed and checked in a thread, and put together here a few milliseconds at a time: to read five megabytes with many
// members at once takes most of a second, in which nobody else is served.

/** Bodies of this many bytes are read in a thread: reading them at once takes up to 20 ms. */
export const largeBodyBytes = 128 * 1024;
/** How long one slice of putting together takes, about. */
const sliceMs = 5;
/** A body of five megabytes may take a hundred while it is read: one of a caller at a time. */
const threadsAtOnce = { size: 2, perOwner: 1 };
/** Reading is linear, so it ends; but a new thread takes most of a second to start, and much longer on a busy machine. */
const deadlineMs = 60_000;
/** A thread is waited for no longer than this. */
const waitMs = 10_000;

export interface LargeBodies {
  read(body: Buffer, options: { action: Action; now: Date; owner: string }): Promise<ReadBody>;
  close(): Promise<void>;
}

interface ReadBody {
  messageId?: string;
  /** Throws what is wrong with the body. */
  envelope(): Envelope;
  /** Time of this thread, not of the other one. */
  spentMs: number;
}

export function createLargeBodies(logger: Logger): LargeBodies {
  const threads = createThreadPool({ ...threadsAtOnce, logger });
  return {
    async read(body, { action: { method, path }, now, owner }) {
      const input: AsideTask = { body, method, path, now };
      const task = { module: readAsideUrl, name: readAside.name, input, deadlineMs, waitMs, owner };
      const { messageId, outcome } = await threads.run<AsideResult>(task).catch((error) => {
        if (!(error instanceof DeadlineExceeded)) throw error;
        throw overloaded('Too many large bodies are being read. Try again later.', { cause: error });
      });
      if ('refused' in outcome) {
        const { code, message, ...options } = outcome.refused;
        const refused = () => {
          throw new ProtocolError(code, message, options);
        };
        return { messageId, spentMs: 0, envelope: refused };
      }
      const { envelope, spentMs } = await join(outcome.pieces);
      return { messageId, spentMs, envelope: () => envelope };
    },
    close: () => threads.close(),
  };
}

async function join(pieces: readonly string[]): Promise<{ envelope: Envelope; spentMs: number }> {
  const joined = joinJson(pieces);
  let [spentMs, began] = [0, performance.now()];
  while (joined.next()) {
    const sliceSpentMs = performance.now() - began;
    if (sliceSpentMs < sliceMs) continue;
    spentMs += sliceSpentMs;
    await immediate();
    began = performance.now();
  }
  spentMs += performance.now() - began;
  return { envelope: joined.value() as unknown as Envelope, spentMs };
}
