import type { Config } from '../config.ts';
import { largeBodyBytes } from '../http/large-bodies.ts';
import type { Answer, VerifiedRequest } from '../http/signed-route.ts';
import { actions } from '../protocol/actions.ts';
import { overloaded, ProtocolError } from '../protocol/errors.ts';
import { AlreadyRemembered } from '../protocol/remembered.ts';
import { openThreadDatabase, type ThreadDatabase, threadDatabase } from '../storage/thread-database.ts';
import { createThreadPool, DeadlineExceeded } from '../thread-pool.ts';
import type { DiscoveryContext } from './context.ts';
import { receivePush } from './receive-push.ts';

// Applies pushes in threads: a large one would block the main thread for seconds and, on a busy one, the thirty statements of a small push would take
// a quarter of a second. A thread parses the body again, and writes over separate connections.

type PushRequest = VerifiedRequest<typeof actions.push>;

/** One sender has at most half of each while others wait. A small push mostly waits for the database: one thread applies several at a time. */
const large = { size: 2 };
const small = { size: 1, ofAllWorkers: 8, least: 2 };
/** The limit of a transaction. */
const deadlineMs = 5 * 60_000;
/** Maximum wait for a thread. */
const waitMs = 20_000;

export function createPushAside({ config, database, logger }: DiscoveryContext) {
  const forLarge = createThreadPool({ ...large, logger });
  // Small pushes should be found soon, and need little processor time.
  const perThread = Math.max(small.least, Math.floor(small.ofAllWorkers / config.WORKERS));
  const forSmall = createThreadPool({ size: small.size, perThread, givesWay: false, logger });
  const thread = threadDatabase(database, logger, config, perThread);
  return {
    async receive({ action: _action, message: _message, ...request }: PushRequest): Promise<Answer> {
      const { identity: owner, rawBody } = request;
      const threads = rawBody.length < largeBodyBytes ? forSmall : forLarge;
      const input: ThreadInput = { config, thread, request };
      const task = { module: import.meta.url, name: receiveHere.name, input, owner, deadlineMs, waitMs };
      const errors = [AlreadyRemembered, ProtocolError];
      return threads.run<Answer>({ ...task, errors }).catch((error) => {
        if (!(error instanceof DeadlineExceeded)) throw error;
        const options = { retryAfterSeconds: 5, cause: error };
        throw overloaded('Too many pushes are being applied. Try again later.', options);
      });
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

/** Runs in the thread. */
export async function receiveHere({ config, thread, request }: ThreadInput): Promise<Answer> {
  const { database, logger } = await openThreadDatabase(thread);
  // Its bytes were checked before (http/verified-request.ts).
  const { message } = JSON.parse(Buffer.from(request.rawBody).toString('utf8'));
  const context = { config, database, logger, now: () => new Date() };
  return receivePush(context, { ...request, action: actions.push, message });
}
