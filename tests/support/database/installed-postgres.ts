import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findServerUser, runAs } from '../../../src/storage/embedded/server-user.ts';
import { freePort } from '../free-port.ts';
import { until } from '../time.ts';

// The PostgreSQL of the system (Debian's package `postgresql`), which has programs that the embedded one lacks.

const home = '/usr/lib/postgresql';

/** The directory of its programs; undefined if it is not installed. */
export function findInstalledPostgres(): string | undefined {
  if (!existsSync(home)) return undefined;
  const directories = readdirSync(home).map((version) => join(home, version, 'bin'));
  return directories.find((directory) =>
    ['initdb', 'postgres', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(directory, name))),
  );
}

export interface InstalledServer {
  port: number;
  /** An empty database. */
  create(name: string): Promise<string>;
  close(): Promise<void>;
}

export async function startInstalledPostgres(programs: string): Promise<InstalledServer> {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-installed-'));
  const user = await findServerUser(undefined);
  if (user) await chown(directory, user.uid, user.gid);
  await chmod(directory, 0o700);
  const asUser = runAs(user);
  const made = spawnSync(
    join(programs, 'initdb'),
    [
      '-D',
      join(directory, 'data'),
      '-U',
      'signpost',
      '--auth=trust',
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C',
    ],
    asUser,
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    shared_buffers: '64MB',
  };
  const server = spawn(
    join(programs, 'postgres'),
    [
      ...['-D', join(directory, 'data'), '-p', String(port)],
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    { ...asUser, stdio: 'ignore' },
  );
  const urlOf = (name: string) => `postgres://signpost@127.0.0.1:${port}/${name}`;
  const ask = async (statement: string) => {
    const client = new pg.Client(urlOf('postgres'));
    try {
      await client.connect();
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await until(async () => {
    try {
      await ask('select 1');
      return true;
    } catch {
      return false;
    }
  }, 'the server to answer');
  return {
    port,
    async create(name) {
      await ask(`create database ${name}`);
      return urlOf(name);
    },
    async close() {
      const ended = once(server, 'exit');
      server.kill('SIGQUIT');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
