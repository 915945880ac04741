import { type AskedService, isAskedService } from '../../../src/protocol/asked-service.ts';
import { findBodyDigest } from '../../../src/protocol/digest.ts';
import { ProtocolError } from '../../../src/protocol/errors.ts';
import { SignpostError } from './errors.ts';
import type { ReceivedMessage } from './verify-request.ts';

/** The requests whose callbacks are waited for, in memory: a callback finds its request by the messageId. */
export interface AwaitedCallbacks {
  expect(request: ExpectedRequest): AwaitedCallback;
  /** The Authorization headers under which a request was sent, by which its callback may name it. */
  findSent(messageId: string): readonly string[];
  /** False where no call waits for it, or has waited and got it; throws where it does not answer the request that it names. */
  accept(message: ReceivedMessage): boolean;
  /** Keeps why a callback was refused, for the call that waits for it in vain. Refusals of other actions than the awaited one are ignored. */
  noteRefusal(refused: { messageId: string; action: string; reason: string }): void;
  /** Ends all waiting. */
  close(): void;
}

export interface ExpectedRequest {
  messageId: string;
  callback: string;
  digest: string;
  service: AskedService;
}

export interface AwaitedCallback {
  /** Every attempt has a signature of its own. */
  addAttempt(authorization: string): void;
  /** The acknowledgement is here; where the service signed it, only a callback of that signer counts. What came before it counts from now on. */
  acknowledge(signer: string | undefined): void;
  wait(timeoutMs: number, signal?: AbortSignal): Promise<ReceivedMessage>;
  /** To be called however it ends. */
  done(): void;
}

interface Pending extends Omit<ExpectedRequest, 'messageId'> {
  attempts: string[];
  /** Who signed the acknowledgement. */
  acknowledgedBy?: string;
  /** The first callback of each signer that came before the acknowledgement; undefined once that is here. */
  early?: Map<string, ReceivedMessage>;
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
    expect({ messageId, ...request }) {
      const { promise, settle } = outcome();
      const entry: Pending = { ...request, attempts: [], early: new Map(), settle };
      pending.set(messageId, entry);
      return {
        addAttempt: (authorization) => void entry.attempts.push(authorization),
        acknowledge(signer) {
          const early = [...(entry.early?.values() ?? [])];
          entry.acknowledgedBy = signer;
          entry.early = undefined;
          for (const message of early)
            if (signer === undefined || signer === message.signer) take(entry, message);
            else entry.refusal = notAsked(signer, message.signer);
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
      const { early, isAnswered = false } = entry;
      if (!pending.has(messageId)) return isAnswered;
      if (!early) take(entry, message);
      else if (!early.has(message.signer)) early.set(message.signer, message);
      return true;
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

function take(entry: Pending, message: ReceivedMessage): void {
  entry.isAnswered = true;
  entry.settle(message);
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

/** Which callbacks count is in the README, "Whose callback counts". */
function checkAnswers(message: ReceivedMessage, { digest, service, acknowledgedBy }: Pending): void {
  const { context, signer, signerUrl } = message;
  const named = context.requestDigest?.digest;
  if (named !== undefined && findBodyDigest(named) !== digest)
    throw new ProtocolError('CTX_INVALID_FIELD', 'This is the digest of another request.', {
      path: '$.context.requestDigest.digest',
    });
  const asked = acknowledgedBy ?? service.identity;
  if (asked !== undefined && asked !== signer)
    throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', notAsked(asked, signer));
  if (isAskedService(service, signer, { url: signerUrl })) return;
  const { origin } = new URL(service.url);
  throw new ProtocolError(
    'AUT_UNAUTHORIZED_ACTION',
    `${origin} was asked, and the registry has ${signer} at ${signerUrl ?? 'no address'}. Name the service by its subscriberId where it has another address there.`,
  );
}

function notAsked(asked: string, signer: string): string {
  return `${asked} was asked, not ${signer}.`;
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
