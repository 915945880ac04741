import type { Command } from 'commander';
import { collectTexts, parseSubscriber } from './arguments.ts';
import type { CommandContext } from './command.ts';
import type { VerifyOptions } from './verify/run.ts';

export function registerVerifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .argument('[path-or-url]', 'directory of the published files, address of a node, or address of an index')
    .option(
      '--key <key>',
      "recordId=publicKey, or a file with the registry's answer; may be repeated",
      collectTexts,
    )
    .option(
      '--node <subscriber>',
      'whose they must be; otherwise whoever they say they are of',
      parseSubscriber,
    )
    .option('--quiet', 'only what is wrong')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (place: string | undefined, options: VerifyOptions) =>
      (await import('./verify/run.ts')).verify(place, options, context),
    );
}

const help = `
Without an argument, the files that the publisher of this machine has published. Keys come from the registry
(REGISTRY_URL); with --key nothing is asked, so that a directory can be verified without a network.
Exit code: 0 when everything holds, 1 otherwise; then the first broken link is named, and what to do.

Examples:
  $ signpost verify
  $ signpost verify https://provider.example.org
  $ signpost verify https://files.example.org/index/catalogs.index.json --node provider.example.org
  $ signpost verify ./public --key key-1=awGPjRK6i/Vg/lWr+0xObclVxlwZXvTjWYtlu6NeOHk=`;
