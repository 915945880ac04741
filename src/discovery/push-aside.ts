import type { Config } from '../config.ts';
import { asProtocolError } from '../http/error-answer.ts';
import { largeBodyBytes } from '../http/large-bodies.ts';
import type { Answer, VerifiedRequest } from '../http/signed-route.ts';
import { actions } from '../protocol/actions.ts';
import { AlreadyRemembered, type ErrorCode, overloaded, ProtocolError } from '../protocol/errors.ts';
import { openThreadDatabase, type ThreadDatabase, threadDatabase } from '../storage/thread-database.ts';
import { createThreadPool, DeadlineExceeded } from '../thread-pool.ts';
import type { DiscoveryContext } from './context.ts';
import { receivePush } from './receive-push.ts';

// Pushes are applied in threads. To take sixteen megabytes of documents apart for the index, or one polygon of fifty thousand points, takes seconds, in
// which nobody would be served. And a small push is some thirty statements: on the main thread, each waits until every search that has its answer has gone
// on, so that a push would take a quarter of a second while others search. A thread parses the body again, and writes over connections of its own.

type PushRequest = VerifiedRequest<typeof actions.push>;

interface PushAside {
  /** As `receivePush`. */
  receive(request: PushRequest): Promise<Answer>;
  close(): Promise<void>;
}

/** One sender has at most half of each while others ask. A small push mostly waits for the database: one thread applies several at a time. */
const large = { size: 2 };
const small = { size: 1, ofAllWorkers: 8, least: 2 };
/** As long as a transaction may take. */
const deadlineMs = 5 * 60_000;
/** A thread is waited for no longer than this. */
const waitMs = 20_000;

export function createPushAside({ config, database, logger }: DiscoveryContext): PushAside {
  const forLarge = createThreadPool({ ...large, logger });
  // Somebody waits to find what a small push brings, and it takes little of the processors.
  const perThread = Math.max(small.least, Math.floor(small.ofAllWorkers / config.WORKERS));
  const forSmall = createThreadPool({ size: small.size, perThread, givesWay: false, logger });
  const thread = threadDatabase(database, logger, config, perThread);
  return {
    async receive({ action: _action, message: _message, ...request }) {
      const { identity: owner, rawBody } = request;
      const threads = rawBody.length < largeBodyBytes ? forSmall : forLarge;
      const input: ThreadInput = { config, thread, request };
      const task = { module: import.meta.url, name: receiveHere.name, input, owner, deadlineMs, waitMs };
      const outcome = await threads.run<Outcome>(task).catch((error) => {
        if (!(error instanceof DeadlineExceeded)) throw error;
        const options = { retryAfterSeconds: 5, cause: error };
        throw overloaded('Too many pushes are being applied. Try again later.', options);
      });
      if ('answer' in outcome) return outcome.answer;
      if ('isRepeat' in outcome) throw new AlreadyRemembered();
      const { code, says, ...options } = outcome.refused;
      throw new ProtocolError(code, says, options);
    },
    async close() {
      await Promise.all([forLarge.close(), forSmall.close()]);
    },
  };
}

interface ThreadInput {
  config: Config;
  thread: ThreadDatabase;
  request: Omit<PushRequest, 'action' | 'message'>;
}

/** The class of an error does not come through. */
type Outcome = { answer: Answer } | { isRepeat: true } | { refused: Refusal };

interface Refusal {
  code: ErrorCode;
  says: string;
  path?: string;
  status: number;
  retryAfterSeconds?: number;
}

/** Runs in the thread. */
export async function receiveHere({ config, thread, request }: ThreadInput): Promise<Outcome> {
  const { database, logger } = await openThreadDatabase(thread);
  // Its bytes were checked before (http/verified-request.ts).
  const { message } = JSON.parse(Buffer.from(request.rawBody).toString('utf8'));
  try {
    const context = { config, database, logger, now: () => new Date() };
    return { answer: await receivePush(context, { ...request, action: actions.push, message }) };
  } catch (error) {
    if (error instanceof AlreadyRemembered) return { isRepeat: true };
    const { code, message: says, path, status, retryAfterSeconds } = asProtocolError(error);
    if (code === 'NET_INTERNAL_ERROR') logger.error({ err: error }, 'a push failed');
    return { refused: { code, says, path, status, retryAfterSeconds } };
  }
}
