import type { Action } from '../protocol/actions.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { describeClockDifference, findServerClock, signTimes } from './bodiless-signature.ts';
import { parseRetryAfter } from './retry-policy.ts';
import { findAnswerSigner, type Sender, sendTimeoutMs } from './send.ts';

// Asks another service something and reads what it answers at once: subscriptions, search, the acknowledgement of a pull.

export interface Question {
  method: Action['method'];
  url: string;
  body?: Buffer;
  maxAnswerBytes: number;
  /** The operator wrote the address, or its origin. */
  operatorConfigured: boolean;
  signal: AbortSignal;
  /** Told the value of the header before the request leaves: its callback may be here before the answer. */
  beforeSending?(authorization: string): Promise<void>;
}

export interface AnswerToQuestion {
  status: number;
  body: Buffer;
  signer?: string;
  retryAfterMs?: number;
  date?: string;
}

/** Throws a FetchFailure when no answer came; any HTTP status is an answer. A 401 to a question without body may come from the clock of the server: then it is signed by that clock and asked once more. */
export async function exchangeSigned(sender: Sender, question: Question): Promise<AnswerToQuestion> {
  const answer = await exchangeAt(sender, question, sender.now());
  const now = sender.now();
  const clock = findServerClock(question.method, answer, now);
  if (!clock) return answer;
  const difference = describeClockDifference(clock, now);
  sender.logger.warn({ url: question.url, difference }, 'a server refused a signature; using its time');
  return exchangeAt(sender, question, clock);
}

async function exchangeAt(sender: Sender, question: Question, at: Date): Promise<AnswerToQuestion> {
  const { method, url, body = Buffer.alloc(0), maxAnswerBytes, operatorConfigured, signal } = question;
  const authorization = signRequest(sender.key, body, signTimes(method, at));
  await question.beforeSending?.(authorization);
  const response = await sender.client.request(url, {
    method,
    headers: { authorization, ...(body.length > 0 && { 'content-type': 'application/json' }) },
    body: body.length > 0 ? body : undefined,
    timeoutMs: sendTimeoutMs,
    maxBytes: maxAnswerBytes,
    maxRedirects: 0,
    operatorConfigured,
    signal,
  });
  return {
    status: response.status,
    body: response.body,
    signer: await findAnswerSigner(sender, url, authorization, response),
    retryAfterMs: parseRetryAfter(response.headers['retry-after'], sender.now()),
    date: response.headers.date,
  };
}
