import type { Command } from 'commander';
import {
  collectTexts,
  parseCount,
  parseKeyId,
  parseListen,
  parseNetwork,
  parseOffset,
  parseSeconds,
  parseSubscriber,
  parseUrl,
  usualWaitSeconds,
} from './arguments.ts';
import type { CommandContext } from './command.ts';
import { collectTargets, parseDistance, parsePlace } from './discover/intent.ts';
import type { DiscoverOptions } from './discover/run.ts';

export function registerDiscoverCommand(program: Command, context: CommandContext): void {
  program
    .command('discover')
    .argument('[text...]', 'what to look for, in plain words')
    .option('--near <lat,lon>', 'around this place', parsePlace)
    .option('--within <distance>', 'so far from it, such as 800m, 5km or 3mi (5km)', parseDistance)
    .option(
      '--target <path>',
      'where the place of things stands (their provider, or a charger itself); may be given again',
      collectTargets,
    )
    .option(
      '--where <condition>',
      'on a resource, such as @.id == "x"; on its price, such as price.energy <= 0.5 EUR; or a whole JSONPath from $',
    )
    .option('--network <id>', 'only in this network', parseNetwork)
    .option('--schema <uri>', 'only of this schema context; may be given again', collectTexts)
    .option('--limit <count>', 'a page of so many resources, 1 to 1000 (without it, up to 1000)', parseCount)
    .option('--offset <count>', 'the page after so many', parseOffset)
    .option(
      '--to <url>',
      'base address of the discovery service (default: the one of this machine)',
      parseUrl,
    )
    .option('--as <subscriber>', 'who asks (default: CONSUMER_ID)', parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--wait <seconds>', 'how long to wait for the answer', parseSeconds, usualWaitSeconds)
    .option('--listen <address>', 'where to wait for it: host:port', parseListen)
    .option('--uri <url>', 'base address to give as our bapUri', parseUrl)
    .option(
      '--json',
      'print the message of the answer as JSON; bppId of a catalog is the node that publishes it',
    )
    .option('--explain', 'show how it is evaluated instead, on the database of the discovery service')
    .addHelpText('after', examples)
    .action(async (words: string[], options: DiscoverOptions) =>
      (await import('./discover/run.ts')).discover(words, options, context),
    );
}

const examples = `
Exit code: 0 also when nothing was found, 1 when refused, not reached, or when the answer did not come.

Examples:
  $ signpost discover fast charger near me --near 12.97,77.59 --within 5km
  $ signpost discover --where '@.resourceAttributes.attributes.ratedPower.value >= 50' --network nfh.global/beckn-nodes
  $ signpost discover CCS2 --near 48.89,9.18 --where 'price.energy <= 0.6 EUR'
  $ signpost discover charger --near 12.97,77.59 --explain
  $ signpost discover coffee --limit 5 --json | jq '.catalogs[].resources[].id'`;
