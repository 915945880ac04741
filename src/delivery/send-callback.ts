import { FetchFailure } from '../http/fetch-failure.ts';
import { actions } from '../protocol/actions.ts';
import { truncatedHeaders } from '../protocol/discover-messages.ts';
import type { BodyForm, StrictText } from '../rules/strict-form.ts';
import { advance, nextPart, type Parts, splitWhole } from '../rules/strict-parts.ts';
import type { DueCallback } from '../storage/work/callbacks.ts';
import type { Exchange } from '../storage/work/history.ts';
import { judgeAnswer, type Outcome, type Refused } from './retry-policy.ts';
import { type Sender, sendSigned } from './send.ts';
import type { FormTools } from './strict-renderer.ts';
import { attributesOfCallback, traceDelivery } from './trace-delivery.ts';

// One attempt to deliver a callback, in the forms that its receiver may want, at once one after the other:
//
//   401                  the same bytes under the other form of signature (receiver-forms.ts)
//   refused, SCH_…       strict form, a new body under the same messageId, unless that changes nothing
//   on_discover only     without the catalogs that the error names, or else in halves (rules/strict-parts.ts)
//
// Every body is made of the stored bytes, always in the same way. So a process that dies in between leaves nothing behind that another one
// would have to know: it begins again, and the receiver gets the same bodies.

export interface SentCallback {
  outcome: Outcome;
  form: BodyForm;
  remark?: string;
  parts?: Parts;
  exchanges: Exchange[];
}

type Sent = Omit<SentCallback, 'exchanges'>;

export interface CallbackTools extends FormTools {
  sender: Sender;
}

export async function sendCallback(tools: CallbackTools, row: DueCallback, signal: AbortSignal) {
  const exchanges: Exchange[] = [];
  const sent = await sendInForm(tools, row, createSend(tools, row, { signal, exchanges }));
  return { ...sent, exchanges };
}

async function sendInForm({ forms, strict }: CallbackTools, row: DueCallback, send: Send): Promise<Sent> {
  const { recipient, body, action } = row;
  const render: Render = (only) => strict.render({ shape: 'body', json: body, only }, recipient);
  if (row.parts) return sendParts(send, render, row.parts);

  const isKnownStrict = (await forms.find(recipient)).has('strict');
  const full = isKnownStrict ? undefined : await send(body);
  if (full && !isForSchema(full)) return { outcome: full, form: 'full' };

  const { text, catalogs } = await render();
  const isSameAsRefused = full !== undefined && text === undefined;
  const whole: Sent = isSameAsRefused
    ? { outcome: full, form: 'full' }
    : { outcome: await send(text === undefined ? body : Buffer.from(text)), form: 'strict' };
  const { outcome } = whole;
  const sends = full && !isSameAsRefused ? 2 : 1;
  const sent =
    isForSchema(outcome) && action === actions.onDiscover.name
      ? await sendParts(send, render, splitWhole(catalogs, sends, outcome.schema.path), outcome)
      : whole;
  if (full && !isSameAsRefused && isAnyAccepted(sent)) await forms.remember(recipient, 'strict');
  return sent;
}

type Send = (body: Buffer) => Promise<Outcome>;
type Render = (only?: readonly number[]) => Promise<StrictText>;

function isForSchema(outcome: Outcome): outcome is Refused & { schema: { path?: string } } {
  return outcome.kind === 'refused' && outcome.schema !== undefined;
}

function isAnyAccepted({ outcome, parts }: Sent): boolean {
  return outcome.kind === 'delivered' || (parts?.accepted ?? 0) > 0;
}

/** Delivered, if the receiver accepts any part; catalogs that it does not accept are left out. */
async function sendParts(send: Send, render: Render, begun: Parts, refused?: Refused): Promise<Sent> {
  const form = 'strict';
  let [parts, refusal, status] = [begun, refused, 200];
  for (let part = nextPart(parts); part !== undefined; part = nextPart(parts)) {
    const { text } = await render(part);
    if (text === undefined) throw new Error(`A part of ${part.length} catalogs has no body.`);
    const outcome = await send(Buffer.from(text));
    if (outcome.kind === 'retry') return { outcome, form, parts };
    if (outcome.kind === 'refused') refusal = outcome;
    else status = outcome.status;
    parts = advance(parts, outcome.kind === 'delivered' ? 'accepted' : (outcome.schema ?? 'refused'));
  }
  const { of, accepted } = parts;
  if (accepted === 0 && refusal) return { outcome: refusal, form };
  const reason = refusal ? `: ${refusal.reason}` : '';
  const remark = accepted < of ? `${of - accepted} of ${of} catalogs were left out${reason}` : undefined;
  return { outcome: { kind: 'delivered', status }, form, remark };
}

/** Sends bodies, signed in the form that the receiver accepts; after a 401 in the other one. */
function createSend(
  { sender, forms }: CallbackTools,
  row: DueCallback,
  { signal, exchanges }: { signal: AbortSignal; exchanges: Exchange[] },
): Send {
  const { action, destination: url, recipient } = row;
  const headers = truncatedHeaders(row.truncated);
  /** The form of signature under which the last body was not answered 401. */
  let isPlain: boolean | undefined;

  async function sendAs(body: Buffer, plain: boolean): Promise<Outcome> {
    const answering = plain ? undefined : row.request_signature;
    const attributes = () => attributesOfCallback(body, action);
    return traceDelivery(sender, { action, parent: row.traceparent, attributes }, async (traceparent) =>
      judgeAnswer(
        await sendSigned(sender, { url, body, answering, signal, traceparent, headers, exchanges }),
      ),
    );
  }

  return async (body) => {
    const isUsuallyPlain = (await forms.find(recipient)).has('plain');
    isPlain ??= isUsuallyPlain;
    try {
      let outcome = await sendAs(body, isPlain);
      if (outcome.status === unauthorized) {
        const other = await sendAs(body, !isPlain);
        if (other.status !== unauthorized) [outcome, isPlain] = [other, !isPlain];
      }
      if (outcome.kind === 'delivered' && isPlain !== isUsuallyPlain)
        await (isPlain ? forms.remember(recipient, 'plain') : forms.forget(recipient, 'plain'));
      return outcome;
    } catch (error) {
      // An aborted attempt says nothing about the receiver: the loop gives the callback back uncounted.
      if (!(error instanceof FetchFailure) || error.kind === 'aborted') throw error;
      return { kind: 'retry', reason: error.message };
    }
  };
}

const unauthorized = 401;
