import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { createConfiguredClient } from '../http/guarded-client.ts';
import { createLogger, type Logger } from '../logger.ts';
import { overloaded, ProtocolError } from '../protocol/errors.ts';
import { parseJson } from '../protocol/json.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import { openConfiguredSchemas } from '../schemas/schema-store.ts';
import { abandonFileLock } from '../storage/file-lock.ts';
import { createThreadPool } from '../thread-pool.ts';
import { createContentMemory } from './content-memory.ts';
import { openPublisher, type Publisher, type PublisherFurniture, publish } from './publisher.ts';
import { refreshDue } from './refresh.ts';
import { placesIn } from './tree.ts';
import { findTreeProblem } from './tree-problem.ts';
import { parseTriggerRequest } from './trigger-request.ts';

// Reading, comparing, signing and packing a large catalog takes seconds, during which the file server must keep answering. So all of it runs in
// one thread, one task after another.

/** Never reached by normal work; without a limit, one fault would block everything forever. */
const workMs = 30 * 60_000;
/** Limit for the waiting requests, which are in memory. */
const usualMaxWaitingBytes = 512 * 1024 * 1024;
/** How long the current work may take when the role is stopped. */
const usualFinishMs = 3_000;

export function startPublisherThread(
  config: Config,
  logger: Logger,
  { finishMs = usualFinishMs, maxWaitingBytes = usualMaxWaitingBytes } = {},
) {
  const threads = createThreadPool({ size: 1, logger });
  let last: Promise<unknown> = Promise.resolve();
  let waitingBytes = 0;

  async function perform<T>(work: (input: never) => Promise<T>, input: object, transfer: ArrayBuffer[] = []) {
    try {
      const task = { module: import.meta.url, name: work.name, input: { config, ...input } };
      return await threads.run<T>({ ...task, transfer, deadlineMs: workMs, errors: [ProtocolError] });
    } catch (error) {
      // After the death of the thread, its lock would still count as held, because this process lives.
      await abandonFileLock(placesIn(config.publisherDir).lockDirectory);
      throw error;
    }
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    /** The result of a raw request to the trigger; throws a ProtocolError if it is refused. The body is transferred. */
    async publish(body: Uint8Array, indexName?: string): Promise<TriggerAnswer> {
      const { length } = body;
      if (waitingBytes + length > maxWaitingBytes) {
        const says = 'Too much is waiting to be published. Try again later.';
        throw overloaded(says, { retryAfterSeconds: 10 });
      }
      waitingBytes += length;
      try {
        return await inTurn(() => perform(publishBody, { body, indexName }, ownMemoryOf(body)));
      } finally {
        waitingBytes -= length;
      }
    },
    /** Renews due files. Resolves with the earliest announced update. */
    refreshDue: () => inTurn(() => perform(refreshHere, {})),
    async close() {
      await Promise.race([last, delay(finishMs, undefined, { ref: false })]);
      await threads.close();
      await last;
    },
  };
}

/** Copying hundreds of megabytes would block for half a second. A small body may share its memory, so it is copied. */
function ownMemoryOf({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  const isAlone = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
  return isAlone && byteLength >= largeBytes ? [buffer] : [];
}

const largeBytes = 1_048_576;

interface PublishWork {
  config: Config;
  body: Uint8Array;
  indexName?: string;
}

/** Runs in the thread. */
export async function publishBody({ config, body, indexName }: PublishWork): Promise<TriggerAnswer> {
  const request = parseTriggerRequest(parseJson(body));
  try {
    return await publish(await openHere(config), request, indexName);
  } catch (error) {
    const message = findTreeProblem(error);
    // The caller is the operator, and may see it.
    throw message === undefined ? error : new ProtocolError('NET_INTERNAL_ERROR', message, { cause: error });
  }
}

/** Runs in the thread. */
export async function refreshHere({ config }: Pick<PublishWork, 'config'>): Promise<Date> {
  return refreshDue(await openHere(config));
}

async function openHere(config: Config): Promise<Publisher> {
  here ??= furnish(config);
  return openPublisher(config, await here);
}

/** State that the thread keeps. */
let here: Promise<PublisherFurniture> | undefined;

async function furnish(config: Config): Promise<PublisherFurniture> {
  const { LOG_LEVEL: level, LOG_FORMAT: format } = config;
  const logger = createLogger({ level, format }).child({ role: 'publisher' });
  const client = createConfiguredClient(config);
  const schemas = await openConfiguredSchemas(config, client, logger);
  return { schemas, logger, memory: createContentMemory() };
}
