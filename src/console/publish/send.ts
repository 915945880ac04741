import { FetchFailure } from '../../http/fetch-failure.ts';
import { actions } from '../../protocol/actions.ts';
import { bodyDigest } from '../../protocol/digest.ts';
import { fillIn } from '../../protocol/fill-in.ts';
import type { Json } from '../../protocol/json.ts';
import { type Nack, readNackBytes } from '../../protocol/nack.ts';
import type { TriggerAnswer } from '../../protocol/trigger-messages.ts';
import type { AwaitedRequest } from '../../publisher/relay.ts';
import { announceCallback, publishByTrigger, type Trigger } from '../../publisher/trigger-client.ts';
import { findTriggerToken } from '../../publisher/trigger-token.ts';
import { joinPath } from '../../rules/base-address.ts';
import type { ConsoleContext } from '../context.ts';
import { ConsoleError } from '../errors.ts';
import { openSender } from '../signer.ts';

// Sends a publish, signed on this machine, in one of two ways:
//
//   service   through our catalog service, as a provider of this machine. Its on_publish goes to the address in the provider's registry record or,
//             if there is none, to the inbox
//   files     through the publisher of this machine, at its local trigger, like the commands

const maxAnswerBytes = 1024 * 1024;
const sendWithinMs = 30_000;
const publishMs = 10 * 60_000;
const announceMs = 10_000;

export async function publishThroughService(
  context: ConsoleContext,
  message: Json,
  as = context.config.identities.publisher.id,
): Promise<{ messageId: string; transactionId: string }> {
  const { config, now } = context;
  const { registeredUrl, uri, send } = await openSender(context, as, 'catalog service');
  const request = fillIn({ context: {}, message }, { action: actions.publish, id: as, uri, now: now() });
  const { messageId, transactionId } = request.context;
  const body = Buffer.from(JSON.stringify(request));
  const url = joinPath(config.identities.catalog.url, actions.publish.path);
  const isOurPublisher = as === config.identities.publisher.id && registeredUrl !== undefined;
  const answer = await send({
    ...{ method: 'POST', url, body, maxAnswerBytes, signal: AbortSignal.timeout(sendWithinMs) },
    beforeSending: async (authorization) => {
      const awaited = { messageId, authorization, digest: bodyDigest(body), url };
      if (isOurPublisher) await awaitCallback(context, awaited);
    },
  });
  if (answer.status !== 200) {
    const hint = 'Check the text: faults are shown at their place.';
    throw refusedBy('catalog service', { status: answer.status, nack: readNackBytes(answer.body) }, hint);
  }
  return { messageId, transactionId };
}

export async function publishFiles(context: ConsoleContext, message: Json): Promise<TriggerAnswer> {
  const node = context.config.identities.publisher.id;
  const asked = { node, request: { message }, timeoutMs: publishMs };
  const reply = await publishByTrigger(triggerOf(context), asked).catch((error) => {
    if (!(error instanceof FetchFailure)) throw error;
    throw new ConsoleError('NET_DOWNSTREAM_UNAVAILABLE', 'No publisher runs on this machine.', {
      ...{ status: 409, hint: 'Publish where its key is: signpost publish FILE --self' },
    });
  });
  if (reply.kind === 'taken') return reply.answer;
  const wrongToken = 'PUBLISHER_TRIGGER_TOKEN, or the token file, is not that of the publisher.';
  throw refusedBy('publisher', reply, reply.status === 401 ? wrongToken : undefined);
}

/** Announces a callback to the publisher, which then accepts it. If no publisher runs, nothing can receive it; the failure is only logged. */
async function awaitCallback(context: ConsoleContext, awaited: AwaitedRequest): Promise<void> {
  const tell = (reason: object) => context.logger.debug(reason, 'the publisher did not get a callback');
  try {
    const reply = await announceCallback(triggerOf(context), awaited, announceMs);
    if (reply.kind === 'refused') tell(reply);
  } catch (err) {
    tell({ err });
  }
}

function triggerOf({ config, outside: { client } }: ConsoleContext): Trigger {
  return { client, url: config.triggerUrl, token: findTriggerToken(config) };
}

function refusedBy(
  who: 'catalog service' | 'publisher',
  { status, nack: { code = '', message = '', path } }: { status: number; nack: Nack },
  hint?: string,
): ConsoleError {
  const said = `The ${who} refused it, ${status} ${code}: ${message}`;
  return new ConsoleError('BIZ_GENERIC_ERROR', said, { path, hint });
}
