import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { actionExamples } from '../../../src/protocol/example-messages.ts';
import { findMessageId } from '../../../src/protocol/message-id.ts';
import { parseSignatureHeader, signRequest } from '../../../src/protocol/request-signature.ts';
import { sampleCatalog } from '../../support/hosted/hosted-documents.ts';
import { arbitraryValue } from '../../support/values/arbitrary-value.ts';
import { awaitedCall, type ClientCall } from '../client-calls.ts';
import { exchange } from '../http-exchange.ts';
import { type ByteMutation, bytesSometimes, mutateBytes } from '../mutate-bytes.ts';
import { type Mutation, mutate, mutateText, mutations } from '../mutate-json.ts';
import { checkAnswerSignature, fault, isAccepted, judgeNack } from '../oracle.ts';
import type { Scene } from '../scene.ts';
import { accepted, type Target } from '../target.ts';

// Callbacks and pushes to their receivers: a program that uses the client package, `signpost listen`, the inbox of the console. Changed before or
// after they were signed.

const received = ['onDiscover', 'onPublish', 'onPull', 'push'] as const;
type Received = (typeof received)[number];

interface CallbackCase {
  receiver: 'client' | 'consumer' | 'console';
  action: Received;
  /** JSON text. */
  message: string;
  context: readonly Mutation[];
  before: readonly ByteMutation[];
  after: readonly ByteMutation[];
  /** Whether its signature covers the signature of the request that it answers. */
  isChained: boolean;
}

export const callbacks: Target<CallbackCase> = {
  name: 'callbacks and pushes to receivers',
  weight: 10,
  concurrency: 8,
  cases: fc.constantFrom(...received).chain((action) =>
    fc.record({
      receiver: fc.constantFrom('client', 'client', 'client', 'consumer', 'consumer', 'console'),
      action: fc.constant(action),
      message: messagesOf(action),
      context: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: mutations }),
      ...{ before: bytesSometimes(7), after: bytesSometimes(7) },
      isChained: fc.boolean(),
    }),
  ),
  run: runCallback,
};

function messagesOf(action: Received): fc.Arbitrary<string> {
  const { bodies } = actionExamples[action];
  const examples = Object.values(bodies).map(({ value }) => (value as { message: unknown }).message);
  return fc
    .tuple(
      fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(...examples, ...more[action]) },
        { weight: 1, arbitrary: arbitraryValue(actions[action].body.properties.message) },
      ),
      mutations,
    )
    .map(([message, changes]) => mutateText(message, changes));
}

const more: Record<Received, unknown[]> = {
  onDiscover: [{ catalogs: [sampleCatalog], pagination: { total: 3, limit: 100, offset: 0 } }],
  ...{ onPublish: [], onPull: [], push: [] },
};

async function runCallback(scene: Scene, one: CallbackCase, id: string): Promise<string> {
  const call =
    one.receiver === 'client' && one.action !== 'push' ? await awaitedCall(scene, one.action) : undefined;
  const { answer, body } = await send(scene, one, call, id);
  const isTaken = isAccepted(answer);
  // An accepted callback ends the call, with a result or with an error that has a code, or leads to the next request. One with another id goes to
  // onMessage, and the call keeps waiting.
  if (isTaken && call && findMessageId(JSON.parse(body.toString())) === call.context.messageId)
    await call.goOn();
  else call?.giveBack();
  return isTaken ? accepted : judgeNack(answer);
}

async function send(scene: Scene, one: CallbackCase, call: ClientCall | undefined, id: string) {
  const { participants, urls } = scene;
  const action: Action = actions[one.action];
  const sender = one.action === 'onDiscover' ? participants.discovery : participants.catalog;
  const now = new Date();
  const receiver = participants[one.receiver === 'console' ? 'consumer' : one.receiver];
  const { messageId, transactionId } = call?.context ?? {};
  const context = {
    ...{ version: '2.0.0', action: action.name, timestamp: now.toISOString() },
    ...{ messageId: messageId ?? randomUUID(), transactionId: transactionId ?? randomUUID() },
    ...{ bapId: receiver.id, bapUri: receiver.url, bppId: sender.id, bppUri: sender.url },
    ...(action.kind === 'callback' && {
      requestDigest: { digest: bodyDigest(call?.body ?? Buffer.from('')) },
    }),
  };
  const text = `{"context":${JSON.stringify(mutate(context, one.context))},"message":${one.message}}`;
  const body = mutateBytes(Buffer.from(text), one.before);
  const answering = call && one.isChained ? parseSignatureHeader(call.authorization).signature : undefined;
  const authorization = signRequest(sender.key, body, { now, answering });
  const origin = one.receiver === 'console' ? urls.console : receiver.url;
  const path = one.receiver === 'console' ? `/inbox${action.path}` : action.path;
  const sent = mutateBytes(body, one.after);
  const answer = await exchange(origin, path, {
    ...{ method: 'POST', body: sent, headers: { authorization, 'x-request-id': id } },
  });
  // The inbox refuses callbacks above its rate before it checks the signature.
  if (answer.status !== 429) checkAnswerSignature(answer, receiver.key, authorization);
  if (isAccepted(answer) && !sent.equals(body))
    throw fault('a callback that was changed after it was signed was accepted', answer);
  return { answer, body };
}
