import { collectTexts, parseSubscriber } from './arguments.ts';
import type { Register } from './command.ts';
import type { VerifyOptions } from './verify/run.ts';

export const register: Register = (program, context) =>
  program
    .command('verify')
    .argument('[path-or-url]', 'directory of the published files, address of a node, or address of an index')
    .option('--key <key>', 'recordId=publicKey; repeatable', collectTexts)
    .option(
      '--node <subscriber>',
      'node that they must belong to (default: the one that they name)',
      parseSubscriber,
    )
    .option('--quiet', 'only what is wrong')
    .addHelpText('after', help)
    .action(async (place: string | undefined, options: VerifyOptions) =>
      (await import('./verify/run.ts')).verify(place, options, context),
    );

const help = `
Without an argument, it verifies the files of this machine's publisher. Keys come from the registry (REGISTRY_URL), or
from --key, which needs no network.
Exit codes: 0 everything is valid; 1 otherwise, with the first broken link and what to do.

Examples:
  $ signpost verify
  $ signpost verify https://provider.example.org
  $ signpost verify https://files.example.org/index/catalogs.index.json --node provider.example.org
  $ signpost verify ./public --key key-1=awGPjRK6i/Vg/lWr+0xObclVxlwZXvTjWYtlu6NeOHk=`;
