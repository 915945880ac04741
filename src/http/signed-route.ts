import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../logger.ts';
import type { Action } from '../protocol/actions.ts';
import { bodyDigest } from '../protocol/digest.ts';
import { findMessageId, prepareToRead } from '../protocol/envelope.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { parseJson } from '../protocol/json.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { findSignatureText, signDigest } from '../protocol/request-signature.ts';
import { type Arrivals, answerOnce, createArrivals, type Recall } from './answer-once.ts';
import {
  type AuthenticatedCaller,
  type Authenticator,
  authenticate,
  authorizationOf,
} from './authenticate.ts';
import { type Answer, asProtocolError, errorAnswer } from './error-answer.ts';
import { cutOffIdleReader } from './idle-reader.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { answerEarly, ClientGone, hasBody, readBody } from './read-body.ts';
import { SpooledBody } from './spooled-body.ts';
import { type ReceivedRequest, readRequest, type VerifiedRequest } from './verified-request.ts';

export type { Recall, RememberedAnswer, RequestKey } from './answer-once.ts';
export type { FindKey } from './authenticate.ts';
export type { Answer } from './error-answer.ts';
export type { VerifiedRequest } from './verified-request.ts';

/**
 * A signed request gets a signed answer. In this order, and the first failure answers:
 *
 *   overload → body size → signature (authenticate.ts) → rate → JSON, context, schema, named caller (verified-request.ts)
 *   → memory (answer-once.ts) → handler
 *
 * Fastify's own body reading is left out: it decides by Content-Type, knows no body of a GET, and closes the connection on a
 * body that is too large before its sender has read why.
 */
export function signedRoute<A extends Action>(
  server: FastifyInstance,
  service: SignedService,
  action: A,
  handler: (request: VerifiedRequest<A>) => Promise<Answer>,
  { writesLast = false }: RouteOptions = {},
): void {
  const { limits } = service;
  const maxBytes = action.bodyLimit === 'bulk' ? limits.bulkBodyBytes : limits.bodyBytes;
  const arrivals = writesLast ? createArrivals() : undefined;
  const route: Route<A> = { service, action, handler, maxBytes, arrivals };
  prepareToRead(action);
  server.route({
    method: action.method,
    url: action.path,
    exposeHeadRoute: false,
    config: { action },
    onRequest: (request, reply) => serve(route, request, reply),
    handler: (_request, reply) => reply, // every request is answered above
  });
}

export interface RouteOptions {
  /** The handler changes nothing before it remembers its answer: it may be called for a repeat, as long as it learns of that in the end. */
  writesLast?: boolean;
}

/** What the signed routes of one role have in common. */
export interface SignedService extends Authenticator {
  role: string;
  /** Signs the answers. */
  self: SigningKey;
  logger: Logger;
  limits: Authenticator['limits'] & { bodyBytes: number; bulkBodyBytes: number };
  /** Without them, nobody is limited. */
  rateLimits?: RateLimits;
  recall?: Recall;
  now?: () => Date;
}

export interface RateLimits {
  /** Charged when the signature has verified. */
  identities: RateLimit;
  /** Charged before that, and given back when it does: what remains charged are requests of nobody. */
  sources: RateLimit;
  /** Whose requests are not counted, such as pushes of services that one subscribed to. */
  exempt?: (identity: string, action: Action) => boolean;
}

/** Behind one address there may be several identities: a proxy, a machine with many roles. */
const identitiesPerSource = 4;

/** RATE_LIMIT_PER_SECOND, with a burst of twice that. */
export function createRateLimits(perSecond: number, exempt?: RateLimits['exempt']): RateLimits {
  const perSource = perSecond * identitiesPerSource;
  return {
    identities: createRateLimit({ perSecond, burst: perSecond * 2 }),
    sources: createRateLimit({ perSecond: perSource, burst: perSource * 2 }),
    exempt,
  };
}

interface Route<A extends Action> {
  service: SignedService;
  action: A;
  handler: (request: VerifiedRequest<A>) => Promise<Answer>;
  maxBytes: number;
  arrivals?: Arrivals;
}

/** What is known of a request so far, for the answer to a refusal. */
interface Progress extends ReceivedRequest {
  caller?: AuthenticatedCaller;
}

/** Before the signature is verified, larger bodies are not read for the messageId of a NACK. */
const maxUnverifiedParseBytes = 64 * 1024;

const nothing = Buffer.alloc(0);

/** Of all services in this process, which share its one thread. */
let requestsInHand = 0;

async function serve<A extends Action>(
  route: Route<A>,
  raw: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { service } = route;
  const progress: Progress = { raw, receivedAt: service.now?.() ?? new Date(), body: nothing };
  let answer: Answer;
  requestsInHand += 1;
  try {
    answer = await handle(route, progress);
  } catch (error) {
    if (error instanceof ClientGone) return reply.hijack();
    answer = refuse(service, progress, error);
  } finally {
    requestsInHand -= 1;
  }
  const { payload, bytes, digest } = rendered(answer.body);
  const answering = progress.caller?.header.signature ?? findRequestSignature(raw);
  if (answering !== undefined) {
    const now = service.now?.() ?? new Date();
    reply.header('signature', signDigest(service.self, digest(), { now, answering }));
  }
  if (answer.headers) reply.headers(answer.headers);
  if (!Buffer.isBuffer(payload)) cutOffIdleReader(reply);
  reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('content-length', bytes)
    .send(Buffer.isBuffer(payload) && isUnread(raw) ? answerEarly(raw.raw, payload) : payload);
  return reply;
}

async function handle<A extends Action>(route: Route<A>, progress: Progress): Promise<Answer> {
  const { service, action, handler, maxBytes, arrivals } = route;
  const { raw, receivedAt } = progress;
  const { rateLimits, recall } = service;
  raw.server.admission?.admit();

  // A source that has spent its share is turned away before its body is read.
  if (rateLimits && !rateLimits.sources.allows(raw.ip, performance.now())) charge(rateLimits.sources, raw.ip);
  progress.body = await readBody(raw.raw, maxBytes);
  if (rateLimits) charge(rateLimits.sources, raw.ip);

  const messageId = () => findAnsweredMessageId(progress);
  const signed = { body: progress.body, messageId, now: receivedAt, amongOthers: requestsInHand > 1 };
  const caller = await authenticate(service, action, raw.raw, signed);
  progress.caller = caller;
  raw.identity = caller.identity;
  rateLimits?.sources.giveBack(raw.ip);
  if (rateLimits && !rateLimits.exempt?.(caller.identity, action))
    charge(rateLimits.identities, caller.identity);

  const request = readRequest(service, action, progress, caller);
  return await answerOnce(recall, request, () => handler(request), arrivals);
}

function charge(limit: RateLimit, key: string): void {
  const waitSeconds = limit.take(key, performance.now());
  if (waitSeconds === 0) return;
  throw new ProtocolError('AUT_RATE_LIMITED', `Too many requests from ${key}.`, {
    retryAfterSeconds: waitSeconds,
  });
}

function refuse(service: SignedService, progress: Progress, thrown: unknown): Answer {
  const { raw } = progress;
  const error = asProtocolError(thrown);
  raw.refusal = error.code;
  if (error.code === 'NET_INTERNAL_ERROR') {
    service.logger.error({ requestId: raw.id, url: raw.url, err: thrown }, 'a request failed');
  }
  return errorAnswer(error, { messageId: readableMessageId(progress), realm: service.self.subscriberId });
}

function readableMessageId({ body, caller, json }: Progress): string | undefined {
  if (body.length === 0 || (caller === undefined && body.length > maxUnverifiedParseBytes)) return undefined;
  if (json !== undefined) return findMessageId(json);
  try {
    // Not parseJson: the body may be refused just because two readers could understand it differently.
    return findMessageId(JSON.parse(body.toString('utf8')));
  } catch {
    return undefined;
  }
}

/** A callback that names the request it answers can only be verified with that request, which its body identifies. */
function findAnsweredMessageId(progress: Progress): string | undefined {
  try {
    progress.json ??= parseJson(progress.body);
  } catch {
    return undefined; // what is wrong with the body is said after the signature
  }
  return findMessageId(progress.json);
}

/** For the answer to a request that did not get as far as being authenticated. */
function findRequestSignature(request: FastifyRequest): string | undefined {
  try {
    return findSignatureText(authorizationOf(request.raw));
  } catch {
    return undefined;
  }
}

function isUnread({ raw }: FastifyRequest): boolean {
  return !raw.complete && !raw.destroyed && hasBody(raw);
}

interface Rendered {
  payload: Buffer | Readable;
  bytes: number;
  digest: () => string;
}

function rendered(body: Answer['body']): Rendered {
  if (body instanceof SpooledBody)
    return { payload: body.stream(), bytes: body.size, digest: () => body.digest };
  const payload = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { payload, bytes: payload.length, digest: () => bodyDigest(payload) };
}
