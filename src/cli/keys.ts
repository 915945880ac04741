import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LocalKey } from '../discovery/inspect/name-signers.ts';
import { hasCode } from '../error-code.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { seedFile } from '../registry/key-files.ts';
import { parseKeyId, parseSubscriber } from './arguments.ts';
import {
  type CommandContext,
  CommandError,
  printResult,
  type Register,
  reasonOf,
  renderTable,
} from './command.ts';
import type { RotateOptions } from './keys/rotate.ts';
import { listLocalKeys } from './local-keys.ts';

interface NewKeyOptions {
  id?: string;
  keyId: string;
  out?: string;
  save?: boolean;
}

export const register: Register = (program, context) => {
  const keys = program.command('keys');
  keys
    .command('new')
    .description('create an Ed25519 key pair and say how to register it')
    .option('--id <subscriber>', 'who the key is for: a domain, or namespace/registry', parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId, 'key-1')
    .option('--out <file>', 'write the seed to a new file that only you can read, instead of printing it')
    .option('--save', 'write the seed into DATA_DIR/keys, where send and the roles find it (needs --id)')
    .addHelpText(
      'after',
      `
Examples:
  $ signpost keys new --id bpp.example.com
  $ signpost keys new --id bpp.example.com --key-id key-2 --out bpp-key-2.seed
  $ signpost keys new --id bpp.example.com --save && signpost send publish.json --as bpp.example.com --to …`,
    )
    .action((options: NewKeyOptions) => newKey(options, context));
  keys
    .command('list')
    .description('list the signing keys of this machine: public keys, and where the seeds are')
    .action(() => {
      const config = context.config();
      const found = listLocalKeys(config);
      const none = `There are no keys in ${config.DATA_DIR}/keys. Make one: signpost keys new --id … --save`;
      const rows = found.map(({ id, keyId, publicKey, place, isInUse }) => [
        ...[id, keyId, isInUse ? 'yes' : '', publicKey ?? 'cannot be read', place],
      ]);
      const table = renderTable(['SUBSCRIBER', 'KEY', 'IN USE', 'PUBLIC KEY', 'SEED'], rows);
      printResult(context, found, found.length > 0 ? table : none);
    });

  keys
    .command('show')
    .description('show the key that a subscriber signs with, and the record that the registry must have')
    .argument(
      '[subscriber]',
      'a domain, or namespace/registry (default: the publisher, PUBLISHER_ID)',
      parseSubscriber,
    )
    .option('--key-id <id>', 'another of its keys', parseKeyId)
    .addHelpText('after', showHelp)
    .action((subscriber: string | undefined, options: ShowOptions) => showKey(subscriber, options, context));

  keys
    .command('rotate')
    .description('give the publisher a new signing key: create, register and use it')
    .option('--key-id <id>', 'name of the new key (default: the next number)', parseKeyId)
    .option('--resign', 'sign everything again, because the old key was compromised')
    .addHelpText('after', rotateHelp)
    .action(async (options: RotateOptions) => (await import('./keys/rotate.ts')).rotate(options, context));
};

const rotateHelp = `
In the local registry (REGISTRY_URL not set) the key is registered at once. In any other registry, you register it: the first
run shows what to register. When it is registered, run the command again.

Exit codes: 0 the new key is in use; 1 it waits to be registered or configured.

Examples:
  $ signpost keys rotate
  $ signpost keys rotate --resign`;

function newKey(options: NewKeyOptions, context: CommandContext): void {
  const seed = generateSeed();
  const publicKey = publicKeyOf(privateKeyFromSeed(seed));
  const file = destination(options, context);
  if (file !== undefined) writeSeed(file, seed);

  const register = `signpost registry register ${options.id ?? 'SUBSCRIBER'} --key-id ${options.keyId} --public-key ${publicKey} --url https://…`;
  const made = { keyId: options.keyId, publicKey, ...(file ? { file } : { seed }), register };
  const text = [
    file === undefined ? `seed (keep it secret)  ${seed}` : `seed                   written to ${file}`,
    `public key             ${publicKey}`,
    '',
    'Register it:',
    `  ${register}`,
  ];
  printResult(context, made, text.join('\n'));
}

function destination({ out, save, id, keyId }: NewKeyOptions, context: CommandContext): string | undefined {
  if (!save) return out;
  if (out !== undefined) throw new CommandError('Give either --out or --save, not both.');
  if (id === undefined) throw new CommandError('--save needs --id: the file is named after its owner.');
  return seedFile(context.config().DATA_DIR, { id, keyId });
}

/** Never overwrites a file: a lost private key cannot be recovered. */
function writeSeed(file: string, seed: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${seed}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CommandError(
      hasCode(error, 'EEXIST')
        ? `${file} already exists and is not overwritten; choose another name, or move it away.`
        : `The seed could not be written: ${reasonOf(error)}.`,
      error,
    );
  }
}

interface ShowOptions {
  keyId?: string;
}

const showHelp = `
The private half is never printed. Whether the registry has this key, and everything published is signed with it:
signpost doctor SUBSCRIBER.

Examples:
  $ signpost keys show bpp.example.com
  $ signpost keys show bpp.example.com --key-id key-2 --json`;

function showKey(subscriber: string | undefined, { keyId }: ShowOptions, context: CommandContext) {
  const config = context.config();
  const id = subscriber ?? config.identities.publisher.id;
  const own = listLocalKeys(config).filter((key) => key.id === id);
  const key = own.find((one) => (keyId === undefined ? one.isInUse : one.keyId === keyId));
  if (!key) throw new CommandError(missing(id, keyId, own, config.DATA_DIR));
  if (key.publicKey === undefined) throw new CommandError(`${key.place} has no readable seed.`);
  printResult(context, key, renderKey(key, key.publicKey));
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
