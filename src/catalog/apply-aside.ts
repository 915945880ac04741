import type { Config } from '../config.ts';
import { createConfiguredClient } from '../http/guarded-client.ts';
import { openConfiguredSchemas, type SchemaStore } from '../schemas/schema-store.ts';
import type { OpenSubmission } from '../storage/catalog/submissions.ts';
import {
  openThreadDatabase,
  stuckAfterMs,
  type ThreadDatabase,
  threadDatabase,
} from '../storage/thread-database.ts';
import { createThreadPool } from '../thread-pool.ts';
import { type ApplyingContext, applySubmission, readMessage } from './apply-submission.ts';
import type { CatalogContext } from './context.ts';

// Applies large publishes, and small ones that inherit much, in worker threads: parsing, checking and rendering one takes seconds and would block all
// other requests. A thread reads the publish from the database and writes to it over a separate connection, so nothing large passes between it and
// the process.

export type Aside = ReturnType<typeof createAside>;

interface AsideTurn {
  attempts: number;
  /** Counted from the start of the work in the thread. */
  turnMs: number;
}

/** Each publisher has one publish in progress at a time, so the large publishes of two publishers do not wait for each other. */
const threadsAtOnce = 2;

export function createAside({ config, database, logger }: CatalogContext) {
  const threads = createThreadPool({ size: threadsAtOnce, logger });
  const alone = createThreadPool({ size: 1, heapMb: heapMbOf(config), logger });
  const where = { config, thread: threadDatabase(database, logger, config) };
  const taskOf = (submission: OpenSubmission, turn: AsideTurn) => ({
    ...{ module: import.meta.url, name: applyHere.name, input: { ...where, submission, ...turn } },
    deadlineMs: stuckAfterMs(config),
  });
  return {
    /** Like `applySubmission`; rejects as a thread pool does. */
    apply: (submission: OpenSubmission, turn: AsideTurn) => threads.run<boolean>(taskOf(submission, turn)),
    /** The same for a publish during which a process or a thread ended: one at a time, with as much memory as a publish can need. */
    applyAlone: (submission: OpenSubmission, turn: AsideTurn) => alone.run<boolean>(taskOf(submission, turn)),
    async close() {
      await Promise.all([threads.close(), alone.close()]);
    },
  };
}

/** More than twice what the largest publish needs, with many small members and everything that it may inherit (measured: 450 MB). */
function heapMbOf({ BODY_SIZE_LIMIT, INHERITED_CATALOG_LIMIT }: Config): number {
  return Math.ceil(256 + (100 * BODY_SIZE_LIMIT + 4 * INHERITED_CATALOG_LIMIT) / 2 ** 20);
}

interface ThreadInput extends AsideTurn {
  config: Config;
  thread: ThreadDatabase;
  submission: OpenSubmission;
}

/** Runs in the thread. */
export async function applyHere({ submission, attempts, turnMs, ...where }: ThreadInput): Promise<boolean> {
  const context = await openHere(where);
  const endsAt = performance.now() + turnMs;
  const { id } = submission;
  const read = unfinished?.id === id ? unfinished : await readMessage(context.database, id);
  if (read === undefined) return true;
  const turn = { signal: new AbortController().signal, attempts, endsAt };
  unfinished = undefined;
  const isDone = await applySubmission(context, submission, read.message, turn);
  if (!isDone) unfinished = { id, ...read };
  return isDone;
}

/** The publish that this thread left when its turn ended, so that the next turn need not read and parse it again. */
let unfinished: ({ id: number } & NonNullable<Awaited<ReturnType<typeof readMessage>>>) | undefined;
let opened: Promise<SchemaStore> | undefined;

async function openHere({
  config,
  thread,
}: Pick<ThreadInput, 'config' | 'thread'>): Promise<ApplyingContext> {
  const { database, logger } = await openThreadDatabase(thread);
  opened ??= openConfiguredSchemas(config, createConfiguredClient(config), logger).catch((error) => {
    opened = undefined;
    throw error;
  });
  return { config, database, schemas: await opened, logger, now: () => new Date() };
}
