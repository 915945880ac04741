import type { Command } from 'commander';
import type { CommandContext } from './command.ts';

export function registerRefreshCommand(program: Command, context: CommandContext): void {
  program
    .command('refresh')
    .option('--resign', 'sign everything published anew, after an older key was compromised')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (options: RefreshOptions) =>
      (await import('./refresh/run.ts')).refreshHere(context.config(), options, context),
    );
}

const help = `
A running publisher does it by itself. Where only commands publish, let a timer run this more often than every
NEXT_UPDATE_SECONDS, and copy the files to where they are served.

Examples:
  $ signpost refresh
  $ signpost refresh --resign`;

export interface RefreshOptions {
  resign?: boolean;
  json?: boolean;
}
