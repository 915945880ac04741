import type { Action } from '../protocol/actions.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { bodilessLifetime } from './bodiless-lifetime.ts';
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
  /** subscriberId of who signed the answer, where the signature holds. */
  signer?: string;
  retryAfterMs?: number;
}

/** Throws a FetchFailure when no answer came; any HTTP status is an answer. */
export async function exchangeSigned(sender: Sender, question: Question): Promise<AnswerToQuestion> {
  const { method, url, body = Buffer.alloc(0), maxAnswerBytes, operatorConfigured, signal } = question;
  const now = sender.now();
  const authorization = signRequest(sender.key, body, {
    now,
    lifetimeSeconds: bodilessLifetime(method, now),
  });
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
  };
}
