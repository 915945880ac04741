import {
  type AskedRequest,
  type AwaitedCallback as Awaited,
  awaitCallback,
} from '../../../src/delivery/await-callback.ts';
import { SignpostError } from './errors.ts';
import type { ReceivedMessage } from './verify-request.ts';

export type AwaitedCallbacks = ReturnType<typeof createAwaitedCallbacks>;

interface Pending {
  callback: string;
  attempts: string[];
  awaited: Awaited<ReceivedMessage>;
}

/** An acknowledged callback may arrive again, if the acknowledgement was lost; one may also arrive after its call has given up. */
const maxRemembered = 1_000;

/** The requests that wait for callbacks, in memory: a callback finds its request by the messageId. */
export function createAwaitedCallbacks() {
  const pending = new Map<string, Pending>();
  const past = new Map<string, Pending>();

  return {
    expect({ messageId, callback, ...request }: AskedRequest & Record<'messageId' | 'callback', string>) {
      const awaited = awaitCallback<ReceivedMessage>(request);
      const entry: Pending = { callback, attempts: [], awaited };
      pending.set(messageId, entry);
      return {
        /** Every attempt has a new signature. */
        addAttempt: (authorization: string) => void entry.attempts.push(authorization),
        acknowledge: awaited.acknowledge,
        wait: (timeoutMs: number, signal?: AbortSignal) => within(entry, { messageId, timeoutMs, signal }),
        /** Call it in any case at the end. */
        done() {
          awaited.fail(new Error('the call has ended'));
          pending.delete(messageId);
          past.set(messageId, entry);
          const [oldest] = past.keys();
          if (past.size > maxRemembered && oldest !== undefined) past.delete(oldest);
        },
      };
    },
    /** The Authorization headers of a request's attempts, one of which its callback may name. */
    findSent: (messageId: string): readonly string[] =>
      (pending.get(messageId) ?? past.get(messageId))?.attempts ?? [],
    /** True if a call waits for it or has received it; throws if it does not answer its request. */
    accept(message: ReceivedMessage): boolean {
      const { messageId } = message.context;
      const entry = pending.get(messageId) ?? past.get(messageId);
      if (!entry || entry.callback !== message.action) return false;
      const { awaited } = entry;
      const wasAnswered = awaited.isAnswered;
      awaited.accept(message);
      return pending.has(messageId) || wasAnswered;
    },
    /** Keeps the reason of a refused callback for the waiting call. Refusals of other actions are ignored. */
    noteRefusal({ messageId, action, reason }: { messageId: string; action: string; reason: string }): void {
      const entry = pending.get(messageId);
      if (entry?.callback === action) entry.awaited.refusal = reason;
    },
    close(): void {
      for (const { awaited } of pending.values())
        awaited.fail(new SignpostError('NET_CALLBACK_FAILED', 'The client was closed.'));
    },
  };
}

async function within(
  { callback, awaited }: Pending,
  { messageId, timeoutMs, signal }: { messageId: string; timeoutMs: number; signal?: AbortSignal },
): Promise<ReceivedMessage> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let abort = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => {
      const { refusal } = awaited;
      const message = refusal
        ? `No ${callback} was accepted within ${timeoutMs} ms. The last one was refused: ${refusal}`
        : `No ${callback} came within ${timeoutMs} ms.`;
      reject(new SignpostError('NET_TIMEOUT', message, { messageId }));
    };
    timer = setTimeout(giveUp, timeoutMs);
    abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([awaited.arrived, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
