import { setTimeout as delay } from 'node:timers/promises';
import {
  describeClockDifference,
  findServerClock,
  signTimes,
} from '../../../src/delivery/bodiless-signature.ts';
import { nextAttemptMs, parseRetryAfter } from '../../../src/delivery/retry-policy.ts';
import type { Action } from '../../../src/protocol/actions.ts';
import { type AskedService, isAskedService } from '../../../src/protocol/asked-service.ts';
import { readTruncated, truncatedHeader } from '../../../src/protocol/discover-messages.ts';
import { identityOf } from '../../../src/protocol/identity.ts';
import { isJsonObject, type JsonObject, parseIfJson } from '../../../src/protocol/json.ts';
import { readNack } from '../../../src/protocol/nack.ts';
import {
  parseSignatureHeader,
  signRequest,
  verifySignature,
} from '../../../src/protocol/request-signature.ts';
import { SignpostError } from './errors.ts';
import type { Settings } from './options.ts';
import { readBytes } from './read-bytes.ts';

// One signed request and its synchronous answer. An undelivered request is sent again: the same bytes under the same messageId, with a
// new signature, so that a service that had already received it does nothing twice (catalog spec: Idempotence).

export interface Outgoing {
  method: Action['method'];
  service: AskedService;
  url: string;
  body: Buffer;
  messageId?: string;
  /** Called with the Authorization header of each attempt before it is sent, because the callback may arrive before the answer. */
  onAttempt?(authorization: string): void;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  body: JsonObject;
  /** Identity of the answer's signer, if the signature is valid and from the service: deployed peers do not sign all answers. */
  signer?: string;
  /** Number of resources in the following answer, if the service reports that it was cut. */
  truncated?: number;
}

/** Statuses after which the same request may succeed later. */
const passingStatuses = [408, 429, 500, 502, 503, 504];
const maxAnswerBytes = 64 * 1024 * 1024;

/** Throws a SignpostError if it was refused or not answered. */
export async function send(settings: Settings, request: Outgoing): Promise<Answer> {
  const endMs = performance.now() + settings.retryForMs;
  for (let attempts = 1; ; attempts += 1) {
    const tried = await tryOnce(settings, request);
    if ('answer' in tried) return tried.answer;
    const leftMs = endMs - performance.now();
    const failure = { attempts, leftMs, retryAfterMs: tried.retryAfterMs, random: Math.random() };
    const waitMs = nextAttemptMs({ baseMs: settings.retryBaseMs }, failure);
    if (!tried.mayPass || waitMs === undefined) throw tried.error;
    await delay(waitMs, undefined, { signal: request.signal });
  }
}

type Tried =
  | { answer: Answer }
  | { error: SignpostError; mayPass: boolean; retryAfterMs?: number; date?: string };

/** If a request without a body gets a 401 that the server's clock may explain, it is signed with that clock and sent once more. */
async function tryOnce(settings: Settings, request: Outgoing): Promise<Tried> {
  const tried = await tryAt(settings, request, new Date());
  if ('answer' in tried) return tried;
  const { error, date } = tried;
  const now = new Date();
  const clock = findServerClock(request.method, { status: error.status ?? 0, date }, now);
  if (!clock) return tried;
  const difference = describeClockDifference(clock, now);
  settings.logger.warn(`${request.url} answered 401, and ${difference}: signed again with its time.`);
  return tryAt(settings, request, clock);
}

async function tryAt(settings: Settings, request: Outgoing, at: Date): Promise<Tried> {
  const { method, url, body, messageId, signal } = request;
  const authorization = signRequest(settings.key, body, signTimes(method, at));
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
  const value = parseIfJson(bytes);
  const document = isJsonObject(value) ? value : undefined;
  const refusal = findRefusal(response.status, document, { url, messageId });
  if (refusal) {
    const header = (name: string) => response.headers.get(name) ?? undefined;
    const retryAfterMs = parseRetryAfter(header('retry-after'), new Date());
    const mayPass = passingStatuses.includes(response.status);
    return { error: refusal, mayPass, retryAfterMs, date: header('date') };
  }
  const signer = await findSigner(settings, request, response.headers.get('signature'), bytes, authorization);
  const truncated = readTruncated(response.headers.get(truncatedHeader));
  return { answer: { status: response.status, body: document ?? {}, signer, truncated } };
}

function unreachable(error: unknown, url: string, messageId: string | undefined): SignpostError {
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const details = { messageId, cause: error };
  return isTimeout
    ? new SignpostError('NET_ACK_TIMEOUT', `${url} did not answer in time.`, details)
    : new SignpostError('NET_DOWNSTREAM_UNAVAILABLE', `${url} cannot be reached: ${reason}`, details);
}

/** Any 2xx is an acceptance unless it is a NACK. */
function findRefusal(
  status: number,
  document: JsonObject | undefined,
  { url, messageId }: { url: string; messageId?: string },
): SignpostError | undefined {
  const isNack = isJsonObject(document?.message) && document.message.status === 'NACK';
  if (status >= 200 && status < 300 && document && !isNack) return undefined;
  const { code, message, path } = readNack(document);
  if (code !== undefined) return new SignpostError(code, message ?? code, { status, path, messageId });
  const problem = `${url} answered ${status}, but not as the protocol requires.`;
  return new SignpostError('NET_INTERNAL_ERROR', problem, { status, messageId });
}

/** Logs an answer's missing, invalid or foreign signature, but does not fail (protocol decision: acknowledgements). */
async function findSigner(
  { registry, registryName, logger }: Settings,
  { service, url }: Outgoing,
  value: string | null,
  bytes: Buffer,
  authorization: string,
): Promise<string | undefined> {
  if (value === null) {
    logger.debug(`The answer of ${url} is not signed.`);
    return undefined;
  }
  try {
    const header = parseSignatureHeader(value);
    if (!header.chained) throw new Error('it does not name the request');
    const lookup = await registry.findKey(header.subscriberId, header.recordId);
    if (lookup.kind !== 'key') throw new Error(`its key is ${lookup.kind}`);
    const { signature } = parseSignatureHeader(authorization);
    const { subscriberId } = verifySignature(header, lookup.publicKey, bytes, signature);
    const signer = identityOf(subscriberId, registryName);
    if (isAskedService(service, signer, lookup.record)) return signer;
    const expected = service.identity ?? `a participant at ${service.url}`;
    throw new Error(`it was made by ${signer}, not by ${expected}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn(`The signature of the answer of ${url} is not accepted: ${reason}`);
    return undefined;
  }
}
