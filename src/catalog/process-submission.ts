import { largeBodyBytes } from '../http/large-bodies.ts';
import { TooMuchHere } from '../rules/inherited-bytes.ts';
import {
  type DueLane,
  findOpenSubmission,
  laneTable,
  type OpenSubmission,
} from '../storage/catalog/submissions.ts';
import { type Claim, type Slot, settle, startWorkLoop, type WorkLoop } from '../storage/work/due-work.ts';
import { traced } from '../telemetry/tracing.ts';
import { wasEnded } from '../thread-pool.ts';
import { type Aside, createAside } from './apply-aside.ts';
import { applySubmission, readMessage, type Turn } from './apply-submission.ts';
import type { CatalogContext } from './context.ts';
import type { FreshMessages } from './fresh-messages.ts';

// Accepted publishes are processed publisher by publisher, each for a turn and in the order of acceptance (apply-submission.ts); expensive ones in a
// worker thread (apply-aside.ts).
//
// A claim counts its attempt before the work begins, and a turn that ends well resets the count. So a count above one means that the last turn did
// not end: the process or a thread died, or the work failed. Then the first publish of the lane is a suspect. It runs alone in a thread with a heap
// limit and a deadline, and is rejected only if it reaches one of them. A kill from outside or a lost lease rejects nothing.

/** Publishers whose submissions are processed at the same time, per process. */
const lanesAtOnce = 4;
/** How many more may wait for a thread or for its result. */
const lanesAside = 32;
/** After this time, a publisher with many submissions or catalogs lets others have their turn. */
const turnMs = 1_000;

export function startSubmissionLoop(context: CatalogContext, fresh: FreshMessages): WorkLoop {
  const aside = createAside(context);
  const loop = startWorkLoop<DueLane>({
    database: context.database,
    table: laneTable,
    concurrency: lanesAtOnce,
    aside: lanesAside,
    logger: context.logger,
    handle: (claim, signal, slot) => drainLane(context, { fresh, aside, slot }, claim, signal),
  });
  return {
    async close() {
      await loop.close();
      await aside.close();
    },
  };
}

async function drainLane(
  context: CatalogContext,
  { fresh, aside, slot }: { fresh: FreshMessages; aside: Aside; slot: Slot },
  claim: Claim<DueLane>,
  signal: AbortSignal,
): Promise<void> {
  const { database } = context;
  const { attempts } = claim;
  const endsAt = performance.now() + turnMs;
  let isEmpty = false;
  /** The publish that was too large for the main thread. */
  let large: number | undefined;
  while (!isEmpty && (large !== undefined || performance.now() < endsAt)) {
    signal.throwIfAborted();
    const submission = await findOpenSubmission(database, claim.row.publisher);
    if (submission === undefined) isEmpty = true;
    else if (attempts > 1) {
      slot.stepAside();
      await traceProcessing(submission, (given) => trySuspect(context, aside, given, { signal, attempts }));
    } else if (submission.bytes >= largeBodyBytes || submission.id === large) {
      large = undefined;
      slot.stepAside();
      await traceProcessing(submission, (given) => aside.apply(given, { attempts, turnMs }));
    } else {
      const accepted = fresh.find(submission.id) ?? (await readMessage(database, submission.id));
      fresh.forget(submission.id);
      const turn = { signal, attempts, endsAt, maxInherited: largeBodyBytes };
      const apply = async (given: OpenSubmission) => {
        if (accepted === undefined) return true;
        return applySubmission(context, given, accepted.message, turn).catch((error) => {
          if (!(error instanceof TooMuchHere)) throw error;
          large = given.id;
          return true;
        });
      };
      if (!(await traceProcessing(submission, apply)) && accepted) fresh.keep(submission.id, accepted);
    }
  }
  // If a submission was accepted meanwhile, the lane became due again, and stays due.
  await settle(database, laneTable, claim, { dueInMs: isEmpty ? null : 0, set: { attempts: 0 } });
}

async function trySuspect(
  context: CatalogContext,
  aside: Aside,
  submission: OpenSubmission,
  { signal, attempts }: Pick<Turn, 'signal' | 'attempts'>,
): Promise<boolean> {
  try {
    return await aside.applyAlone(submission, { attempts, turnMs });
  } catch (error) {
    const tooMuch = wasEnded(error);
    if (!tooMuch) throw error;
    // Catalogs that were applied before stay applied.
    const { database } = context;
    const left = await findOpenSubmission(database, submission.publisher);
    const read = await readMessage(database, submission.id);
    if (left?.id !== submission.id || read === undefined) return true;
    const turn = { signal, attempts, endsAt: Number.POSITIVE_INFINITY, tooMuch };
    return applySubmission(context, left, read.message, turn);
  }
}

/** A span for one turn of a submission, the parent of its pushes and its callback. */
function traceProcessing(submission: OpenSubmission, apply: (given: OpenSubmission) => Promise<boolean>) {
  const { publisher, messageId, traceparent: parent } = submission;
  return traced(
    'process catalog/publish',
    () => ({
      scope: 'internal',
      parent,
      attributes: { 'beckn.action': 'catalog/publish', message_id: messageId, 'sender.id': publisher },
    }),
    (span) => apply(span ? { ...submission, traceparent: span.traceparent } : submission),
  );
}
