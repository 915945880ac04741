import { FetchFailure } from '../http/fetch-failure.ts';
import type { Counter, Metrics } from '../metrics.ts';
import { RegistryUnavailable } from '../registry/client.ts';
import type { Database } from '../storage/database.ts';
import { type Claim, startWorkLoop, type WorkLoop, type WorkLoopOptions } from '../storage/due-work.ts';
import { judgeAnswer, nextAttempt, type RetryPolicy } from './retry-policy.ts';
import { type Sender, sendSigned } from './send.ts';

// Sends what is computed when it is sent. A row that is due says only that a receiver may be behind:
//
//   due row → compose (what there is to say now, in one message or several parts) → send → verdict → record, under the lease
//
// What is said, and what an outcome means for the row, is the business of whoever starts the loop.

/** Only sockets wait here; a slow receiver must not take the places of the others. */
const pushesAtOnce = 128;

export interface PushLoopOptions<Row extends object, Said>
  extends Pick<WorkLoopOptions<Row>, 'table' | 'channel' | 'columns' | 'perGroup'> {
  database: Database;
  sender: Sender;
  policy: RetryPolicy & { giveUpAfterMs: number };
  metrics: Metrics;
  /** Says what there is to say now, part by part, until `send` says that no more is wanted. */
  compose(claim: Claim<Row>, send: SendPart, signal: AbortSignal): Promise<Said>;
  /** Since when the row's attempts have been failing. */
  failingSince(row: Row): Date | null;
  /** Writes the verdict and settles the row. `said` is missing when there was no way to compose anything. */
  record(claim: Claim<Row>, verdict: Verdict, said: Said | undefined): Promise<void>;
}

/** Sends one message; true when the next part may follow. */
export type SendPart = (url: string, body: Buffer) => Promise<boolean>;

/** What became of everything that was sent: of all parts together. */
export type Verdict =
  | { kind: 'unsent' }
  | { kind: 'delivered'; status: number; remark?: string }
  | { kind: 'refused'; status: number; reason: string }
  | Failure;

export interface Failure extends FailedAttempt {
  /** An earlier part was taken. */
  begun: boolean;
  failingSince: Date;
  /** The next attempt; undefined when it has been tried for as long as it may be. */
  dueAt?: Date;
}

export function startPushLoop<Row extends object, Said>(options: PushLoopOptions<Row, Said>): WorkLoop {
  const { database, table, channel, columns, perGroup, sender, metrics } = options;
  const outcomes = metrics.counter('signpost_pushes_total', 'Attempts to push, by outcome', ['outcome']);
  return startWorkLoop<Row>({
    database,
    table,
    channel,
    columns,
    perGroup,
    concurrency: pushesAtOnce,
    logger: sender.logger,
    handle: (claim, signal) => push(options, outcomes, claim, signal),
  });
}

async function push<Row extends object, Said>(
  options: PushLoopOptions<Row, Said>,
  outcomes: Counter<'outcome'>,
  claim: Claim<Row>,
  signal: AbortSignal,
): Promise<void> {
  const { sender, compose, record } = options;
  let last: Attempt = { kind: 'unsent' };
  let partsTaken = 0;
  const send: SendPart = async (url, body) => {
    last = await attempt(sender, url, body, signal);
    if (last.kind !== 'delivered') return false;
    partsTaken += 1;
    return last.status !== notProcessed;
  };
  const said = await compose(claim, send, signal).catch((error: unknown) => {
    if (!(error instanceof RegistryUnavailable)) throw error;
    last = { kind: 'failed', reason: error.message, unanswered: false, lost: false };
    return undefined;
  });
  const verdict = judge(options, claim, last, partsTaken);
  outcomes.inc({ outcome: verdict.kind });
  await record(claim, verdict, said);
}

/** Catalog spec, POST /catalog/push: authenticated and received, but no further processing; not a failure. */
export const notProcessed = 202;
const payloadTooLarge = 413;
/** A gateway says that the receiver behind it did not answer. */
const gatewayFailures = [502, 504];

type Attempt = Exclude<Verdict, Failure> | FailedAttempt;

interface FailedAttempt {
  kind: 'failed';
  status?: number;
  reason: string;
  retryAfterMs?: number;
  /** No answer came: what the receiver did with it is not known. */
  unanswered: boolean;
  /** No answer came, and it may have arrived all the same. */
  lost: boolean;
  /** The receiver takes no body of this size. */
  tooLargeBytes?: number;
}

async function attempt(sender: Sender, url: string, body: Buffer, signal: AbortSignal): Promise<Attempt> {
  try {
    const answer = await sendSigned(sender, { url, body, signal });
    const outcome = judgeAnswer(answer);
    if (outcome.kind === 'delivered') return { ...outcome, remark: answer.error };
    if (outcome.kind === 'refused') return outcome;
    const { status = 0, reason, retryAfterMs } = outcome;
    const unanswered = gatewayFailures.includes(status);
    const tooLargeBytes = status === payloadTooLarge ? body.length : undefined;
    return { kind: 'failed', status, reason, retryAfterMs, unanswered, lost: unanswered, tooLargeBytes };
  } catch (error) {
    // An aborted attempt says nothing about the receiver: the loop gives the row back uncounted.
    if (!(error instanceof FetchFailure) || error.kind === 'aborted') throw error;
    return { kind: 'failed', reason: error.message, unanswered: true, lost: mayHaveArrived(error) };
  }
}

/** False only where no connection came about. */
function mayHaveArrived({ kind, cause }: FetchFailure): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return kind !== 'bad-url' && kind !== 'address-refused' && !notConnected.test(code);
}

const notConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|.*CERT.*)$/;

function judge<Row extends object>(
  { policy, sender, failingSince }: Pick<PushLoopOptions<Row, unknown>, 'policy' | 'sender' | 'failingSince'>,
  { row, attempts }: Claim<Row>,
  last: Attempt,
  partsTaken: number,
): Verdict {
  if (last.kind !== 'failed') return last;
  const now = sender.now();
  const since = failingSince(row) ?? now;
  const giveUpAt = new Date(since.getTime() + policy.giveUpAfterMs);
  const { retryAfterMs } = last;
  const dueAt = nextAttempt(policy, { attempts, now, giveUpAt, retryAfterMs, random: Math.random() });
  return { ...last, begun: partsTaken > 0, failingSince: since, dueAt };
}
