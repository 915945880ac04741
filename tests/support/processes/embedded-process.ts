import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const builtFiles = fileURLToPath(new URL('../../../dist', import.meta.url));

/** A separate process that uses the embedded database of a data directory, like our roles. */
export interface EmbeddedProcess {
  url: string;
  /** Its log so far. */
  log: string[];
  close(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
}

/** These tests kill processes, not machines, so do not wait for the disk. */
const settings = { fsync: 'off', full_page_writes: 'off' };

export async function startEmbeddedProcess(options: {
  dataDir: string;
  user?: { uid: number; gid: number };
  /** The built files to run, for another checkout. */
  dist?: string;
  openDirectories?: readonly string[];
  /** A statement that it is running. */
  statement?: string;
}): Promise<EmbeddedProcess> {
  const { dataDir, user, dist = builtFiles, openDirectories, statement } = options;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', script(dist, { dataDir, openDirectories, settings }, statement)],
    {
      ...user,
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  const log: string[] = [];
  createInterface(child.stderr).on('line', (line) => log.push(line));
  const url = await Promise.race([firstLine(child), once(child, 'exit').then(() => undefined)]);
  if (url === undefined) throw new Error(log.join('\n'));
  return {
    url,
    log,
    close: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      if (child.exitCode !== 0) throw new Error(log.join('\n'));
    },
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function firstLine(child: ChildProcess & { stdout: NodeJS.ReadableStream }): Promise<string> {
  const [line] = await once(createInterface(child.stdout), 'line');
  return line;
}

function script(dist: string, options: object, statement: string | undefined): string {
  return `
    import { createLogger } from '${dist}/logger.js';
    import { startEmbeddedPostgres } from '${dist}/storage/embedded/postgres.js';
    const logger = createLogger({ level: 'info', format: 'json' });
    const server = await startEmbeddedPostgres({ ...${JSON.stringify(options)}, logger });
    ${statement === undefined ? '' : startStatement(dist, statement)}
    console.log(server.url);
    process.stdin.resume().once('end', () => server.close().then(() => process.exit(0)));
  `;
}

function startStatement(dist: string, statement: string): string {
  return `
    const { openDatabase } = await import('${dist}/storage/database.js');
    const database = await openDatabase({ url: server.url, logger });
    database.query(${JSON.stringify(statement)}).catch(() => undefined);
  `;
}

/** The recorded cluster and the process id of its server; undefined if it is not running. */
export async function readCluster(dataDir: string) {
  const home = join(dataDir, 'postgres');
  const cluster: { dataDirectory: string; port: number; password: string } = JSON.parse(
    await readFile(join(home, 'cluster.json'), 'utf8'),
  );
  const pidFile = await readFile(join(cluster.dataDirectory, 'postmaster.pid'), 'utf8').catch(
    () => undefined,
  );
  return { ...cluster, pid: pidFile === undefined ? undefined : Number.parseInt(pidFile, 10) };
}
