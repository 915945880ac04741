import {
  collectNetworks,
  parseCatalogType,
  parseIndexName,
  parseMode,
  parseUrl,
  signingOptions,
} from './arguments.ts';
import type { Register } from './command.ts';
import type { PublishOptions } from './publish/run.ts';

export const register: Register = (program, context) => {
  const command = program
    .command('publish')
    .argument('<file...>', 'a publish request, a catalog, or an array of catalogs; - reads standard input')
    .option('--self', 'as signed files, through the running publisher or directly (default)')
    .option('--to <url>', 'to this catalog service (base address), and wait for on_publish', parseUrl)
    .option('--type <type>', 'REGULAR or MASTER, unless the file has a publishDirective', parseCatalogType)
    .option(
      '--mode <mode>',
      'FULL or MERGE, unless the file has a publishDirective (default: FULL as files, MERGE to a service)',
      parseMode,
    )
    .option(
      '--network <id>',
      'network that may see them, unless the file has a publishDirective; repeatable',
      collectNetworks,
    )
    .option('--index <name>', 'as files: the index for new catalogs (default: catalogs)', parseIndexName)
    .option('--force-baseline', 'as files: write whole catalogs instead of changes');
  signingOptions(command, {
    as: 'to a service: identity that signs (default: PUBLISHER_ID)',
    wait: 'how long to wait for on_publish',
    uri: 'base address for callbacks (bppUri)',
  })
    .option('--json', 'print the results as JSON')
    .addHelpText('after', examples)
    .action(async (files: string[], options: PublishOptions) =>
      (await import('./publish/run.ts')).publish(files, options, context),
    );
};

const examples = `
Files are read back through PUBLISHER_URL and verified. If they are not public yet, because they must be copied to a host first, the command says so.
The discovery services in CRAWL_HINT_URLS are notified.
Exit codes: 0 every catalog was accepted; 1 otherwise.

Examples:
  $ signpost publish chargers.json
  $ signpost publish stations/*.json --network example.org/ev --index bangalore
  $ signpost import csv afdc stations.csv | signpost publish -
  $ signpost publish chargers.json --to https://catalog.example.org --mode FULL`;
