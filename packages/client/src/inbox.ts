import { SignpostError } from './errors.ts';
import type { ReceivedMessage } from './verify-request.ts';

/** Received messages, in memory: for tests, and for scripts that examine pushes. Give `inbox.take` to the constructor as `onMessage`. */
export interface Inbox {
  /** In the order of arrival. */
  readonly messages: readonly ReceivedMessage[];
  take(message: ReceivedMessage): void;
  /** Waits for the first message of this action that `next` has not returned before. */
  next<A extends ReceivedMessage['action']>(
    action: A,
    options?: { timeoutMs?: number },
  ): Promise<Extract<ReceivedMessage, { action: A }>>;
}

interface Waiting {
  action: string;
  give(message: ReceivedMessage): void;
}

export function createInbox(): Inbox {
  const messages: ReceivedMessage[] = [];
  const unread: ReceivedMessage[] = [];
  const waiting: Waiting[] = [];

  return {
    messages,
    take(message) {
      messages.push(message);
      const index = waiting.findIndex(({ action }) => action === message.action);
      if (index === -1) unread.push(message);
      else waiting.splice(index, 1)[0]?.give(message);
    },
    next<A extends ReceivedMessage['action']>(action: A, { timeoutMs = 30_000 } = {}) {
      type Wanted = Extract<ReceivedMessage, { action: A }>;
      const index = unread.findIndex((message) => message.action === action);
      if (index !== -1) return Promise.resolve(unread.splice(index, 1)[0] as Wanted);
      return new Promise<Wanted>((resolve, reject) => {
        const one: Waiting = {
          action,
          give(message) {
            clearTimeout(timer);
            resolve(message as Wanted);
          },
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(one), 1);
          reject(new SignpostError('NET_TIMEOUT', `No ${action} came within ${timeoutMs} ms.`));
        }, timeoutMs);
        waiting.push(one);
      });
    },
  };
}
