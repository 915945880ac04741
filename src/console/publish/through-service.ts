import { actions } from '../../protocol/actions.ts';
import { bodyDigest } from '../../protocol/digest.ts';
import { fillIn } from '../../protocol/fill-in.ts';
import type { Json } from '../../protocol/json.ts';
import { readNackBytes } from '../../protocol/nack.ts';
import { joinPath } from '../../rules/base-address.ts';
import type { ConsoleContext } from '../context.ts';
import { openSender } from '../signer.ts';
import { awaitCallback, refusedBy } from './trigger.ts';

// A publish through our catalog service, signed as a provider of this machine. Its on_publish goes to the address in the provider's registry record
// or, if there is none, to the inbox.

const maxAnswerBytes = 1024 * 1024;
const sendWithinMs = 30_000;

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
    const { status, body: said } = answer;
    const hint = 'Check the text: faults are shown at their place.';
    throw refusedBy('catalog service', { status, nack: readNackBytes(said) }, hint);
  }
  return { messageId, transactionId };
}
