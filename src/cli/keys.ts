import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { hasCode } from '../error-code.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { seedFile } from '../registry/key-files.ts';
import { parseKeyId, parseSubscriber } from './arguments.ts';
import { type CommandContext, CommandError, printResult, reasonOf } from './command.ts';
import type { RotateOptions } from './keys/rotate.ts';
import { registerShowCommands } from './keys/show.ts';

interface NewKeyOptions {
  id?: string;
  keyId: string;
  out?: string;
  save?: boolean;
  json?: boolean;
}

export function registerKeysCommand(program: Command, context: CommandContext): void {
  const keys = program.command('keys');
  keys
    .command('new')
    .description('create an Ed25519 key pair and say how to register it')
    .option('--id <subscriber>', 'who the key is for: a domain, or namespace/registry', parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId, 'key-1')
    .option('--out <file>', 'write the seed to a new file that only you can read, instead of printing it')
    .option('--save', 'write the seed into DATA_DIR/keys, where send and the roles find it (needs --id)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signpost keys new --id bpp.example.com
  $ signpost keys new --id bpp.example.com --key-id key-2 --out bpp-key-2.seed
  $ signpost keys new --id bpp.example.com --save && signpost send publish.json --as bpp.example.com --to …`,
    )
    .action((options: NewKeyOptions) => newKey(options, context));
  registerShowCommands(keys, context);
  keys
    .command('rotate')
    .description(
      'give the publisher a new signing key: make it, have it registered, sign with it from then on',
    )
    .option('--key-id <id>', 'name of the new key (default: the next number)', parseKeyId)
    .option('--resign', 'sign everything again, because the old key was compromised')
    .option('--json', 'print JSON')
    .addHelpText('after', rotateHelp)
    .action(async (options: RotateOptions) => (await import('./keys/rotate.ts')).rotate(options, context));
}

const rotateHelp = `
In the local registry (REGISTRY_URL not set) the key is registered at once. In any other registry, you register it: the first
call says what to register. When it is registered, call the command again.

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
  printResult(context, options.json, made, text.join('\n'));
}

function destination({ out, save, id, keyId }: NewKeyOptions, context: CommandContext): string | undefined {
  if (!save) return out;
  if (out !== undefined) throw new CommandError('Give either --out or --save, not both.');
  if (id === undefined) throw new CommandError('--save needs --id: the file is named after its owner.');
  return seedFile(context.config().DATA_DIR, { id, keyId });
}

/** Never over another file: a lost private key cannot be had back. */
function writeSeed(file: string, seed: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${seed}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CommandError(
      hasCode(error, 'EEXIST')
        ? `${file} exists already and is not overwritten; choose another name, or move it away.`
        : `The seed could not be written: ${reasonOf(error)}.`,
      error,
    );
  }
}
