import { setImmediate as immediate } from 'node:timers/promises';
import { type PlainError, plainError, reviveError } from '../carried-error.ts';
import type { Logger } from '../logger.ts';
import { type Action, actions } from '../protocol/actions.ts';
import { type Envelope, parseEnvelope } from '../protocol/envelope.ts';
import { overloaded, ProtocolError } from '../protocol/errors.ts';
import { type Json, parseJson } from '../protocol/json.ts';
import { joinJson, splitJson } from '../protocol/json-pieces.ts';
import { findMessageId } from '../protocol/message-id.ts';
import { messageIdScanUrl, scanMessageId } from '../protocol/message-id-scan.ts';
import { createThreadPool, DeadlineExceeded } from '../thread-pool.ts';

// Large bodies are parsed and checked in a thread, and joined here a few milliseconds at a time: reading five megabytes at once takes most of a second.

/** Larger bodies are read in a thread: reading them at once takes up to 20 ms. */
export const largeBodyBytes = 128 * 1024;
const sliceMs = 5;
/** A body of five megabytes may need a hundred megabytes of memory while it is read: one per caller at a time. */
const threadsAtOnce = { size: 2, perOwner: 1 };
/** Reading is linear, so it ends; but a new thread takes most of a second to start, and much longer on a busy machine. */
const deadlineMs = 60_000;
const waitMs = 10_000;

export type LargeBodies = ReturnType<typeof createLargeBodies>;

export function createLargeBodies(logger: Logger) {
  const reading = createThreadPool({ ...threadsAtOnce, logger });
  const scanning = createThreadPool({ size: 1, logger });
  return {
    /** `envelope` throws the fault of the body; `spentMs` is time of this thread, not of the other one. */
    async read(
      body: Buffer,
      { action: { method, path }, now, owner }: { action: Action; now: Date; owner: string },
    ) {
      const input: AsideTask = { body, method, path, now };
      const task = { module: import.meta.url, name: readAside.name, input, deadlineMs, waitMs, owner };
      const says = 'Too many large bodies are being read. Try again later.';
      const { messageId, outcome } = await reading.run<AsideResult>(task).catch(refuse(says));
      if ('refused' in outcome) {
        const refused = (): never => {
          throw reviveError(outcome.refused, [ProtocolError]);
        };
        return { messageId, spentMs: 0, envelope: refused };
      }
      const { envelope, spentMs } = await join(outcome.pieces);
      return { messageId, spentMs, envelope: () => envelope };
    },
    /** The messageId of a callback that is not verified yet. */
    scan(body: Buffer): Promise<string | undefined> {
      const task = { module: messageIdScanUrl, name: scanMessageId.name, input: body, deadlineMs };
      return scanning.run<string | undefined>(task).catch(refuse('Too many callbacks are being checked.'));
    },
    async close() {
      await Promise.all([reading.close(), scanning.close()]);
    },
  };
}

function refuse(says: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof DeadlineExceeded ? overloaded(says, { cause: error }) : error;
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

interface AsideTask {
  body: Uint8Array;
  method: string;
  path: string;
  now: Date;
}

interface AsideResult {
  messageId?: string;
  /** Pieces of the envelope (json-pieces.ts), or the ProtocolError that refused it. */
  outcome: { pieces: string[] } | { refused: PlainError };
}

/** Runs in the thread: parses and checks the body, and returns it in pieces. */
export function readAside({ body, method, path, now }: AsideTask): AsideResult {
  let json: Json | undefined;
  try {
    json = parseJson(body);
    const { context, message } = parseEnvelope(json, actionAt(method, path), now);
    const messageId = findMessageId(json);
    return { messageId, outcome: { pieces: splitJson({ context, message } as unknown as Json) } };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const messageId = findMessageId(json) ?? scanMessageId(body);
    return { messageId, outcome: { refused: plainError(error) } };
  }
}

function actionAt(method: string, path: string): Action {
  const action = Object.values(actions).find((each) => each.method === method && each.path === path);
  if (action === undefined) throw new TypeError(`there is no ${method} ${path}`);
  return action;
}
