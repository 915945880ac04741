import { workersHelp } from './arguments.ts';
import type { Register } from './command.ts';
import type { UpOptions } from './up/run.ts';

export const register: Register = (program, context) =>
  program
    .command('up')
    .option('--empty', 'without the catalogs and participants of the demo')
    .option('--workers <number>', workersHelp)
    .option('--json', 'print the addresses as one JSON object when everything is up')
    .addHelpText('after', help)
    .action(async (options: UpOptions) => (await import('./up/run.ts')).runUp(options, context));

const help = `
The demo network is a part of Bengaluru. The shops of a grocer extend a master catalog. One charging operator publishes through the catalog service; two
host signed files, which are crawled. A consumer searches every half minute. Three things are wrong on purpose: a PARTIAL catalog (voltpath-hsr-layout),
a file that was changed after it was signed (minchu-east), and a discovery service that is down (atlas.signpost.test).

DATA_DIR (default .signpost) holds the database, the keys and everything else. Delete it to start again. Only one "signpost up" at a time can use it.
Private addresses and plain HTTP are allowed, because everything is on this machine.

Examples:
  $ signpost up
  $ signpost up --empty --workers 2`;
