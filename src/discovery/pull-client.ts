import { longestRetryWaitMs, nextAttemptMs } from '../delivery/retry-policy.ts';
import type { Metrics } from '../metrics.ts';
import { dropAnswer, type Feed, feedTable, findAnswer } from '../storage/feeds/feeds.ts';
import { type Claim, settle, startWorkLoop, type WorkLoop } from '../storage/work/due-work.ts';
import { StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';
import { answerMs, applyPage, begin, outOfStep, pullEveryMs, sendPage } from './pull-steps.ts';
import { cancel, check, checkEveryMs, subscribeFeed, tidy } from './subscription-steps.ts';

// Keeps each feed subscribed and synchronized, one durable step at a time:
//
//   subscribe → check (start, every 15 min, doubt) → begin (every 24 h, after a gap) → send page → (on_pull, on-pull.ts) → apply page → … → complete
//
// A failed step is logged and retried forever with increasing delays, because the operator configured the feed.

const feedsAtOnce = 4;

export function startPullClient(context: DiscoveryContext): WorkLoop {
  const { database, logger } = context;
  failureCounter(context.metrics).inc(0);
  return startWorkLoop<Feed>({
    database,
    table: feedTable,
    concurrency: feedsAtOnce,
    longestWaitMs: Math.max(checkEveryMs, longestRetryWaitMs),
    logger,
    handle: (claim, signal) => takeStep(context, claim, signal),
  });
}

async function takeStep(context: DiscoveryContext, claim: Claim<Feed>, signal: AbortSignal): Promise<void> {
  const { database } = context;
  const feed = claim.row;
  const answer = feed.message_id === null ? undefined : await findAnswer(database, feed.id, feed.message_id);
  const step = nextStep(feed, answer !== undefined, claim.at);
  try {
    if (step instanceof Date) {
      const dueInMs = step.getTime() - claim.at.getTime();
      return await settle(database, feedTable, claim, { dueInMs });
    }
    if (step === 'apply') return await applyPage(context, claim, answer ?? Buffer.alloc(0), signal);
    if (step === 'give up waiting') throw new StepFailed('no on_pull came in time; the pull is issued again');
    return await steps[step](context, claim, signal);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    await recordFailure(context, claim, step, error);
  }
}

const steps = { cancel, subscribe: subscribeFeed, tidy, check, begin, send: sendPage };

export type Step = keyof typeof steps | 'apply' | 'give up waiting' | Date;

/** By the database's clock. Times that are too far ahead were set before the clock went back. */
export function nextStep(feed: Feed, hasAnswer: boolean, now: Date): Step {
  const isOver = (at: Date, longestMs: number) => at <= now || at.getTime() > now.getTime() + longestMs;
  if (!feed.configured) return 'cancel';
  if (feed.subscription_id === null) return 'subscribe';
  if (feed.cancelled_ids.length > 0) return 'tidy';
  if (!hasAnswer && (feed.check_at === null || isOver(feed.check_at, checkEveryMs))) return 'check';
  if (feed.run === null) {
    if (feed.pull_at !== null && isOver(feed.pull_at, pullEveryMs)) return 'begin';
    return earlier(feed.pull_at, feed.check_at) ?? 'check';
  }
  if (feed.message_id === null) return 'send';
  if (hasAnswer) return 'apply';
  const waitUntil = new Date((feed.sent_at ?? now).getTime() + answerMs);
  return isOver(waitUntil, answerMs) ? 'give up waiting' : waitUntil;
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function failureCounter(metrics: Metrics) {
  return metrics.counter('signpost_sync_failures_total', 'Failed steps of synchronization');
}

/** Retries the step; a subscription that the service does not know (any more) is created again. */
async function recordFailure(
  { database, config, metrics, logger }: DiscoveryContext,
  claim: Claim<Feed>,
  step: Step,
  { message: error, status, retryAfterMs }: StepFailed,
): Promise<void> {
  const { id, catalog_url: catalogUrl, network_id: networkId, failures } = claim.row;
  const attempts = failures + 1;
  const failure = { attempts, leftMs: Number.POSITIVE_INFINITY, retryAfterMs, random: Math.random() };
  const dueInMs = nextAttemptMs({ baseMs: config.RETRY_BASE_MS }, failure) ?? 0;
  logger.warn({ catalogUrl, networkId, error, attempts, dueInMs }, 'out of sync with a catalog service');
  failureCounter(metrics).inc();
  const isLost = step === 'send' && [400, 403, 404].includes(status ?? 0);
  await database.transaction(async (tx) => {
    await dropAnswer(tx, id);
    // A failed pull casts doubt on the subscription.
    const set = {
      ...{ failures: attempts, last_error: error, last_status: status ?? null, ...outOfStep(claim) },
      ...{ message_id: null, sent_at: null, check_at: null },
    };
    await settle(tx, feedTable, claim, { dueInMs, set: isLost ? { ...set, subscription_id: null } : set });
  });
}
