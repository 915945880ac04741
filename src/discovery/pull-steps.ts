import { randomUUID } from 'node:crypto';
import { actions } from '../protocol/actions.ts';
import { bodyDigest } from '../protocol/digest.ts';
import type { Transaction } from '../storage/database.ts';
import { countMissing, findExpected } from '../storage/feeds/copies.ts';
import { dropAnswer, type Feed, feedTable, readPullAt, updateFeed } from '../storage/feeds/feeds.ts';
import { type Claim, settle } from '../storage/work/due-work.ts';
import { rememberSent } from '../storage/work/sent-requests.ts';
import { leaveInParts, sourceOf } from './apply-copies.ts';
import { askService } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';
import { applyAnswer } from './pull-answer.ts';

// The steps of one pull of everything (pull-client.ts drives them). Each settles the feed.

export type FeedStep = (context: DiscoveryContext, claim: Claim<Feed>, signal: AbortSignal) => Promise<void>;

const catalogsPerPage = 100;
/** Everything is pulled again at this interval, which finds and repairs drift. */
export const pullEveryMs = 24 * 3_600_000;
/** The delay if something could not be compared. */
const pullSkippedMs = 10 * 60_000;
/** Maximum wait for an on_pull before the pull is issued again. A service may have to write gigabytes first. */
export const answerMs = 10 * 60_000;
/** How long it is accepted. */
const answerExpiryMs = 24 * 3_600_000;

/** Only an applied page ends a series of failures. */
const noFailure = { failures: 0, last_error: null, last_status: null };
export const noRun = { run: null, message_id: null, sent_at: null, page_offset: 0 };

export const inStep = { ...noFailure, out_of_step_since: null };

/** Out of step from now on, or since the earlier recorded time. */
export function outOfStep({ row, at }: Claim<Feed>): { out_of_step_since: Date } {
  return { out_of_step_since: row.out_of_step_since ?? at };
}

/** From here on, every request for a pull means another one after this. */
export const begin: FeedStep = async ({ database }, claim) => {
  const { at: startedAt } = claim;
  const set = {
    ...noRun,
    run: randomUUID(),
    run_started_at: startedAt,
    run_skipped: false,
    pull_at: after(startedAt, pullEveryMs),
  };
  await database.transaction((tx) => settle(tx, feedTable, claim, { dueInMs: 0, set }));
};

export const sendPage: FeedStep = async (context, claim, signal) => {
  const { database, now } = context;
  const { catalog_url: catalogUrl, subscription_id: subscriptionId, page_offset: offset } = claim.row;
  const expires = after(now(), answerExpiryMs);
  await askService(context, {
    action: actions.pull,
    catalogUrl,
    message: { subscriptionId, mode: 'FULL', limit: catalogsPerPage, offset },
    signal,
    // The callback may arrive before the acknowledgement, and at another process.
    beforeSending: ({ messageId, body, authorization }) =>
      database.transaction(async (tx) => {
        const sent = { role: 'discovery', messageId, action: actions.pull.name, expires };
        await rememberSent(tx, { ...sent, digest: bodyDigest(body) }, authorization);
        await updateFeed(tx, claim, messageId);
      }),
  });
  const set = { last_status: null };
  await database.transaction((tx) => settle(tx, feedTable, claim, { dueInMs: answerMs, set }));
};

export async function applyPage(
  context: DiscoveryContext,
  claim: Claim<Feed>,
  answer: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const { database, metrics, logger } = context;
  const feed = claim.row;
  const { next, outcome } = await applyAnswer(context, feed, answer, signal);
  const { catalog_url: catalogUrl, network_id: networkId } = feed;
  logger.info({ catalogUrl, networkId, offset: feed.page_offset, ...outcome }, 'pulled');
  const changes = metrics.counter(
    'signpost_pulled_changes_total',
    'Resources and offers that a pull found different: the first pull counts everything; later pulls count drift',
    ['kind'],
  );
  changes.inc({ kind: 'written' }, outcome.written);
  changes.inc({ kind: 'removed' }, outcome.removed);
  const skipped = feed.run_skipped || outcome.skipped > 0;
  // Before the answer is dropped: after a crash, the page is applied again.
  if (next === undefined) await removeMissing(context, claim, signal);
  await database.transaction(async (tx) => {
    await dropAnswer(tx, feed.id);
    if (next === undefined) return complete(tx, context, claim, skipped);
    const page = { page_offset: next, run_skipped: skipped, message_id: null, sent_at: null };
    return settle(tx, feedTable, claim, { dueInMs: 0, set: { ...page, ...noFailure } });
  });
}

async function removeMissing(context: DiscoveryContext, { row, at }: Claim<Feed>, signal: AbortSignal) {
  const { id: feedId, catalog_url: catalogUrl, network_id: networkId, service, run } = row;
  if (service === null || run === null) return;
  const startedAt = row.run_started_at ?? at;
  const pull = { feedId, source: sourceOf(service), networkId, run, startedAt };
  const missing = await findExpected(context.database, pull, run);
  const leave: Parameters<typeof leaveInParts>[2] = async (tx, part) => {
    const gone = await countMissing(tx, pull, part);
    const catalogIds = gone.map(({ id }) => id);
    if (gone.length > 0) context.logger.info({ catalogUrl, networkId, catalogIds }, 'catalogs are gone');
    return gone;
  };
  await leaveInParts(context, missing, leave, signal);
}

async function complete(tx: Transaction, { now }: DiscoveryContext, claim: Claim<Feed>, skipped: boolean) {
  const asked = (await readPullAt(tx, claim.id)) ?? after(claim.at, pullEveryMs);
  const soon = after(claim.at, pullSkippedMs);
  const pullAt = skipped && soon < asked ? soon : asked;
  const set = { ...noRun, ...inStep, completed_at: now(), pull_at: pullAt };
  await settle(tx, feedTable, claim, { dueInMs: 0, set });
}

function after(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}
