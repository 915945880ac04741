import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { attempt } from '../attempt.ts';
import type { Turns } from '../fair-turns.ts';
import type { Logger } from '../logger.ts';
import type { Action } from '../protocol/actions.ts';
import { prepareToRead } from '../protocol/envelope.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { findMessageId } from '../protocol/message-id.ts';
import { findSignatureText, signDigest } from '../protocol/request-signature.ts';
import { type Arrivals, answerOnce, createArrivals, type Recall } from './answer-once.ts';
import {
  type AuthenticatedCaller,
  type Authenticator,
  authorizationOf,
  checkAnswerIsAwaited,
  findSigner,
  maxUnverifiedParseBytes,
  parseClaim,
  verifySigner,
} from './authenticate.ts';
import type { CostLimits } from './cost-limits.ts';
import { type Answer, asProtocolError, errorAnswer } from './error-answer.ts';
import { cutOffIdleReader } from './idle-reader.ts';
import { type LargeBodies, largeBodyBytes } from './large-bodies.ts';
import { chargeRequest, type RateLimits } from './rate-limit.ts';
import {
  answerEarly,
  type Progress as BodyProgress,
  ClientGone,
  checkDeclaredLength,
  declaredLength,
  hasBody,
  readBody,
} from './read-body.ts';
import { processReceiveBudget, type Receipt, type ReceiveBudget } from './receive-budget.ts';
import { runInTurn } from './run-in-turn.ts';
import { sourceOf } from './source.ts';
import { renderAnswer } from './spooled-body.ts';
import { traceRequest } from './trace-request.ts';
import { type ReceivedRequest, readRequest, type VerifiedRequest } from './verified-request.ts';

export type { Recall } from './answer-once.ts';
export type { FindKey, LargeCallbacks } from './authenticate.ts';
export type { Answer } from './error-answer.ts';
export type { VerifiedRequest } from './verified-request.ts';

/**
 * A signed request gets a signed answer. The checks run in this order, and the first failure determines the answer:
 *
 *   overload → rate of the source → declared size → header, key lookup (authenticate.ts) → body → signature
 *   → rate and costs of the identity → JSON, context, schema, named caller (verified-request.ts) → turn → memory (answer-once.ts) → handler
 *
 * Fastify's body parsing is not used: it depends on Content-Type, ignores the body of a GET, and closes the connection on a
 * body that is too large before the sender has read the reason.
 */
export function signedRoute<A extends Action>(
  /** Fastify, or for a command Node's own server (bare-server.ts). */
  server: { route(options: SignedRouteOptions): unknown },
  service: SignedService,
  action: A,
  handler: (request: VerifiedRequest<A>) => Promise<Answer>,
  { writesLast = false, hasOwnTurns = false, admit }: RouteOptions = {},
): void {
  const { limits } = service;
  const maxBytes = action.bodyLimit === 'bulk' ? limits.bulkBodyBytes : limits.bodyBytes;
  const arrivals = writesLast ? createArrivals() : undefined;
  const turns = hasOwnTurns ? undefined : service.turns;
  const route: Route<A> = { service, action, handler, maxBytes, arrivals, turns, admit };
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

export interface SignedRouteOptions {
  method: Action['method'];
  url: string;
  exposeHeadRoute: false;
  config: { action: Action };
  onRequest(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  handler(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

export interface RouteOptions {
  /** The handler changes nothing before it stores its answer, so it may be called for a repeat and detect that at the end. */
  writesLast?: boolean;
  hasOwnTurns?: boolean;
  /** Throws for a caller with too much waiting work. Called after the signature is verified, before the body is parsed. */
  admit?: (identity: string) => void;
}

export interface SignedService extends Authenticator {
  role: string;
  self: SigningKey;
  logger: Logger;
  limits: Authenticator['limits'] & { bodyBytes: number; bulkBodyBytes: number };
  rateLimits?: RateLimits;
  costs?: CostLimits;
  recall?: Recall;
  /** Handlers share the database connections. Requests of one caller may wait for each other and must not hold all connections. */
  turns?: Turns;
  /** Throws for a caller with too many undelivered callbacks. Called for actions that promise a callback. */
  admitPromise?: (identity: string) => void;
  largeBodies?: Pick<LargeBodies, 'read'>;
  /** The memory budget for bodies; default: that of the process. */
  receiving?: ReceiveBudget;
  bodyProgress?: BodyProgress;
  now?: () => Date;
}

interface Route<A extends Action> {
  service: SignedService;
  action: A;
  handler: (request: VerifiedRequest<A>) => Promise<Answer>;
  maxBytes: number;
  arrivals?: Arrivals;
  turns?: Turns;
  admit?: RouteOptions['admit'];
}

/** Known facts about a request, for the answer to a refusal. */
interface Progress extends ReceivedRequest {
  source: string;
  caller?: AuthenticatedCaller;
  /** The share of the memory budget that its body uses until the request is answered. */
  receipt?: Receipt;
}

/** How long to wait for a small body, to find the messageId for a refusal. */
const maxRefusedReadMs = 1_000;
/** Maximum wait of a caller whose earlier requests are slow. */
const maxTurnWaitMs = 30_000;
/** The slowest accepted body; even slow connections are a hundred times faster. */
const defaultBodyProgress: BodyProgress = { bytes: 8 * 1024, everyMs: 5_000 };

const nothing = Buffer.alloc(0);

/** Shared by all services of this process, which have one main thread. */
let requestsInHand = 0;

async function serve<A extends Action>(route: Route<A>, raw: FastifyRequest, reply: FastifyReply) {
  const { service } = route;
  const receivedAt = service.now?.() ?? new Date();
  const progress: Progress = {
    ...{ raw, receivedAt, body: nothing, source: sourceOf(raw.ip) },
    ...{ arrivedAt: performance.now(), ...(!route.action.body && { messageId: randomUUID() }) },
  };
  let answer: Answer;
  requestsInHand += 1;
  try {
    answer = await handle(route, progress).catch((error) => refuse(service, progress, error));
  } catch (error) {
    if (error instanceof ClientGone) return reply.hijack();
    throw error;
  } finally {
    progress.receipt?.close();
    requestsInHand -= 1;
  }
  const { payload, bytes, digest } = renderAnswer(answer);
  const answering = progress.caller?.header.signature ?? findRequestSignature(raw);
  if (answering !== undefined) {
    const now = service.now?.() ?? new Date();
    reply.header('signature', signDigest(service.self, digest(), { now, answering }));
  }
  if (answer.headers) reply.headers(answer.headers);
  if (!Buffer.isBuffer(payload)) cutOffIdleReader(reply);
  const isEarly = Buffer.isBuffer(payload) && isUnread(raw);
  reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('content-length', bytes)
    .send(isEarly ? answerEarly(raw.raw, progress.source, payload) : payload);
  // A stream is not sent yet: if its reader disconnected, Fastify would parse the body and answer again.
  return reply.hijack();
}

async function handle<A extends Action>(route: Route<A>, progress: Progress): Promise<Answer> {
  const { service, action, handler, maxBytes, arrivals, turns, admit } = route;
  const { raw, source, receivedAt } = progress;
  const { rateLimits, recall, receiving = processReceiveBudget } = service;
  raw.server.admission?.admit();
  if (rateLimits) chargeRequest(rateLimits.sources, source);
  checkDeclaredLength(raw.raw, maxBytes);

  const header = parseClaim(service, action, raw.raw, receivedAt);
  const signer = await findSigner(service, header, source);
  await checkAnswerIsAwaited(service, signer, declaredLength(raw.raw));

  const { identity } = signer;
  progress.receipt = receiving.open({ source, identity }, maxBytes);
  const isLarge = (declaredLength(raw.raw) ?? maxBytes) >= largeBodyBytes;
  const reading = {
    maxBytes,
    receipt: progress.receipt,
    progress: service.bodyProgress ?? defaultBodyProgress,
    ...(isLarge && progress.receipt.isOfStranger && { inTurnsOf: source }),
  };
  progress.body = await readBody(raw.raw, reading);
  progress.arrivedAt = performance.now();
  const signed = { body: progress.body, amongOthers: requestsInHand > 1 };
  progress.caller = await verifySigner(service, action, signer, signed);

  raw.identity = identity;
  receiving.vouch({ source, identity });
  rateLimits?.sources.giveBack(source);
  if (rateLimits && !rateLimits.exempt?.(identity, action)) chargeRequest(rateLimits.identities, identity);
  service.costs?.check(identity);
  service.costs?.spendBytes(identity, progress.body.length);
  if (action.callback) service.admitPromise?.(identity);
  admit?.(identity);

  const request = await readRequest(service, action, progress, progress.caller);
  const once = () =>
    answerOnce(action.remembered ? recall : undefined, request, () => handler(request), arrivals);
  const answer = () => traceRequest(service, request, raw.headers.traceparent, once);
  return await (turns ? runInTurn({ turns, owner: identity, waitMs: maxTurnWaitMs }, answer) : answer());
}

async function refuse(service: SignedService, progress: Progress, thrown: unknown): Promise<Answer> {
  if (thrown instanceof ClientGone) throw thrown;
  const { raw } = progress;
  const error = asProtocolError(thrown);
  raw.refusal = error.code;
  if (error.code === 'NET_INTERNAL_ERROR')
    service.logger.error({ requestId: raw.id, url: raw.url, err: thrown }, 'a request failed');
  if (!turnedAway.has(error.code)) await readForRefusal(service, progress);
  return errorAnswer(error, { messageId: readableMessageId(progress), realm: service.self.subscriberId });
}

/** Refusals for overload do not read the body for a messageId. */
const turnedAway: ReadonlySet<string> = new Set(['NET_OVERLOADED', 'AUT_RATE_LIMITED', 'NET_TIMEOUT']);

/** A refusal repeats the messageId only if the body is declared small and arrives within a second. */
async function readForRefusal({ receiving = processReceiveBudget }: SignedService, progress: Progress) {
  const { raw, source } = progress;
  const length = declaredLength(raw.raw);
  if (progress.receipt !== undefined || length === undefined || length > maxUnverifiedParseBytes) return;
  progress.receipt = receiving.open({ source }, maxUnverifiedParseBytes);
  const reading = {
    maxBytes: maxUnverifiedParseBytes,
    receipt: progress.receipt,
    // Only the end of the body matters.
    progress: { bytes: Number.POSITIVE_INFINITY, everyMs: maxRefusedReadMs },
  };
  try {
    progress.body = await readBody(raw.raw, reading);
  } catch (error) {
    if (error instanceof ClientGone) throw error;
  }
}

function readableMessageId({ body, caller, json, messageId }: Progress): string | undefined {
  if (messageId !== undefined || body.length >= largeBodyBytes) return messageId;
  if (body.length === 0 || (caller === undefined && body.length > maxUnverifiedParseBytes)) return undefined;
  if (json !== undefined) return findMessageId(json);
  // Not parseJson: it refuses texts that two readers could understand differently, and the messageId is still needed.
  return findMessageId(attempt(() => JSON.parse(body.toString('utf8'))));
}

/** The claimed signature, for the answer to a request that was not authenticated. */
function findRequestSignature(request: FastifyRequest): string | undefined {
  return attempt(() => findSignatureText(authorizationOf(request.raw)));
}

function isUnread({ raw }: FastifyRequest): boolean {
  return !raw.complete && !raw.destroyed && hasBody(raw);
}
