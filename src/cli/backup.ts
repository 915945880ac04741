import type { BackupOptions } from './backup/run.ts';
import type { Register } from './command.ts';

export const register: Register = (program, context) => {
  program
    .command('backup')
    .argument('<directory>', 'new directory for the backup')
    .option('--no-database', 'skip the database, for example if a managed PostgreSQL has its own backups')
    .addHelpText('after', backupHelp)
    .action(async (directory: string, options: BackupOptions) =>
      (await import('./backup/run.ts')).backup(directory, options, context),
    );

  program
    .command('restore')
    .argument('[directory]', 'made by "signpost backup"; omit it if you restored the database by other means')
    .option('--no-database', 'only keys and published files')
    .addHelpText('after', restoreHelp)
    .action(async (directory: string | undefined, options: BackupOptions) =>
      (await import('./backup/restore.ts')).restore(directory, options, context),
    );
};

const backupHelp = `
Runs pg_dump (in the PATH, of the server's version or later), then copies keys, tokens and published files from DATA_DIR and PUBLISHER_DIR. The roles keep
running: the dump is one snapshot, and publishing pauses while files are copied.

Examples:
  $ signpost backup /backups/2026-11-17
  $ signpost backup /backups/2026-11-17 --no-database`;

const restoreHelp = `
Needs an empty database (DATABASE_URL) and a DATA_DIR without keys or published files, while no role runs. Publishes and subscriptions since the backup are
lost. Afterwards every catalog is pushed to every subscriber again, and everything is pulled from every catalog service. See docs/operating.md.

Examples:
  $ DATABASE_URL=postgres://…/empty DATA_DIR=/var/lib/signpost signpost restore /backups/2026-11-17
  $ signpost restore                   after a point-in-time recovery of the database`;
