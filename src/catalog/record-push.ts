import { type Failure, notProcessed, type Verdict } from '../delivery/push-loop.ts';
import { smallerPart } from '../rules/push-message.ts';
import type { Transaction } from '../storage/database.ts';
import type { Claim } from '../storage/due-work.ts';
import type { PushBatches } from '../storage/push-batches.ts';
import {
  type DuePush,
  recordNoEndpoint,
  recordNothing,
  recordParked,
  recordRetry,
  recordSmaller,
} from '../storage/pushes.ts';
import { maxPartBytes, type Said } from './compose-push.ts';
import type { CatalogContext } from './context.ts';

// What the answer to a push means for its row (catalog spec: POST /catalog/push, the table of answers):
//
//   200       acknowledged
//   202       acknowledged, but the receiver may not have kept it: the next change goes as FULL
//   400       parked until the next change, which goes as FULL; so is 200 with NACK
//   413       sent again at once in parts of half the size
//   others    tried again with patience; parked when that has taken too long

export async function recordPush(
  context: CatalogContext,
  batches: PushBatches,
  claim: Claim<DuePush>,
  verdict: Verdict,
  said: Said | undefined,
): Promise<void> {
  if (verdict.kind === 'delivered' && said?.kind === 'catalog') {
    const { version, networks, withdrawn } = said;
    const { status, remark } = verdict;
    const needsFull = status === notProcessed;
    return batches.acknowledge(claim, { version, networks, withdrawn, status, remark, needsFull });
  }
  const catalogId = said?.kind === 'catalog' ? said.catalogId : undefined;
  const logger = context.logger.child({ subscriber: claim.row.subscriber, catalogId });
  await context.database.transaction(async (tx) => {
    if (verdict.kind === 'failed') return recordFailure({ ...context, logger }, tx, claim, verdict);
    if (verdict.kind === 'refused') {
      const { status, reason: error } = verdict;
      logger.warn({ error }, 'push refused; parked until the next change');
      return recordParked(tx, claim, { status, error, needsFull: true, lost: false });
    }
    if (said?.kind !== 'no endpoint') return recordNothing(tx, claim);
    logger.warn(noUrl);
    return recordNoEndpoint(tx, claim, noUrl);
  });
}

const noUrl = 'the registry has no url for this subscriber';

async function recordFailure(
  { logger, now }: CatalogContext,
  tx: Transaction,
  claim: Claim<DuePush>,
  verdict: Failure,
): Promise<void> {
  const { status, reason: error, lost, failingSince, dueAt, tooLargeBytes } = verdict;
  const failure = { status, error, lost, needsFull: verdict.unanswered || verdict.begun };
  const partBytes =
    tooLargeBytes === undefined
      ? undefined
      : smallerPart(claim.row.part_bytes ?? maxPartBytes, tooLargeBytes);
  if (partBytes !== undefined) {
    logger.info({ partBytes }, 'push too large for the receiver; sent again in smaller parts');
    return recordSmaller(tx, claim, { ...failure, partBytes, now: now() });
  }
  if (dueAt === undefined) {
    logger.warn({ error }, 'push not delivered in time; parked until the next change or a replay');
    return recordParked(tx, claim, { ...failure, needsFull: true });
  }
  logger.info({ error, dueAt }, 'push not delivered; it will be tried again');
  return recordRetry(tx, claim, { ...failure, failingSince, dueAt });
}
