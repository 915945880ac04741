import { largeBodyBytes } from '../http/large-bodies.ts';
import {
  type DueLane,
  findOpenSubmission,
  lanesChannel,
  laneTable,
  type OpenSubmission,
} from '../storage/catalog/submissions.ts';
import { type Claim, type Slot, settle, startWorkLoop, type WorkLoop } from '../storage/work/due-work.ts';
import { traced } from '../telemetry/tracing.ts';
import { type Aside, createAside } from './apply-aside.ts';
import { applySubmission, readMessage } from './apply-submission.ts';
import type { CatalogContext } from './context.ts';
import type { FreshMessages } from './fresh-messages.ts';

// Accepted publishes are processed publisher by publisher: what one has submitted, in the order of acceptance, for a turn (apply-submission.ts);
// large ones in a thread of their own (apply-aside.ts).

/** Publishers whose submissions are worked on at the same time, per process. */
const lanesAtOnce = 4;
/** How many more may wait for a thread, or for what it does. */
const lanesAside = 32;
/** A publisher that submits without end, or many catalogs at once, lets the others have their turn after this. */
const turnMs = 1_000;

export function startSubmissionLoop(context: CatalogContext, fresh: FreshMessages): WorkLoop {
  const aside = createAside(context);
  const loop = startWorkLoop<DueLane>({
    database: context.database,
    table: laneTable,
    channel: lanesChannel,
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

interface Means {
  fresh: FreshMessages;
  aside: Aside;
  slot: Slot;
}

async function drainLane(
  context: CatalogContext,
  { fresh, aside, slot }: Means,
  claim: Claim<DueLane>,
  signal: AbortSignal,
): Promise<void> {
  const { database } = context;
  const { attempts } = claim;
  const endsAt = performance.now() + turnMs;
  let isEmpty = false;
  while (!isEmpty && performance.now() < endsAt) {
    signal.throwIfAborted();
    const submission = await findOpenSubmission(database, claim.row.publisher);
    if (submission === undefined) isEmpty = true;
    else if (submission.bytes >= largeBodyBytes) {
      slot.stepAside();
      await traceProcessing(submission, (given) => aside.apply(given, { attempts, turnMs }));
    } else {
      const accepted = fresh.take(submission.id) ?? (await readMessage(database, submission.id));
      const turn = { signal, attempts, endsAt };
      const apply = (given: OpenSubmission) =>
        accepted ? applySubmission(context, given, accepted.message, turn) : Promise.resolve(true);
      if (!(await traceProcessing(submission, apply)) && accepted) fresh.keep(submission.id, accepted);
    }
  }
  // A submission that was accepted meanwhile has made the lane due again, and it stays so.
  await settle(database, laneTable, claim, { dueInMs: isEmpty ? null : 0, set: { attempts: 0 } });
}

/** A span for one turn of a submission, from which its pushes and its callback go on. */
function traceProcessing(
  submission: OpenSubmission,
  apply: (submission: OpenSubmission) => Promise<boolean>,
): Promise<boolean> {
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
