import { attempt } from '../attempt.ts';
import { type AnswerHead, FetchFailure } from '../http/fetch-failure.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import type { Logger } from '../logger.ts';
import { bodyDigest } from '../protocol/digest.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { type Nack, readNack } from '../protocol/nack.ts';
import type { KeyLookup } from '../protocol/registry-record.ts';
import { parseSignatureHeader, signDigest, verifySignature } from '../protocol/request-signature.ts';
import type { Exchange } from '../storage/work/history.ts';
import { parseRetryAfter, type ReceivedAnswer } from './retry-policy.ts';

// Signs one message, posts it, reads the answer and checks the answer's own signature.
// A fresh signature per attempt, the same bytes; redirects of a POST are never followed.

export const sendTimeoutMs = 30_000;
const maxAnswerBytes = 1024 * 1024;
/** Limit of a receiver's error text, which is stored, logged and shown in terminals. */
const maxErrorLength = 500;

export interface Sender {
  key: SigningKey;
  client: GuardedClient;
  findKey: (subscriberId: string, recordId: string) => Promise<KeyLookup>;
  logger: Logger;
  now: () => Date;
}

export interface Message {
  url: string;
  body: Buffer | DigestedBody;
  /** For callbacks: the text of the signature of the answered request. */
  answering?: string;
  signal?: AbortSignal;
  /** The parent in the trace; no signature covers it. */
  traceparent?: string;
  /** No signature covers them. */
  headers?: Record<string, string>;
  /** Collects this request with its answer, or with the reason why none came. */
  exchanges?: Exchange[];
}

/** A body whose beginning is shared with others: that beginning is in memory and digested once. */
export interface DigestedBody {
  pieces: readonly Buffer[];
  bytes: number;
  digest: string;
  messageId: string;
  transactionId: string;
}

export async function sendSigned(sender: Sender, message: Message): Promise<ReceivedAnswer> {
  const { body: sent } = message;
  const isWhole = Buffer.isBuffer(sent);
  const authorization = signDigest(sender.key, isWhole ? bodyDigest(sent) : sent.digest, {
    now: sender.now(),
    answering: message.answering,
  });
  const at = sender.now();
  const startedMs = performance.now();
  const note = (answer: string, status?: number) =>
    message.exchanges?.push({
      ...{ at, durationMs: Math.round(performance.now() - startedMs), url: message.url, status },
      ...{ answer: answer.replaceAll('\0', ''), request: beginningOf(sent) },
    });
  const { status, headers, body } = await sender.client
    .request(message.url, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
        ...message.headers,
      },
      body: isWhole ? sent : sent.pieces,
      timeoutMs: sendTimeoutMs,
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      signal: message.signal,
    })
    .catch(answerWithoutBody)
    .catch((error: Error) => {
      note(error.message);
      throw error;
    });
  note(body?.toString('utf8', 0, shownAnswerBytes) ?? '', status);
  if (body) await findAnswerSigner(sender, message.url, authorization, { headers, body });
  return {
    status,
    ...(body && readAcknowledgement(body)),
    retryAfterMs: parseRetryAfter(headerText(headers['retry-after']), sender.now()),
  };
}

/** The part of a request and its answer that operators see. */
const shownRequestBytes = 2_048;
const shownAnswerBytes = 1_024;

function beginningOf(body: Message['body']): string {
  const pieces = Buffer.isBuffer(body) ? [body] : body.pieces;
  let text = '';
  for (const piece of pieces) {
    if (text.length >= shownRequestBytes) break;
    text += piece.toString('utf8', 0, shownRequestBytes - text.length);
  }
  return text;
}

/** The status is enough for the outcome, even if the rest of the answer is endless, cut off or encoded. */
function answerWithoutBody(error: unknown): AnswerHead & { body?: Buffer } {
  if (error instanceof FetchFailure && error.kind !== 'aborted' && error.answered) return error.answered;
  throw error;
}

/** The subscriberId of the signer of an answer. A missing or wrong signature is only logged: many deployed peers do not sign answers. */
export async function findAnswerSigner(
  { findKey, logger }: Sender,
  url: string,
  authorization: string,
  response: { headers: Record<string, string | string[] | undefined>; body: Buffer },
): Promise<string | undefined> {
  const value = headerText(response.headers.signature);
  if (value === undefined) {
    logger.debug({ url }, 'the answer is not signed');
    return undefined;
  }
  try {
    const header = parseSignatureHeader(value);
    if (!header.chained) throw new Error('it does not name the request');
    const lookup = await findKey(header.subscriberId, header.recordId);
    if (lookup.kind !== 'key') throw new Error(`it is signed with a key that is ${lookup.kind}`);
    const { signature } = parseSignatureHeader(authorization);
    return verifySignature(header, lookup.publicKey, response.body, signature).subscriberId;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    logger.warn({ url, reason }, 'the answer has a wrong signature');
    return undefined;
  }
}

function readAcknowledgement(body: Buffer) {
  const parsed: Json | undefined = attempt(() => JSON.parse(body.toString('utf8')));
  if (parsed === undefined) return {};
  const { message } = isJsonObject(parsed) ? parsed : {};
  const { status } = isJsonObject(message) ? message : {};
  const nack = readNack(parsed);
  return {
    acknowledgement: typeof status === 'string' ? status : undefined,
    error: errorText(nack),
    ...{ code: nack.code, path: nack.path },
  };
}

/** One line of plain text, whatever the receiver sent: a database accepts no U+0000, a terminal no escape sequences. */
function errorText({ code, message, path }: Nack): string | undefined {
  const parts = [code, message, path && `(${path})`].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  return parts
    .join(' ')
    .slice(0, maxErrorLength)
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ');
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
