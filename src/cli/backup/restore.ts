import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Config } from '../../config.ts';
import { operatorTokenFile } from '../../console/operator-token.ts';
import { hasCode } from '../../error-code.ts';
import { tokenFile as triggerTokenFile } from '../../publisher/trigger-token.ts';
import { forgetTransactions } from '../../search/port.ts';
import { pushEverything } from '../../storage/catalog/push-planning.ts';
import { connectionSettings, describeServer } from '../../storage/connection.ts';
import { pullEverything } from '../../storage/feeds/feeds.ts';
import { type CommandContext, CommandError, counted, printResult, withProgress } from '../command.ts';
import { withDatabase } from '../database.ts';
import { verifyChecksums } from './checksums.ts';
import { type BackupFacts, isInside, pathsIn, readFacts } from './layout.ts';
import { restoreDatabase } from './postgres-programs.ts';
import { type BackupOptions, copyDirectory } from './run.ts';

export async function restore(
  directory: string | undefined,
  { database }: BackupOptions,
  context: CommandContext,
): Promise<void> {
  if (directory === undefined && !database)
    throw new CommandError('There is nothing to restore: name the directory of a backup.');
  const config = context.config();
  const facts = directory === undefined ? undefined : await readFacts(directory);
  if (directory !== undefined && facts)
    await restoreFrom(directory, { ...facts, hasDatabase: facts.hasDatabase && database }, config, context);
  // Other services have seen a newer state than the restored one, so everything is sent to them and requested from them again.
  const tellOthers = () =>
    withDatabase(context, async (restored) => {
      await forgetTransactions(restored);
      return { pushes: await pushEverything(restored), feeds: await pullEverything(restored) };
    });
  const told = database ? await withProgress(context, 'notifying other services', tellOthers) : undefined;
  const text = [
    facts ? `Restored the backup of ${facts.madeAt}.` : 'Marked the database as restored.',
    told
      ? `${told.pushes} pushes are due again, and everything is pulled from ${counted(told.feeds, 'feed')}. Start the roles, then run: signpost check`
      : '',
    'If files were published after the backup, crawlers refuse older ones: run "signpost refresh --skip-versions 1000" before the publisher starts.',
  ];
  printResult(context, { ...facts, ...told }, text.filter((line) => line !== '').join('\n'));
}

async function restoreFrom(
  directory: string,
  { hasDatabase, hasPublisher, bytes }: BackupFacts,
  config: Config,
  context: CommandContext,
): Promise<void> {
  const paths = pathsIn(directory);
  const { DATABASE_URL: url, DATA_DIR, publisherDir } = config;
  // Checks everything before anything is written, because a second try would find a database that is not empty.
  await withProgress(context, 'verifying the backup', () => verifyChecksums(directory, bytes));
  const copied = (await readdir(paths.data)).map((name) => join(DATA_DIR, name));
  for (const taken of [...copied, publisherDir])
    if (await hasFiles(taken))
      throw new CommandError(`${taken} already exists: restore into another DATA_DIR, or move it away.`);
  if (hasDatabase) {
    if (url === undefined) throw new CommandError('Set DATABASE_URL to an empty database.');
    await requireEmpty(url);
    await withProgress(context, 'restoring the database', () => restoreDatabase(url, paths.dump));
  }
  await withProgress(context, 'copying files', async () => {
    await copyDirectory(paths.data, DATA_DIR);
    if (hasPublisher && !isInside(config)) await copyDirectory(paths.publisher, publisherDir);
    await closeSecrets(config);
  });
}

/** Only the owner may read keys and tokens, whatever file modes the backup has. */
async function closeSecrets(config: Config): Promise<void> {
  const keys = join(config.DATA_DIR, 'keys');
  const seeds = await readdir(keys).catch(() => []);
  const files = [
    ...seeds.map((name) => join(keys, name)),
    operatorTokenFile(config),
    triggerTokenFile(config),
  ];
  if (seeds.length > 0) await chmod(keys, 0o700);
  for (const file of files)
    await chmod(file, 0o600).catch((error) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
}

/** A directory without files counts as missing. So does one with only locks, which for `up` are one level deeper. */
async function hasFiles(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) return found !== undefined;
  for (const name of await readdir(path))
    if (name !== 'lock' && (await hasFiles(join(path, name)))) return true;
  return false;
}

/** Does not open the database as usual, because that would create our tables. */
async function requireEmpty(url: string): Promise<void> {
  const client = new pg.Client(connectionSettings(url));
  try {
    await client.connect();
    const { rowCount } = await client.query(
      "select from pg_namespace where nspname in ('work', 'catalog', 'discovery', 'registry', 'console')",
    );
    if (rowCount) throw new CommandError(`${describeServer(url)} is not empty: create another database.`);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`Cannot connect to ${describeServer(url)}: ${(error as Error).message}`, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
