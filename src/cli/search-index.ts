import type { Command } from 'commander';
import type { CommandContext } from './command.ts';
import type { CheckOptions, RebuildOptions } from './search-index/run.ts';

// The operator's view of the index of the own discovery service.

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
    .option('--catalog <id>', 'mend the entries of the catalogs with this id instead')
    .option('--json', 'print JSON')
    .action(async (options: RebuildOptions) => (await load()).rebuild(context, options));

  index
    .command('check')
    .description(
      'hold the index against the documents, and list every difference; ends with 1 where there are some',
    )
    .option('--mend', 'make the entries of what differs anew')
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

After an upgrade that makes other entries, the discovery service builds a new generation of the index by itself, beside the one in use, as soon as no
process of the older version is left. Nothing has to be stopped, and searches are exact all the time.
They work on the database that the settings name: DATABASE_URL, or the embedded one under DATA_DIR.`;
