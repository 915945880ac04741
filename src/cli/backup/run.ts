import { cp, lstat, mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { hasCode } from '../../error-code.ts';
import { programVersion } from '../../program-version.ts';
import { withFileLock } from '../../storage/file-lock.ts';
import { type CommandContext, CommandError, printResult, withProgress } from '../command.ts';
import { writeChecksums } from './checksums.ts';
import { type BackupFacts, isInside, isUnder, pathsIn } from './layout.ts';
import { dumpDatabase } from './postgres-programs.ts';

export interface BackupOptions {
  database: boolean;
}

/** Covers a publish of the largest catalogs. */
const lockWaitMs = 120_000;

/** The database first, then the files: a restored crawler would refuse files that are older than those it has seen, but accepts newer ones. */
export async function backup(directory: string, { database }: BackupOptions, context: CommandContext) {
  const config = context.config();
  const { DATABASE_URL: url } = config;
  if (database && url === undefined)
    throw new CommandError(
      'The embedded PostgreSQL comes without pg_dump: stop signpost and copy DATA_DIR, or set DATABASE_URL, or add --no-database.',
    );
  await refuseInside(directory, [config.DATA_DIR, config.publisherDir]);
  await makeEmpty(directory);
  const paths = pathsIn(directory);
  if (database && url !== undefined)
    await withProgress(context, 'dumping the database', () => dumpDatabase(url, paths.dump));
  const hasPublisher = (await stat(config.publisherDir).catch(() => undefined)) !== undefined;
  await withProgress(context, 'copying files', () => copyFiles(config, paths, hasPublisher));
  const bytes = await withProgress(context, 'adding checksums', () => writeChecksums(directory));
  const facts: BackupFacts = {
    madeAt: new Date().toISOString(),
    version: programVersion(),
    hasDatabase: database,
    hasPublisher: hasPublisher && !isInside(config),
    bytes,
  };
  await writeFile(paths.facts, `${JSON.stringify(facts, null, 2)}\n`);
  const parts = [database ? 'the database' : '', 'keys', hasPublisher ? 'published files' : ''];
  const text = `${directory} contains: ${parts.filter((part) => part !== '').join(', ')}. Keep it as secret as your keys.`;
  printResult(context, { directory, ...facts }, text);
}

/** A directory cannot be copied into itself, and the next backup would contain this one. */
async function refuseInside(directory: string, copied: readonly string[]): Promise<void> {
  const real = async (path: string) => realpath(path).catch(() => resolve(path));
  const parent = await real(dirname(resolve(directory)));
  for (const place of copied)
    if (isUnder(await real(place), parent))
      throw new CommandError(
        `${directory} is inside ${place}, which is backed up: name a directory elsewhere.`,
      );
}

async function makeEmpty(directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch((error: Error) => {
    if (hasCode(error, 'EEXIST'))
      throw new CommandError(`${directory} already exists: name a new directory.`, error);
    throw new CommandError(`${directory} cannot be created: ${error.message}`, error);
  });
}

async function copyFiles(config: Config, paths: { data: string; publisher: string }, hasPublisher: boolean) {
  const copy = async () => {
    await copyDirectory(config.DATA_DIR, paths.data);
    if (hasPublisher && !isInside(config)) await copyDirectory(config.publisherDir, paths.publisher);
  };
  if (!hasPublisher) return copy();
  // Blocks publishing during the copy, so that every file in the index exists.
  await withFileLock(join(resolve(config.publisherDir), 'lock'), lockWaitMs, copy);
}

/** Keeps modes and times; skips the embedded database, locks, and everything that is not a file, such as sockets. */
export async function copyDirectory(from: string, to: string): Promise<void> {
  if (!(await stat(from).catch(() => undefined))) return void (await mkdir(to, { mode: 0o700 }));
  await cp(from, to, {
    recursive: true,
    preserveTimestamps: true,
    errorOnExist: true,
    force: false,
    filter: async (file) => {
      const path = relative(from, file);
      if (path === 'postgres' || /(^|[\\/])lock$/.test(path)) return false;
      const found = await lstat(file);
      return found.isFile() || found.isDirectory();
    },
  });
}
