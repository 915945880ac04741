import { FetchFailure } from '../http/fetch-failure.ts';
import type { Metrics } from '../metrics.ts';
import { actions } from '../protocol/actions.ts';
import { RegistryUnavailable } from '../registry/client.ts';
import { type FailedPush, notProcessed } from '../rules/push-outcome.ts';
import type { BodyForm } from '../rules/strict-form.ts';
import type { Exchange } from '../storage/work/history.ts';
import type { Attributes } from '../telemetry/tracing.ts';
import { type Lane, type LaneLoopOptions, startLaneLoop } from './lane-loop.ts';
import type { ReceiverForms } from './receiver-forms.ts';
import {
  judgeAnswer,
  maxRetryAfterMs,
  nextAttemptMs,
  type Refused,
  type RetryPolicy,
} from './retry-policy.ts';
import { type DigestedBody, type Message, type Sender, sendSigned } from './send.ts';
import { createSlots } from './slots.ts';
import { traceDelivery } from './trace-delivery.ts';

// Sends messages that are computed at the time of sending. A due item says only that a receiver may be behind:
//
//   due item → compose (the current news, in one message or in several parts) → send → verdict → record
//
// The caller defines the content, and the effect of a verdict on the item. A receiver never waits for our database: its next items are taken, and the
// verdicts on its last ones recorded, while others are in flight.

/** These only wait on sockets; a slow receiver must not take the slots of the others. */
const receiversAtOnce = 128;
/** Items of a receiver that are taken and not yet recorded, per item that may be in flight. */
const takenPerSlot = 8;

interface PushLoopOptions<Item extends { id: number }, Said>
  extends Omit<LaneLoopOptions<Item>, 'lanesAtOnce' | 'itemsPerLane' | 'handle' | 'logger'> {
  pushesPerReceiver: number;
  sender: Sender;
  forms: ReceiverForms;
  policy: RetryPolicy & { giveUpAfterMs: number };
  metrics: Metrics;
  /** Composes the current news, part by part, until `send` returns that no more is wanted. */
  compose(item: Item, send: SendPart, lane: Lane): Promise<Said>;
  traceparentOf(item: Item): string | null;
  /** How often the item failed in a row, since when, and when it was taken. Both times are the database's. */
  failures(item: Item): Failures;
  record(item: Item, lane: Lane, pushed: Pushed<Said>): Promise<void>;
  /** Records that nothing was tried: the item is as it was before it was taken. */
  putBack(item: Item, lane: Lane): Promise<void>;
}

export interface Pushed<Said> {
  verdict: Verdict;
  /** Missing if nothing could be composed. */
  said?: Said;
  exchanges: Exchange[];
}

export interface Failures {
  attempts: number;
  failingSince: Date | null;
  takenAt: Date;
}

/** Sends one message in the form that its receiver accepts; true if the next part may follow. */
export type SendPart = (url: string, render: RenderForm) => Promise<boolean>;

/** The message, under the same messageId in either form. */
export type RenderForm = (form: BodyForm) => Promise<DigestedBody>;

/** The combined outcome of all parts. */
export type Verdict = (
  | { kind: 'unsent' }
  | { kind: 'delivered'; status: number; remark?: string }
  | Refused
  | FailedPush
) & { form?: BodyForm };

export function startPushLoop<Item extends { id: number }, Said>(options: PushLoopOptions<Item, Said>) {
  const { pushesPerReceiver, sender, metrics } = options;
  const outcomes = metrics.counter('signpost_pushes_total', 'Attempts to push, by outcome', ['outcome']);
  for (const outcome of ['unsent', 'delivered', 'refused', 'failed'] satisfies Verdict['kind'][])
    outcomes.inc({ outcome }, 0);
  const slots = createSlots({ total: Number.POSITIVE_INFINITY, perParty: pushesPerReceiver });
  return startLaneLoop<Item>({
    ...options,
    lanesAtOnce: receiversAtOnce,
    itemsPerLane: pushesPerReceiver * takenPerSlot,
    logger: sender.logger,
    async handle(item, lane) {
      const leave = await slots.enter(lane.name, lane.signal).catch(async (reason: unknown) => {
        await options.putBack(item, lane);
        throw reason;
      });
      const pushed = await push(options, item, lane).finally(leave);
      outcomes.inc({ outcome: pushed.verdict.kind });
      await options.record(item, lane, pushed);
    },
  });
}

async function push<Item extends { id: number }, Said>(
  options: PushLoopOptions<Item, Said>,
  item: Item,
  lane: Lane,
): Promise<Pushed<Said>> {
  let last: Attempt = { kind: 'unsent' };
  const exchanges: Exchange[] = [];
  let partsTaken = 0;
  const parent = options.traceparentOf(item);
  const sendBody = (url: string, body: DigestedBody): Promise<Attempt> => {
    const delivery = { action: actions.push.name, parent, attributes: () => attributesOf(body, lane) };
    return traceDelivery(options.sender, delivery, (traceparent) =>
      attempt(options.sender, { url, body, signal: lane.signal, traceparent, exchanges }),
    );
  };
  const send: SendPart = async (url, render) => {
    last = await sendInForm(options.forms, lane.name, render, (body) => sendBody(url, body));
    if (last.kind !== 'delivered') return false;
    partsTaken += 1;
    return last.status !== notProcessed;
  };
  const said = await options.compose(item, send, lane).catch((error: unknown) => {
    if (!(error instanceof RegistryUnavailable)) throw error;
    last = { kind: 'failed', reason: error.message, unanswered: false, lost: false };
    return undefined;
  });
  return { verdict: judge(options.policy, options.failures(item), last, partsTaken), said, exchanges };
}

/** A push that is refused for its schema is sent again at once in strict form, unless that form is the same. */
async function sendInForm(
  forms: ReceiverForms,
  receiver: string,
  render: RenderForm,
  send: (body: DigestedBody) => Promise<Attempt>,
): Promise<Attempt> {
  const form: BodyForm = (await forms.find(receiver)).has('strict') ? 'strict' : 'full';
  const body = await render(form);
  const first = { ...(await send(body)), form };
  if (form === 'strict' || first.kind !== 'refused' || first.schema === undefined) return first;
  const strict = await render('strict');
  if (strict.digest === body.digest) return first;
  const second = await send(strict);
  if (second.kind === 'delivered') await forms.remember(receiver, 'strict');
  return { ...second, form: 'strict' };
}

const payloadTooLarge = 413;
/** A gateway reports that the receiver behind it did not answer. */
const gatewayFailures = [502, 504];

type Attempt = (Exclude<Verdict, FailedPush> | FailedAttempt) & { status?: number; form?: BodyForm };

interface FailedAttempt extends Omit<FailedPush, 'begun' | 'failingSince' | 'dueInMs' | 'restMs'> {
  retryAfterMs?: number;
}

function attributesOf({ messageId, transactionId }: DigestedBody, { name }: Lane): Attributes {
  return { message_id: messageId, transaction_id: transactionId, 'recipient.id': name };
}

async function attempt(sender: Sender, message: Message & { body: DigestedBody }): Promise<Attempt> {
  try {
    const answer = await sendSigned(sender, message);
    const outcome = judgeAnswer(answer);
    if (outcome.kind === 'delivered') return { ...outcome, remark: answer.error };
    if (outcome.kind === 'refused') return outcome;
    const { status = 0, reason, retryAfterMs } = outcome;
    const unanswered = gatewayFailures.includes(status);
    const tooLargeBytes = status === payloadTooLarge ? message.body.bytes : undefined;
    return { kind: 'failed', status, reason, retryAfterMs, unanswered, lost: unanswered, tooLargeBytes };
  } catch (error) {
    // An aborted attempt says nothing about the receiver.
    if (!(error instanceof FetchFailure) || error.kind === 'aborted') throw error;
    return { kind: 'failed', reason: error.message, unanswered: true, lost: mayHaveArrived(error) };
  }
}

/** False only if no connection was made. */
function mayHaveArrived({ kind, cause }: FetchFailure): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return kind !== 'bad-url' && kind !== 'address-refused' && !notConnected.test(code);
}

const notConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|.*CERT.*)$/;

function judge(
  policy: RetryPolicy & { giveUpAfterMs: number },
  { attempts, failingSince, takenAt }: Failures,
  last: Attempt,
  partsTaken: number,
): Verdict {
  if (last.kind !== 'failed') return last;
  const since = failingSince ?? takenAt;
  const { retryAfterMs, ...failure } = last;
  const dueInMs = nextAttemptMs(policy, {
    attempts: attempts + 1,
    leftMs: since.getTime() + policy.giveUpAfterMs - takenAt.getTime(),
    retryAfterMs,
    random: Math.random(),
  });
  const restMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, maxRetryAfterMs);
  return { ...failure, begun: partsTaken > 0, failingSince: since, dueInMs, restMs };
}
