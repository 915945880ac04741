import type { Command } from 'commander';
import { collectTexts, parseSeconds } from './arguments.ts';
import type { CheckOptions } from './check/run.ts';
import type { CommandContext } from './command.ts';

export function registerCheckCommand(program: Command, context: CommandContext): void {
  program
    .command('check')
    .option(
      '--discovery-database <url>',
      'database of the discovery service, where it is not that of the catalog service',
    )
    .option(
      '--tree <path-or-url>',
      'published files: a directory, or the address of a node; may be repeated. Otherwise those of the publisher of this machine, if it has published any',
      collectTexts,
    )
    .option(
      '--key <key>',
      "recordId=publicKey, or a file with the registry's answer, to verify the files with; otherwise the registry is asked",
      collectTexts,
    )
    .option(
      '--no-index',
      'leave out the comparison of the posting lists with the documents, which reads the whole index',
    )
    .option(
      '--wait <seconds>',
      'how long to watch: what is gone by then, or moves at the end of it, is under way and no difference',
      parseSeconds,
      10,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (options: CheckOptions) => (await import('./check/run.ts')).check(options, context));
}

const help = `
Compares what the catalog service stores with what its subscribers have acknowledged, with what the discovery service has indexed, and the published files with their
digests, signatures and the index. It also names troubles: failures that last, each with the next step. Nothing is changed, and nothing has to be stopped. A push that failed and waits
for its next attempt is no difference; one that is parked is. Each difference is one line.

Exit code: 0 without a difference, 1 otherwise.

It works on the database that the settings name: DATABASE_URL, or the embedded one under DATA_DIR; CATALOG_ID says which catalog service that is.

Examples:
  $ signpost check
  $ signpost check --json --wait 60
  $ DATABASE_URL=postgres://…/catalog signpost check --discovery-database postgres://…/discovery
  $ signpost check --tree https://provider.example.org`;
