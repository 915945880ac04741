import { type CommandContext, CommandError, printResult, type Register } from './command.ts';
import { withDatabase } from './database.ts';

export const register: Register = (program, context) =>
  program
    .command('migrate')
    .addHelpText('after', help)
    .action(() => migrate(context));

const help = `
Every start of a role migrates too. Use this command to see the result before the first process of a new version starts. Migrations only go forward:
afterwards, processes of the older version keep running but cannot be started again.

Examples:
  $ DATABASE_URL=postgres://… signpost migrate`;

async function migrate(context: CommandContext): Promise<void> {
  if (context.config().DATABASE_URL === undefined)
    throw new CommandError(
      'Set DATABASE_URL: the embedded PostgreSQL is migrated by the start that uses it.',
    );
  // Opening a database migrates it to this version.
  const last = await withDatabase(context, (database) =>
    database.value<string>('select name from work.migration order by number desc limit 1'),
  );
  printResult(context, { migration: last }, `The database has all migrations, up to ${last}.`);
}
