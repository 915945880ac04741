import { createPublicKey } from 'node:crypto';
import type { Config } from '../../config.ts';
import { identityOf, splitIdentity } from '../../protocol/identity.ts';
import { publicKeyOf, type SigningKey } from '../../protocol/keys.ts';
import { RegistryUnavailable } from '../../registry/client.ts';
import { currentKeyId, loadOrCreateSigningKey, setCurrentKey } from '../../registry/key-files.ts';
import { addKey, RegistrationRefused } from '../../storage/registry/participants.ts';
import { type CommandContext, CommandError, explainError, printResult } from '../command.ts';
import { withDatabase } from '../database.ts';
import { refreshHere } from '../refresh/run.ts';
import { withRegistry } from '../send/exchange.ts';

// Key rotation of the publisher (self-hosted spec: Authentication, 5). The new key is registered first, because nobody could verify its signatures
// before. Then it signs everything new. The manifest lists both keys as long as content of the old one is published.

export interface RotateOptions {
  keyId?: string;
  resign?: boolean;
}

export async function rotate({ keyId, resign }: RotateOptions, context: CommandContext): Promise<void> {
  const config = context.config();
  const { DATA_DIR, identities, REGISTRY_URL } = config;
  const { id, seed } = identities.publisher;
  if (seed !== undefined) throw new CommandError(byHand(id));
  const current = identities.publisher.keyId ?? currentKeyId(DATA_DIR, id);
  const next = loadOrCreateSigningKey(DATA_DIR, { id, keyId: keyId ?? nextKeyId(current) });
  if (next.recordId === current) throw new CommandError(`${current} is already in use; name another key.`);

  const { subscriberId, recordId } = next;
  const wait = (waits: string, text: string) => {
    const publicKey = publicKeyOf(next.privateKey);
    printResult(context, { subscriberId, keyId: recordId, publicKey, waits }, text);
    context.setExitCode(1);
  };
  if (REGISTRY_URL === undefined) await register(next, context);
  else if (!(await isRegistered(next, config)))
    return wait('to be registered', toRegister(next, REGISTRY_URL));
  if (identities.publisher.keyId !== undefined)
    return wait(
      'to be configured',
      `${recordId} is registered. Set PUBLISHER_KEY_ID=${recordId} (or leave it empty), restart the publisher, and run: signpost refresh${resign ? ' --resign' : ''}`,
    );
  setCurrentKey(DATA_DIR, { id, keyId: recordId });
  if (!context.json) context.print(`${id} signs with ${recordId} from now on.`);
  await refreshHere(config, { resign }, context);
}

function nextKeyId(current: string): string {
  const [, name = `${current}-`, number = '1'] = /^(.*?)(\d{1,15})$/.exec(current) ?? [];
  return `${name}${Number(number) + 1}`;
}

async function register({ subscriberId, recordId, privateKey }: SigningKey, context: CommandContext) {
  const advice = ` Register the publisher first: signpost registry register ${subscriberId} --url … --public-key …`;
  await withDatabase(context, async (database, config) => {
    const participant = splitIdentity(identityOf(subscriberId, config.REGISTRY_NAME));
    const added = addKey(database, participant, { recordId, publicKey: publicKeyOf(privateKey) });
    await added.catch(
      explainError(RegistrationRefused, ({ message, code }) =>
        code === 'unknown-subscriber' ? message + advice : message,
      ),
    );
  });
}

async function isRegistered({ subscriberId, recordId, privateKey }: SigningKey, config: Config) {
  const problem = `The registry at ${config.registryUrl} cannot be queried for the new key`;
  const found = await withRegistry(config, (registry) => registry.findKey(subscriberId, recordId)).catch(
    explainError(RegistryUnavailable, ({ message }) => `${problem}, so the old one stays in use: ${message}`),
  );
  return found.kind === 'key' && found.publicKey.equals(createPublicKey(privateKey));
}

function toRegister({ subscriberId, recordId, privateKey }: SigningKey, registryUrl: string): string {
  return [
    `${registryUrl} does not know the new key yet. Register it there, next to the one in use:`,
    `  subscriber_id       ${subscriberId}`,
    `  record_id           ${recordId}`,
    `  signing_public_key  ${publicKeyOf(privateKey)}`,
    'Then run the same command again: it continues from here. Until then everything is signed with the key in use.',
  ].join('\n');
}

function byHand(id: string): string {
  return (
    'The key in use is given by PUBLISHER_PRIVATE_KEY, which no command can change. Make a new one (signpost keys new --id ' +
    `${id} --key-id …), register it, set PUBLISHER_KEY_ID and PUBLISHER_PRIVATE_KEY to it, restart the publisher, and run: signpost refresh`
  );
}
