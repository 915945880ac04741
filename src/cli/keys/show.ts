import type { Command } from 'commander';
import type { LocalKey } from '../../discovery/inspect/name-signers.ts';
import { parseKeyId, parseSubscriber } from '../arguments.ts';
import { type CommandContext, CommandError, printResult, renderTable } from '../command.ts';
import { listLocalKeys } from '../local-keys.ts';

// The keys of this machine: public halves, names in the registry, and where the seeds are; never the seeds themselves.

export function registerShowCommands(keys: Command, context: CommandContext): void {
  keys
    .command('list')
    .description('list the signing keys of this machine: public keys, and where the seeds are')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) => {
      const config = context.config();
      const found = listLocalKeys(config);
      const none = `There are no keys in ${config.DATA_DIR}/keys. Make one: signpost keys new --id … --save`;
      printResult(context, json, found, found.length > 0 ? renderKeys(found) : none);
    });

  keys
    .command('show')
    .description('show the key that a subscriber signs with, and what the registry must have for it')
    .argument(
      '[subscriber]',
      'a domain, or namespace/registry (default: the publisher, PUBLISHER_ID)',
      parseSubscriber,
    )
    .option('--key-id <id>', 'another of its keys', parseKeyId)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((subscriber: string | undefined, options: ShowOptions) => showKey(subscriber, options, context));
}

interface ShowOptions {
  keyId?: string;
  json?: boolean;
}

const help = `
The private half is never printed. Whether the registry has this key, and everything published is signed with it:
signpost doctor SUBSCRIBER.

Examples:
  $ signpost keys show bpp.example.com
  $ signpost keys show bpp.example.com --key-id key-2 --json`;

function showKey(
  subscriber: string | undefined,
  { keyId, json }: ShowOptions,
  context: CommandContext,
): void {
  const config = context.config();
  const id = subscriber ?? config.identities.publisher.id;
  const own = listLocalKeys(config).filter((key) => key.id === id);
  const key = own.find((one) => (keyId === undefined ? one.isInUse : one.keyId === keyId));
  if (!key) throw new CommandError(missing(id, keyId, own, config.DATA_DIR));
  if (key.publicKey === undefined) throw new CommandError(`${key.place} holds no seed that can be read.`);
  context.print(json ? JSON.stringify(key, null, 2) : renderKey(key, key.publicKey));
}

function renderKeys(keys: readonly LocalKey[]): string {
  const rows = keys.map(({ id, keyId, publicKey, place, isInUse }) => [
    ...[id, keyId, isInUse ? 'yes' : '', publicKey ?? 'cannot be read', place],
  ]);
  return renderTable(['SUBSCRIBER', 'KEY', 'IN USE', 'PUBLIC KEY', 'SEED'], rows);
}

function renderKey({ id, keyId, place, isInUse }: LocalKey, publicKey: string): string {
  return [
    `subscriber_id       ${id}`,
    `record_id           ${keyId}${isInUse ? '' : ' (not in use)'}`,
    `signing_public_key  ${publicKey}`,
    `seed                ${place}`,
    '',
    'The registry must have this public key under this record_id. In a registry of your own:',
    `  signpost registry register ${id} --key-id ${keyId} --public-key ${publicKey} --url https://…`,
  ].join('\n');
}

function missing(id: string, keyId: string | undefined, own: readonly LocalKey[], dataDir: string): string {
  const others = own.map((key) => key.keyId).join(', ');
  const what = keyId === undefined ? 'no key in use' : `no key ${keyId}`;
  return others === ''
    ? `There is no key of ${id} in ${dataDir}/keys. Make one: signpost keys new --id ${id} --save`
    : `${id} has ${what} on this machine, only ${others}. Name one: --key-id`;
}
