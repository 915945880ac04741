import { setTimeout as delay } from 'node:timers/promises';
import { signTimes } from '../../../src/delivery/bodiless-signature.ts';
import { nextAttemptMs, parseRetryAfter } from '../../../src/delivery/retry-policy.ts';
import type { Action } from '../../../src/protocol/actions.ts';
import { identityOf } from '../../../src/protocol/identity.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../src/protocol/json.ts';
import { readNack } from '../../../src/protocol/nack.ts';
import {
  parseSignatureHeader,
  signRequest,
  verifySignature,
} from '../../../src/protocol/request-signature.ts';
import { SignpostError } from './errors.ts';
import type { Settings } from './options.ts';

// One signed request and its synchronous answer. What could not be delivered is sent again: the same bytes under the same messageId, each time
// with a fresh signature, so that a service that had received it already does nothing twice (catalog spec: Idempotence).

export interface Outgoing {
  method: Action['method'];
  url: string;
  body: Buffer;
  messageId?: string;
  /** Told the Authorization header of each attempt before it leaves: the callback may be here before the answer. */
  onAttempt?(authorization: string): void;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  body: JsonObject;
  /** Identity of who signed the answer, where the signature holds: deployed peers do not sign all of theirs. */
  signer?: string;
}

/** Statuses under which the same request may succeed later. */
const passingStatuses = [408, 429, 500, 502, 503, 504];
const maxAnswerBytes = 64 * 1024 * 1024;

/** Throws a SignpostError when it was refused, or when no answer came. */
export async function send(settings: Settings, request: Outgoing): Promise<Answer> {
  const endMs = performance.now() + settings.retryForMs;
  for (let attempts = 1; ; attempts += 1) {
    const tried = await tryOnce(settings, request);
    if ('answer' in tried) return tried.answer;
    const waitMs = nextAttemptMs(
      { baseMs: settings.retryBaseMs },
      {
        attempts,
        leftMs: endMs - performance.now(),
        retryAfterMs: tried.retryAfterMs,
        random: Math.random(),
      },
    );
    if (!tried.mayPass || waitMs === undefined) throw tried.error;
    await delay(waitMs, undefined, { signal: request.signal });
  }
}

type Tried = { answer: Answer } | { error: SignpostError; mayPass: boolean; retryAfterMs?: number };

async function tryOnce(settings: Settings, request: Outgoing): Promise<Tried> {
  const { method, url, body, messageId, signal } = request;
  const now = new Date();
  const authorization = signRequest(settings.key, body, signTimes(method, now));
  request.onAttempt?.(authorization);
  let response: Response;
  let bytes: Buffer;
  try {
    response = await settings.fetch(url, {
      method,
      headers: { authorization, ...(method === 'POST' && { 'content-type': 'application/json' }) },
      ...(method === 'POST' && { body: new Uint8Array(body) }),
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(settings.answerTimeoutMs), ...(signal ? [signal] : [])]),
    });
    bytes = await readBytes(response, maxAnswerBytes);
  } catch (error) {
    signal?.throwIfAborted();
    return { error: unreachable(error, url, messageId), mayPass: true };
  }
  const document = readDocument(bytes);
  const refusal = findRefusal(response.status, document, { url, messageId });
  if (refusal) {
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after') ?? undefined, now);
    return { error: refusal, mayPass: passingStatuses.includes(response.status), retryAfterMs };
  }
  const signer = await findSigner(settings, response.headers.get('signature'), bytes, authorization);
  return { answer: { status: response.status, body: document ?? {}, signer } };
}

export async function readBytes(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unreachable(error: unknown, url: string, messageId: string | undefined): SignpostError {
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return isTimeout
    ? new SignpostError('NET_ACK_TIMEOUT', `${url} did not answer in time.`, { messageId, cause: error })
    : new SignpostError('NET_DOWNSTREAM_UNAVAILABLE', `${url} cannot be reached: ${reason}`, {
        messageId,
        cause: error,
      });
}

function readDocument(bytes: Buffer): JsonObject | undefined {
  try {
    const value = parseJson(bytes);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Any 2xx is an acceptance unless it says NACK. */
function findRefusal(
  status: number,
  document: JsonObject | undefined,
  { url, messageId }: { url: string; messageId?: string },
): SignpostError | undefined {
  const isNack = isJsonObject(document?.message) && document.message.status === 'NACK';
  if (status >= 200 && status < 300 && document && !isNack) return undefined;
  const { code, message, path } = readNack(document);
  if (code !== undefined) return new SignpostError(code, message ?? code, { status, path, messageId });
  const problem = `${url} answered ${status}, and not as the protocol says.`;
  return new SignpostError('NET_INTERNAL_ERROR', problem, { status, messageId });
}

/** A missing or wrong signature of an answer is no reason to fail (protocol decision: acknowledgements). */
async function findSigner(
  { registry, registryName }: Settings,
  value: string | null,
  bytes: Buffer,
  authorization: string,
): Promise<string | undefined> {
  if (value === null) return undefined;
  try {
    const header = parseSignatureHeader(value);
    const lookup = await registry.findKey(header.subscriberId, header.recordId);
    if (!header.chained || lookup.kind !== 'key') return undefined;
    const { signature } = parseSignatureHeader(authorization);
    return identityOf(verifySignature(header, lookup.publicKey, bytes, signature).subscriberId, registryName);
  } catch {
    return undefined;
  }
}
