import type { FastifyInstance } from 'fastify';
import { type KeepPromise, rememberAnswer, rememberPromise } from '../delivery/remember-answer.ts';
import { createTurns, type Turn, type Turns } from '../fair-turns.ts';
import { callbackAddress } from '../http/callback-address.ts';
import type { CostLimits } from '../http/cost-limits.ts';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { callbackContext } from '../protocol/context.ts';
import { nothingMatches, truncatedHeaders } from '../protocol/discover-messages.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type AnswerPage, beyondTheLast } from '../rules/discover/page-answer.ts';
import {
  createDeadline,
  type Deadline,
  type Found,
  type SearchOptions,
  withinDeadline,
} from '../search/port.ts';
import type { EmptySearches } from '../storage/console/empty-searches.ts';
import { Stale } from '../storage/freshness.ts';
import type { DiscoveryContext } from './context.ts';
import { type ObserveDiscover, observeDiscovers, traceAnswer } from './observe-discover.ts';

// Discover (catalog spec: POST /discover, POST /on_discover). The answer is stored before the ACK. The specification forbids an empty on_discover:
// if nothing is found, the acknowledgement is BIZ_NO_RESULTS_FOUND, and no callback follows.

/** After this, the consumer is probably no longer waiting. */
const giveUpAfterMs = 10 * 60_000;

/** Maximum waiting searches of one identity, in all WORKERS together: each needs memory, and is given up after DISCOVER_TIMEOUT_MS. */
const maxWaiting = 100;

/** Reading, rendering and storing more resources takes tens of milliseconds of the main thread: one at a time per identity. */
const largePage = { resources: 100, turns: { size: 2, perOwner: 1 } };

interface DiscoverContext {
  discovery: DiscoveryContext;
  keepPromise: KeepPromise;
  emptySearches: EmptySearches;
  turns: Turns;
  /** For large pages, in addition to the turn of their search. */
  largeTurns: Turns;
  costs?: CostLimits;
  observe: ObserveDiscover;
}
type Discover = VerifiedRequest<typeof actions.discover>;

export function addDiscoverRoute(
  server: FastifyInstance,
  service: SignedService,
  context: Pick<DiscoverContext, 'discovery' | 'keepPromise' | 'emptySearches'>,
): void {
  const { DISCOVER_CONCURRENCY: size, WORKERS } = context.discovery.config;
  const turns = createTurns({ size, maxWaiting: Math.ceil(maxWaiting / WORKERS) });
  const largeTurns = createTurns(largePage.turns);
  const observe = observeDiscovers(context.discovery.metrics);
  const own = { ...context, turns, largeTurns, costs: service.costs, observe };
  const handler = (request: Discover) => discover(own, request);
  signedRoute(server, service, actions.discover, handler, { writesLast: true, hasOwnTurns: true });
}

/** An optimistic read: the database usually has not changed since the last search, so this is checked only when the answer is stored. */
async function discover(context: DiscoverContext, request: Discover): Promise<Answer> {
  const deadline = createDeadline(context.discovery.config.DISCOVER_TIMEOUT_MS, request.arrivedAt);
  try {
    return await search(context, request, { optimistic: true, deadline });
  } catch (error) {
    if (!(error instanceof Stale)) throw error;
    return await search(context, request, { optimistic: false, deadline });
  }
}

/** Searches share the database and this process's main thread: turns are shared fairly among senders, until the answer is stored. */
async function search(
  context: DiscoverContext,
  request: Discover,
  options: { optimistic: boolean; deadline: Deadline },
): Promise<Answer> {
  const { deadline } = options;
  const destination = callbackAddress(request, actions.onDiscover, context.discovery.config);
  const held: Turn[] = [];
  const take = async (turns: Turns) => {
    const wait = () => deadline.waitForTurn((withinMs) => turns.take(request.identity, withinMs));
    held.push(await withinDeadline(wait));
  };
  // While a search waits for a thread, it needs no turn here.
  const onWait = () => held[0]?.leave();
  const beforePage = async (resources: number) => {
    if (resources > largePage.resources && held.length === 1) await take(context.largeTurns);
  };
  try {
    await take(context.turns);
    return await answer(context, request, { ...options, onWait, beforePage, destination });
  } finally {
    for (const turn of held) turn.end();
  }
}

async function answer(
  context: DiscoverContext,
  request: Discover,
  { destination, ...options }: SearchOptions & { deadline: Deadline; destination: string },
): Promise<Answer> {
  const { message, context: scope, identity: owner } = request;
  const found = await context.discovery.search.search({ message, scope }, { ...options, owner });
  const isFound = found.answer.resourceCount > 0;
  const answer = await traceAnswer(request, found, (traceparent) =>
    isFound
      ? promise(context, request, found, { destination, traceparent })
      : tellNothing(context, request, found, options.deadline),
  );
  context.observe(message.intent, request.arrivedAt, isFound);
  return answer;
}

async function promise(
  context: DiscoverContext,
  request: Discover,
  { answer: page, freshness }: Found,
  { destination, traceparent }: { destination: string; traceparent?: string },
): Promise<Answer> {
  const truncated = page.leftOut && !page.pagination ? page.resourceCount : undefined;
  const answer = {
    ...{ status: 200, body: JSON.stringify(ack(request.context.messageId)) },
    headers: truncatedHeaders(truncated),
  };
  const callback = {
    action: actions.onDiscover.name,
    destination,
    body: renderCallback(context.discovery, request, page),
    requestSignature: request.signature,
    giveUpAfterMs,
    traceparent,
    truncated,
  };
  await rememberPromise(context.keepPromise, request, answer, { callback, freshness });
  context.costs?.spendAnswer(request.identity, callback.body.length);
  tellCut(context.discovery, request, page);
  return answer;
}

/** The pagination, or a header without paging, shows that resources are missing; nothing shows missing offers. */
function tellCut({ logger }: DiscoveryContext, request: Discover, { leftOut, pagination }: AnswerPage): void {
  if (leftOut === undefined) return;
  const { messageId, bapId } = request.context;
  if (pagination === undefined)
    logger.info({ messageId, bapId, leftOut }, 'an on_discover was cut, without paging');
  else if (leftOut.offers > 0)
    logger.info({ messageId, bapId, leftOut }, 'the offers on a resource alone fill an on_discover');
}

async function tellNothing(context: DiscoverContext, request: Discover, found: Found, deadline: Deadline) {
  const { database, logger, search } = context.discovery;
  await search.confirm(found, deadline);
  const { total } = found.answer;
  const { message, context: scope, identity: owner } = request;
  const misses =
    total > 0
      ? [beyondTheLast(total)]
      : await search.findNearMisses({ message, scope, deadline, trace: found.trace, owner });
  if (misses.length > 0)
    logger.info({ messageId: scope.messageId, misses }, 'nothing was found; these were near misses');
  context.emptySearches.note({
    networkId: scope.networkId,
    intent: message.intent,
    nearMisses: misses.map(({ code, says, path }) => ({ code, message: says, path })),
  });
  const text = [nothingMatches, ...misses.map(({ says }) => says)].join(' ');
  const nothing = new ProtocolError('BIZ_NO_RESULTS_FOUND', text, { path: misses[0]?.path });
  const answer = { status: 202, body: JSON.stringify(ack(scope.messageId, nothing)) };
  await rememberAnswer(database, request, answer, { open: false });
  return answer;
}

/** Documents are sent as stored: their texts are concatenated, not serialized again. */
function renderCallback(
  { self, hosting, now }: DiscoveryContext,
  { context, digest }: Discover,
  { catalogs, pagination, ranking }: AnswerPage,
): Buffer {
  const answered = callbackContext(actions.onDiscover.name, context, {
    now: now(),
    requestDigest: digest,
    sender: { bppId: self.subscriberId, bppUri: hosting.url },
  });
  const paging = pagination
    ? `,"pagination":${JSON.stringify(pagination)},"ranking":${JSON.stringify(ranking)}`
    : '';
  return Buffer.from(`{"context":${JSON.stringify(answered)},"message":{"catalogs":${catalogs}${paging}}}`);
}
