import {
  collectTexts,
  parseCount,
  parseNetwork,
  parseOffset,
  parseUrl,
  signingOptions,
} from './arguments.ts';
import type { Register } from './command.ts';
import { collectTargets, parseDistance, parsePlace } from './discover/intent.ts';
import type { DiscoverOptions } from './discover/run.ts';

export const register: Register = (program, context) => {
  const command = program
    .command('discover')
    .argument('[text...]', 'words to search for')
    .option('--near <lat,lon>', 'search around this place', parsePlace)
    .option('--within <distance>', 'maximum distance, such as 800m, 5km or 3mi (default: 5km)', parseDistance)
    .option(
      '--target <path>',
      'path of the location in a resource or its provider; repeatable',
      collectTargets,
    )
    .option(
      '--where <condition>',
      'filter on a resource, such as @.id == "x"; on its price, such as price <= 20 INR or price.energy <= 0.5 EUR; or a whole JSONPath from $',
    )
    .option('--network <id>', 'search only this network', parseNetwork)
    .option('--schema <uri>', 'only this schema context; repeatable', collectTexts)
    .option('--limit <count>', 'resources per page, 1 to 1000', parseCount)
    .option('--offset <count>', 'number of resources to skip', parseOffset)
    .option(
      '--to <url>',
      'base address of the discovery service (default: the one on this machine)',
      parseUrl,
    );
  signingOptions(command, {
    as: 'identity that asks (default: CONSUMER_ID)',
    wait: 'how long to wait for the answer',
    uri: 'base address for callbacks (bapUri)',
  })
    .option(
      '--json',
      'print the message of the answer as JSON; bppId of a catalog is the node that publishes it',
    )
    .option('--explain', 'show how the search is evaluated; reads the database of the discovery service')
    .addHelpText('after', examples)
    .action(async (words: string[], options: DiscoverOptions) =>
      (await import('./discover/run.ts')).discover(words, options, context),
    );
};

const examples = `
Exit codes: 0 answered, even without results; 1 refused, service not reached, or no answer.

Examples:
  $ signpost discover fast charger --near 12.97,77.59 --within 5km
  $ signpost discover --where '@.resourceAttributes.attributes.ratedPower.value >= 50' --network nfh.global/beckn-nodes
  $ signpost discover CCS2 --near 48.89,9.18 --where 'price.energy <= 0.6 EUR'
  $ signpost discover charger --near 12.97,77.59 --explain
  $ signpost discover coffee --limit 5 --json | jq '.catalogs[].resources[].id'`;
