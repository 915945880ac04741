import { collectTexts, parseSeconds } from './arguments.ts';
import type { CheckOptions } from './check/run.ts';
import type { Register } from './command.ts';

export const register: Register = (program, context) =>
  program
    .command('check')
    .option(
      '--discovery-database <url>',
      'database of the discovery service, if it is not that of the catalog service',
    )
    .option(
      '--tree <path-or-url>',
      'published files: a directory, or the address of a node; repeatable. Default: those of the publisher on this machine, if there are any',
      collectTexts,
    )
    .option(
      '--key <key>',
      'public key for the files, as recordId=publicKey (default: from the registry)',
      collectTexts,
    )
    .option('--no-index', 'skip the comparison of index and documents, which reads the whole index')
    .option(
      '--wait <seconds>',
      'how long to watch: items that change during this time are not differences',
      parseSeconds,
      10,
    )
    .addHelpText('after', help)
    .action(async (options: CheckOptions) => (await import('./check/run.ts')).check(options, context));

const help = `
Compares the catalogs of the catalog service with what subscribers have acknowledged and what the discovery service has indexed, and the published files
with their digests, signatures and the index. It also lists lasting failures, each with the next step. It changes nothing, and the services can keep
running. Parked pushes are differences; pushes that wait for a retry are not. Each difference is one line.

Exit codes: 0 no difference; 1 otherwise.

It uses DATABASE_URL, or the embedded database in DATA_DIR. CATALOG_ID names the catalog service.

Examples:
  $ signpost check
  $ signpost check --json --wait 60
  $ DATABASE_URL=postgres://…/catalog signpost check --discovery-database postgres://…/discovery
  $ signpost check --tree https://provider.example.org`;
