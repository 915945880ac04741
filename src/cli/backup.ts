import type { Command } from 'commander';
import type { BackupOptions } from './backup/run.ts';
import type { CommandContext } from './command.ts';

export function registerBackupCommands(program: Command, context: CommandContext): void {
  program
    .command('backup')
    .argument('<directory>', 'where it goes: a directory that is not there yet')
    .option(
      '--no-database',
      'only keys and published files: the database has backups of its own, as with a managed PostgreSQL',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', backupHelp)
    .action(async (directory: string, options: BackupOptions) =>
      (await import('./backup/run.ts')).backup(directory, options, context),
    );

  program
    .command('restore')
    .argument(
      '[directory]',
      'made by "signpost backup"; without it, the database was restored by other means',
    )
    .option('--no-database', 'only keys and published files')
    .option('--json', 'print JSON')
    .addHelpText('after', restoreHelp)
    .action(async (directory: string | undefined, options: BackupOptions) =>
      (await import('./backup/restore.ts')).restore(directory, options, context),
    );
}

const backupHelp = `
The database by PostgreSQL's own pg_dump (in the PATH, of the server's version or later), then keys, tokens and published files under DATA_DIR and PUBLISHER_DIR. Nothing has to be
stopped: the dump is one snapshot, and the files are copied while nothing is published. Of what the two have in common, the files are the newer ones, as after any publish.

Examples:
  $ signpost backup /backups/2026-11-17
  $ signpost backup /backups/2026-11-17 --no-database`;

const restoreHelp = `
Into an empty database (DATABASE_URL) and a DATA_DIR without keys or published files, on any machine, while no role runs. What was published and subscribed since the backup is not in it; so
that others find out, every subscriber is pushed everything again, and every catalog service is asked for everything. docs/operating.md says what else there is to do.

Examples:
  $ DATABASE_URL=postgres://…/empty DATA_DIR=/var/lib/signpost signpost restore /backups/2026-11-17
  $ signpost restore                   after a point-in-time recovery of the database`;
