import type { Config } from '../config.ts';
import { createGuardedClient } from '../http/guarded-client.ts';
import { openConfiguredSchemas } from '../schemas/schema-store.ts';
import type { OpenSubmission } from '../storage/catalog/submissions.ts';
import { openThreadDatabase, type ThreadDatabase, threadDatabase } from '../storage/thread-database.ts';
import { createThreadPool } from '../thread-pool.ts';
import { type ApplyingContext, applySubmission, readMessage } from './apply-submission.ts';
import type { CatalogContext } from './context.ts';

// Large publishes are applied in threads: to parse one, hold it against the rules and the schemas, and render its documents takes seconds, in
// which nobody else would be served. A thread reads the publish from the database and writes to it over a connection of its own, so that nothing
// large passes between it and the process.

export interface Aside {
  /** As `applySubmission`. */
  apply(submission: OpenSubmission, turn: AsideTurn): Promise<boolean>;
  close(): Promise<void>;
}

interface AsideTurn {
  attempts: number;
  /** From when a thread has begun. */
  turnMs: number;
}

/** A publisher has one in work at a time: whoever comes second does not wait for the first. */
const threadsAtOnce = 2;
/** So much is never needed; without an end, one fault would keep everything waiting for ever. */
const deadlineMs = 10 * 60_000;

export function createAside({ config, database, logger }: CatalogContext): Aside {
  const threads = createThreadPool({ size: threadsAtOnce, logger });
  const where = { config, thread: threadDatabase(database, logger, config) };
  return {
    apply: (submission, turn) =>
      threads.run<boolean>({
        module: import.meta.url,
        name: applyHere.name,
        input: { ...where, submission, ...turn },
        deadlineMs,
      }),
    close: () => threads.close(),
  };
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

/** The publish that this thread had to leave when its turn was over: it need not be read and parsed once more. */
let unfinished: ({ id: number } & NonNullable<Awaited<ReturnType<typeof readMessage>>>) | undefined;
let opened: Promise<ApplyingContext> | undefined;

function openHere({ config, thread }: Omit<ThreadInput, keyof AsideTurn | 'submission'>) {
  opened ??= open().catch((error) => {
    opened = undefined;
    throw error;
  });
  return opened;

  async function open(): Promise<ApplyingContext> {
    const { database, logger } = await openThreadDatabase(thread);
    const client = createGuardedClient({
      allowPrivateAddresses: config.ALLOW_PRIVATE_ADDRESSES,
      nameServers: config.DNS_SERVERS,
    });
    return {
      config,
      database,
      schemas: await openConfiguredSchemas(config, client, logger),
      logger,
      now: () => new Date(),
    };
  }
}
