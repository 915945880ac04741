import type { Command } from 'commander';
import {
  collectNetworks,
  parseCatalogType,
  parseIndexName,
  parseKeyId,
  parseListen,
  parseMode,
  parseSeconds,
  parseSubscriber,
  parseUrl,
  usualWaitSeconds,
} from './arguments.ts';
import type { CommandContext } from './command.ts';
import type { PublishOptions } from './publish/run.ts';

export function registerPublishCommand(program: Command, context: CommandContext): void {
  program
    .command('publish')
    .argument('<file...>', 'a publish request, a catalog, or an array of catalogs; - reads standard input')
    .option('--self', 'as signed files, through the publisher that runs here or directly (the default)')
    .option('--to <url>', 'to the catalog service at this base address, and wait for on_publish', parseUrl)
    .option(
      '--type <type>',
      'REGULAR or MASTER, for catalogs that come without a directive',
      parseCatalogType,
    )
    .option('--mode <mode>', 'FULL or MERGE, likewise (as files: FULL, to a service: MERGE)', parseMode)
    .option('--network <id>', 'network that may see them, likewise; may be given again', collectNetworks)
    .option('--index <name>', 'as files: the index that new catalogs come into (catalogs)', parseIndexName)
    .option('--force-baseline', 'as files: write whole catalogs instead of changes')
    .option('--as <subscriber>', 'to a service: who signs (default: PUBLISHER_ID)', parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--wait <seconds>', 'how long to wait for on_publish', parseSeconds, usualWaitSeconds)
    .option('--listen <address>', 'where to wait for it: host:port', parseListen)
    .option('--uri <url>', 'base address to give as our bppUri', parseUrl)
    .option('--json', 'print the results as JSON')
    .addHelpText('after', examples)
    .action(async (files: string[], options: PublishOptions) =>
      (await import('./publish/run.ts')).publish(files, options, context),
    );
}

const examples = `
Published as files, they are read back and verified through PUBLISHER_URL, as a crawler would; where they are not to be seen there,
because they have to be copied to a host first, it says so. The discovery services of CRAWL_HINT_URLS are told to look sooner.
Exit code: 0 when every catalog was accepted as it is, 1 otherwise.

Examples:
  $ signpost publish chargers.json
  $ signpost publish stations/*.json --network example.org/ev --index bangalore
  $ signpost import csv afdc stations.csv | signpost publish -
  $ signpost publish chargers.json --to https://catalog.example.org --mode FULL`;
