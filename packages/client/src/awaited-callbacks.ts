import { findBodyDigest } from '../../../src/protocol/digest.ts';
import { ProtocolError } from '../../../src/protocol/errors.ts';
import { SignpostError } from './errors.ts';
import type { ReceivedMessage } from './verify-request.ts';

/** The requests whose callbacks are waited for, in memory: a callback finds its request by the messageId. */
export interface AwaitedCallbacks {
  expect(request: { messageId: string; callback: string; digest: string }): AwaitedCallback;
  /** The Authorization headers under which a request was sent, by which its callback may name it. */
  findSent(messageId: string): readonly string[];
  /** False where no call waits for it, or has waited and got it; throws where it does not answer the request that it names. */
  accept(message: ReceivedMessage): boolean;
  /** Keeps why a callback was refused, for the call that waits for it in vain. Refusals of other actions than the awaited one are ignored. */
  noteRefusal(refused: { messageId: string; action: string; reason: string }): void;
  /** Ends all waiting. */
  close(): void;
}

export interface AwaitedCallback {
  /** Every attempt has a signature of its own. */
  addAttempt(authorization: string): void;
  /** The service that acknowledged the request, known by the signature of its acknowledgement: from then on only its callback is accepted. */
  setAsked(identity: string): void;
  wait(timeoutMs: number, signal?: AbortSignal): Promise<ReceivedMessage>;
  /** To be called however it ends. */
  done(): void;
}

interface Pending {
  callback: string;
  digest: string;
  attempts: string[];
  asked?: string;
  /** The callback has come. */
  isAnswered?: boolean;
  /** Why the last callback to this request was refused, where one was. */
  refusal?: string;
  settle(outcome: ReceivedMessage | Error): void;
}

/** A callback that was acknowledged may come again, if the acknowledgement was lost; one that nobody waits for any more may still come. */
const maxRemembered = 1_000;

export function createAwaitedCallbacks(): AwaitedCallbacks {
  const pending = new Map<string, Pending>();
  const past = new Map<string, Pending>();

  return {
    expect({ messageId, callback, digest }) {
      const { promise, settle } = outcome();
      const entry: Pending = { callback, digest, attempts: [], settle };
      pending.set(messageId, entry);
      return {
        addAttempt: (authorization) => void entry.attempts.push(authorization),
        setAsked: (identity) => {
          entry.asked = identity;
        },
        wait: (timeoutMs, signal) => within(promise, { messageId, entry, timeoutMs, signal }),
        done() {
          pending.delete(messageId);
          past.set(messageId, entry);
          const [oldest] = past.keys();
          if (past.size > maxRemembered && oldest !== undefined) past.delete(oldest);
        },
      };
    },
    findSent: (messageId) => (pending.get(messageId) ?? past.get(messageId))?.attempts ?? [],
    accept(message) {
      const { messageId } = message.context;
      const entry = pending.get(messageId) ?? past.get(messageId);
      if (!entry || entry.callback !== message.action) return false;
      checkAnswers(message, entry);
      const isTaken = pending.has(messageId) || entry.isAnswered === true;
      entry.isAnswered = isTaken;
      entry.settle(message);
      return isTaken;
    },
    noteRefusal({ messageId, action, reason }) {
      const entry = pending.get(messageId);
      if (entry?.callback === action) entry.refusal = reason;
    },
    close() {
      for (const { settle } of pending.values())
        settle(new SignpostError('NET_CALLBACK_FAILED', 'The client was closed.'));
    },
  };
}

function outcome(): { promise: Promise<ReceivedMessage>; settle: Pending['settle'] } {
  let settle: Pending['settle'] = () => {};
  const promise = new Promise<ReceivedMessage>((resolve, reject) => {
    settle = (given) => (given instanceof Error ? reject(given) : resolve(given));
  });
  // Nobody may be waiting yet.
  promise.catch(() => undefined);
  return { promise, settle };
}

function checkAnswers({ context, signer }: ReceivedMessage, { digest, asked }: Pending): void {
  const named = context.requestDigest?.digest;
  if (named !== undefined && findBodyDigest(named) !== digest)
    throw new ProtocolError('CTX_INVALID_FIELD', 'This is the digest of another request.', {
      path: '$.context.requestDigest.digest',
    });
  if (asked !== undefined && asked !== signer)
    throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', `${asked} was asked, not ${signer}.`);
}

async function within(
  arrival: Promise<ReceivedMessage>,
  {
    messageId,
    entry,
    timeoutMs,
    signal,
  }: { messageId: string; entry: Pending; timeoutMs: number; signal?: AbortSignal },
): Promise<ReceivedMessage> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let abort = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => {
      const { callback, refusal } = entry;
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
    return await Promise.race([arrival, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
