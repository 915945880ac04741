import type { FastifyInstance } from 'fastify';
import { type KeepPromise, rememberAnswer, rememberPromise } from '../delivery/remember-answer.ts';
import { callbackAddress } from '../http/callback-address.ts';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { callbackContext } from '../protocol/context.ts';
import { errorBody, ProtocolError } from '../protocol/errors.ts';
import type { AnswerPage } from '../rules/discover/page-answer.ts';
import type { DiscoveryContext } from './context.ts';
import { evaluateIntent } from './query/evaluate-intent.ts';

// Discover (catalog spec: POST /discover, POST /on_discover). The intent is evaluated and its answer rendered and stored before it is
// acknowledged: an ACK means that on_discover will come. The specification forbids an empty on_discover; decided: where nothing is found,
// the acknowledgement says so with BIZ_NO_RESULTS_FOUND, and nothing follows.

/** Who asked is hardly waiting any longer. */
const giveUpAfterMs = 10 * 60_000;

export function addDiscoverRoute(
  server: FastifyInstance,
  service: SignedService,
  context: DiscoveryContext & { keepPromise: KeepPromise },
): void {
  const handler = (request: Discover) => discover(context, request);
  signedRoute(server, service, actions.discover, handler, { writesLast: true });
}

type Discover = VerifiedRequest<typeof actions.discover>;

async function discover(
  context: DiscoveryContext & { keepPromise: KeepPromise },
  request: Discover,
): Promise<Answer> {
  const { config, database, metrics } = context;
  const destination = callbackAddress(request, actions.onDiscover, config);
  const { answer: page } = await evaluateIntent(context, request.message, request.context);
  metrics
    .counter('signpost_discovers_total', 'Evaluated intents, by whether something was found', ['found'])
    .inc({ found: String(page.resourceCount > 0) });

  const { messageId } = request.context;
  if (page.resourceCount === 0) {
    const answer = { status: 202, body: JSON.stringify(nothingFound(messageId)) };
    await rememberAnswer(database, request, answer, { open: false });
    return answer;
  }
  const answer = { status: 200, body: JSON.stringify(ack(messageId)) };
  const body = renderCallback(context, request, page);
  const createdAt = context.now();
  await rememberPromise(context.keepPromise, request, answer, {
    action: actions.onDiscover.name,
    destination,
    body,
    requestSignature: request.signature,
    createdAt,
    giveUpAt: new Date(createdAt.getTime() + giveUpAfterMs),
  });
  return answer;
}

function nothingFound(messageId: string): object {
  const error = errorBody(new ProtocolError('BIZ_NO_RESULTS_FOUND', 'Nothing matches the intent.'));
  const { message } = ack(messageId);
  return { message: { ...message, error } };
}

/** Documents leave as they are stored: their texts are put together, not rendered again. */
function renderCallback(
  { self, url, now }: DiscoveryContext,
  { context, digest }: Discover,
  { catalogs, pagination }: AnswerPage,
): Buffer {
  const answered = callbackContext(actions.onDiscover.name, context, {
    now: now(),
    requestDigest: digest,
    sender: { bppId: self.subscriberId, bppUri: url },
  });
  const paging = pagination ? `,"pagination":${JSON.stringify(pagination)}` : '';
  return Buffer.from(`{"context":${JSON.stringify(answered)},"message":{"catalogs":${catalogs}${paging}}}`);
}
