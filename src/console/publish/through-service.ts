import { randomUUID } from 'node:crypto';
import { exchangeSigned } from '../../delivery/exchange.ts';
import { FetchFailure } from '../../http/fetch-failure.ts';
import { actions } from '../../protocol/actions.ts';
import { bodyDigest } from '../../protocol/digest.ts';
import { protocolVersion } from '../../protocol/endpoints.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { Json } from '../../protocol/json.ts';
import { readNackBytes } from '../../protocol/nack.ts';
import { joinPath } from '../../rules/base-address.ts';
import type { ConsoleContext } from '../context.ts';
import { ConsoleError } from '../errors.ts';
import { findSigner } from '../signer.ts';
import { refusedBy } from './refused.ts';
import { awaitCallback } from './trigger.ts';

// A publish through the own catalog service, signed as a provider of this machine. Its on_publish goes where the provider's registry record says, or, where
// that names no address, to the inbox.

const maxAnswerBytes = 1024 * 1024;
const sendWithinMs = 30_000;

export interface SentPublish {
  messageId: string;
  transactionId: string;
}

export async function publishThroughService(
  context: ConsoleContext,
  message: Json,
  as = context.config.identities.publisher.id,
): Promise<SentPublish> {
  const { config, outside, logger, now } = context;
  const key = findSigner(config, as);
  const registry = outside.freshRegistry();
  const records = await registry.findSubscriber(identityOf(as, config.REGISTRY_NAME));
  const registered = records.find(({ url }) => url !== undefined)?.url;
  const [messageId, transactionId] = [randomUUID(), randomUUID()];
  const body = Buffer.from(
    JSON.stringify({
      context: {
        ...{ version: protocolVersion, action: actions.publish.name, messageId, transactionId },
        ...{ timestamp: now().toISOString(), bppId: as, bppUri: registered ?? `${config.consoleUrl}/inbox` },
      },
      message,
    }),
  );
  const url = joinPath(config.identities.catalog.url, actions.publish.path);
  const isOurPublisher = as === config.identities.publisher.id && registered !== undefined;
  const sender = { key, client: outside.client, findKey: registry.findKey, logger, now };
  const answer = await exchangeSigned(sender, {
    ...{ method: 'POST', url, body, maxAnswerBytes, operatorConfigured: true },
    signal: AbortSignal.timeout(sendWithinMs),
    beforeSending: async (authorization) => {
      const awaited = { messageId, authorization, digest: bodyDigest(body), url };
      if (isOurPublisher) await awaitCallback(context, awaited);
    },
  }).catch((error) => {
    if (!(error instanceof FetchFailure)) throw error;
    throw new ConsoleError(
      'NET_DOWNSTREAM_UNAVAILABLE',
      `The catalog service does not answer: ${error.message}`,
    );
  });
  if (answer.status !== 200) {
    const { status, body: said } = answer;
    const hint = 'Check the text: faults are shown at their place.';
    throw refusedBy('catalog service', { status, nack: readNackBytes(said) }, hint);
  }
  return { messageId, transactionId };
}
