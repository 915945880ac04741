import type { Command } from 'commander';
import { workersHelp } from './arguments.ts';
import type { CommandContext } from './command.ts';
import type { UpOptions } from './up/run.ts';

export function registerUpCommand(program: Command, context: CommandContext): void {
  program
    .command('up')
    .option('--empty', 'without the catalogs and the other participants of the demo')
    .option('--workers <number>', workersHelp)
    .option('--json', 'print the addresses as one JSON object, once everything is up')
    .addHelpText('after', help)
    .action(async (options: UpOptions) => (await import('./up/run.ts')).runUp(options, context));
}

const help = `
The demo network is a part of Bengaluru: a facilitator describes groceries in a master catalog, the shops of a grocer extend them, one charging operator
publishes through the catalog service, two host signed files that are crawled; a consumer asks something every half minute. Three things are wrong on purpose: a PARTIAL catalog
(voltpath-hsr-layout), a file that was changed after it was signed (minchu-east), and a discovery service that is down (atlas.signpost.test).

The database, the demo identities' keys and everything else live in DATA_DIR (default .signpost); delete it to start anew. One signpost up at a time may use it.
Private addresses and plain HTTP are allowed, as everything is on this machine.

Examples:
  $ signpost up
  $ signpost up --empty --workers 2`;
