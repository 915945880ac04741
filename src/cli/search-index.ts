import type { Command } from 'commander';
import type { CommandContext } from './command.ts';
import type { CheckOptions, RebuildOptions } from './search-index/run.ts';

export function registerIndexCommand(program: Command, context: CommandContext): void {
  const index = program.command('index').addHelpText('after', examples);

  index
    .command('status')
    .description(
      'which generation of the index searches read, how far another one is built, which processes use the index',
    )
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) =>
      (await import('./search-index/status.ts')).showStatus(context, options),
    );

  index
    .command('rebuild')
    .description(
      'build a new generation of the index from the documents, and have searches read it; they go on meanwhile',
    )
    .option('--catalog <id>', 'rebuild only the entries of this catalog id')
    .option('--json', 'print JSON')
    .action(async (options: RebuildOptions) => (await load()).rebuild(context, options));

  index
    .command('check')
    .description(
      'hold the index against the documents, and list every difference; ends with 1 where there are some',
    )
    .option('--mend', 'rebuild entries that differ')
    .option('--json', 'print each difference as a line of JSON')
    .action(async (options: CheckOptions) => (await load()).check(context, options));
}

/** The search loads a good part of the system. */
const load = () => import('./search-index/run.ts');

const examples = `
Examples:
  $ signpost index status
  $ signpost index rebuild --catalog chargers-london
  $ signpost index check --mend

After an upgrade with another index format, the discovery service builds a new generation next to the one in use, when the last process of the older
version has ended. Searches stay exact meanwhile.
These commands use DATABASE_URL, or the embedded database in DATA_DIR.`;
