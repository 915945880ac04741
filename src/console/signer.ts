import type { Config } from '../config.ts';
import { exchangeSigned, type Question } from '../delivery/exchange.ts';
import { FetchFailure } from '../http/fetch-failure.ts';
import { identityOf } from '../protocol/identity.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { currentKeyId, findSigningKey } from '../registry/key-files.ts';
import type { ConsoleContext } from './context.ts';
import { ConsoleError } from './errors.ts';

export async function openSender(context: ConsoleContext, as: string, service: string) {
  const { config, outside, logger, now } = context;
  const key = findSigner(config, as);
  const registry = outside.freshRegistry();
  const records = await registry.findSubscriber(identityOf(as, config.REGISTRY_NAME));
  const registeredUrl = records.find(({ url }) => url !== undefined)?.url;
  const sender = { key, client: outside.client, findKey: registry.findKey, logger, now };
  return {
    registeredUrl,
    /** Address for its callbacks: the registered one, or the inbox. */
    uri: registeredUrl ?? `${config.consoleUrl}/inbox`,
    send: (question: Omit<Question, 'operatorConfigured'>) =>
      exchangeSigned(sender, { ...question, operatorConfigured: true }).catch((error) =>
        explainFailure(error, service),
      ),
  };
}

export function explainFailure(error: unknown, service: string): never {
  if (!(error instanceof FetchFailure)) throw error;
  throw new ConsoleError('NET_DOWNSTREAM_UNAVAILABLE', `The ${service} does not answer: ${error.message}`);
}

function findSigner(config: Config, id: string): SigningKey {
  const own = Object.values(config.identities).find((identity) => identity.id === id);
  const keyId = own?.keyId ?? currentKeyId(config.DATA_DIR, id);
  const key = findSigningKey(config.DATA_DIR, { id, keyId, ...(own?.seed && { seed: own.seed }) });
  if (key) return key;
  throw new ConsoleError('AUT_KEY_NOT_FOUND', `There is no key of ${id} on this machine.`, {
    status: 409,
    hint: `Publish where its key is: signpost publish FILE --to ${config.identities.catalog.url}`,
  });
}
