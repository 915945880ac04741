import { numberOf } from './arguments.ts';
import type { Register } from './command.ts';
import type { RefreshOptions } from './refresh/run.ts';

export const register: Register = (program, context) =>
  program
    .command('refresh')
    .option('--resign', 'sign everything again, after a key was compromised')
    .option(
      '--skip-versions <n>',
      'the same, and increase every version by this number, after restoring files older than crawlers have seen',
      numberOf(/^[1-9]\d{0,8}$/, 'Use a number of at least 1.'),
    )
    .addHelpText('after', help)
    .action(async (options: RefreshOptions) =>
      (await import('./refresh/run.ts')).refreshHere(context.config(), options, context),
    );

const help = `
A running publisher does this itself. If you publish with commands only, run it from a timer, more often than every
NEXT_UPDATE_SECONDS, and copy the files to their host.

Examples:
  $ signpost refresh
  $ signpost refresh --resign
  $ signpost refresh --skip-versions 1000`;
