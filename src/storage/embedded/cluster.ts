import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from '../../logger.ts';
import { type Binaries, makeOwnDirectory } from './binaries.ts';
import { canEnter, runAs, type ServerUser } from './server-user.ts';

// The database cluster on disk: the location of its files, how they are made, and its stored settings.

/** Content of `cluster.json`, readable only by its owner. */
export interface Cluster {
  dataDirectory: string;
  port: number;
  password: string;
}

export const serverRole = 'signpost';
export const databaseName = 'signpost';

const passwordBytes = 24;

export async function findCluster(home: string): Promise<Cluster | undefined> {
  try {
    return JSON.parse(await readFile(join(home, 'cluster.json'), 'utf8'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`${home} belongs to another user: start signpost as that user, or set another DATA_DIR.`);
  }
}

export async function rememberCluster(home: string, cluster: Cluster): Promise<void> {
  const unfinished = join(home, `cluster.json.${randomUUID()}`);
  await writeFile(unfinished, `${JSON.stringify(cluster, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, join(home, 'cluster.json'));
}

interface PlanOptions {
  home: string;
  user: ServerUser | undefined;
  openDirectories: readonly string[];
  logger: Logger;
}

/** Chooses a directory and a password, and stores them before anything is made. The directory is below the home, or an open one if the server's user cannot get there. */
export async function planCluster(options: PlanOptions): Promise<Cluster> {
  const { home, user, logger } = options;
  const inside = join(await realpath(home), 'data');
  const dataDirectory = canEnter(user, home) ? inside : await openPlace(options);
  if (dataDirectory !== inside) {
    logger.warn(
      `the user ${user?.name}, who runs PostgreSQL, cannot enter ${home}: its files are in ${dataDirectory}`,
    );
  }
  const cluster = { dataDirectory, port: 0, password: randomBytes(passwordBytes).toString('base64url') };
  await rememberCluster(home, cluster);
  return cluster;
}

async function openPlace({ home, user, openDirectories }: PlanOptions): Promise<string> {
  const name = `${home.replaceAll(/[^A-Za-z0-9.]+/g, '-').slice(-60)}-${randomBytes(4).toString('hex')}`;
  for (const directory of openDirectories) {
    const place = join(directory, name);
    const made = await makeOwnDirectory(directory)
      .then(() => mkdir(place, { mode: 0o755 }))
      .then(() => writeFile(join(place, 'README'), `The embedded database of signpost in ${home}.\n`))
      .then(() => true)
      .catch(() => false);
    if (made && canEnter(user, place)) return join(place, 'data');
  }
  throw new Error(
    `The user ${user?.name}, who runs PostgreSQL, can enter neither ${home} nor ${openDirectories.join(', ')}: set another DATA_DIR.`,
  );
}

/** Makes the files of the cluster unless they exist: complete or not at all, whenever the process is killed. */
export async function makeCluster(
  { dataDirectory, password }: Cluster,
  { initdb }: Binaries,
  user: ServerUser | undefined,
  { durable }: { durable: boolean },
): Promise<void> {
  if (await stat(join(dataDirectory, 'PG_VERSION')).catch(() => undefined)) return;
  await removeUnfinished(dataDirectory);
  const unfinished = `${dataDirectory}.${randomUUID()}`;
  const passwordFile = `${unfinished}.password`;
  try {
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (user) for (const path of [unfinished, passwordFile]) await chown(path, user.uid, user.gid);
    const args = [...initialSettings(unfinished, passwordFile), ...(durable ? [] : ['--no-sync'])];
    await runInitdb(initdb, user, args);
    await rename(unfinished, dataDirectory);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** An initdb that has outlived its process may still write there: then it stays until the next start. */
async function removeUnfinished(dataDirectory: string): Promise<void> {
  const parent = join(dataDirectory, '..');
  const leftovers = (await readdir(parent)).filter((name) => name.startsWith(`${basename(dataDirectory)}.`));
  for (const name of leftovers) {
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function initialSettings(directory: string, passwordFile: string): string[] {
  // Letters are those of Unicode, and sorting is by code point: the same on every machine.
  const letters = { linux: 'C.UTF-8', darwin: 'en_US.UTF-8' }[process.platform as string] ?? 'C';
  return [
    ...['--pgdata', directory, '--username', serverRole, '--pwfile', passwordFile],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C', '--lc-ctype', letters],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--text-search-config', 'simple'],
  ];
}

async function runInitdb(initdb: string, user: ServerUser | undefined, args: string[]): Promise<void> {
  const output = await new Promise<string | undefined>((resolve, reject) => {
    // Detached from the terminal, whose Ctrl-C is for us: started work is finished, and then we stop.
    const child = spawn(initdb, args, { ...runAs(user), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (text += chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0 ? undefined : text));
  });
  if (output !== undefined) throw new Error(explainFailure(`Cannot make a database in ${args[1]}`, output));
}

/** The reason in the output of a PostgreSQL program, with a remedy if one is known. */
export function explainFailure(what: string, output: string): string {
  if (/No space left on device/i.test(output)) return `${what}: the disk is full.`;
  const reasons = output
    .split('\n')
    .filter((line) => /\b(FATAL|PANIC|DETAIL|HINT|error):/.test(line))
    .map((line) => `${line.replace(/^.*?\b(?:FATAL|PANIC|DETAIL|HINT|error):\s*/, '').replace(/\.$/, '')}.`);
  return `${what}: ${reasons.join(' ') || output.trim().split('\n').at(-1) || 'no reason given'}`;
}
