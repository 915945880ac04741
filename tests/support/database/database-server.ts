import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { silentLogger } from '../../../src/logger.ts';
import { startEmbeddedPostgres } from '../../../src/storage/embedded/postgres.ts';
import { migrate } from '../../../src/storage/migrate.ts';
import { identifyProcess } from '../../../src/storage/process-identity.ts';

// One PostgreSQL for the whole run, with a migrated database that test files copy (see database.ts). DATABASE_URL names a server to use instead; its
// user must be allowed to create databases.

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
    templateDatabase: string;
  }
}

export const testServerPrefix = 'signpost-test-server-';
/** Where Linux keeps files in memory. Copying a database there takes a tenth of the time. */
const memory = '/dev/shm';
/** Containers often have only 64 MB there. */
const enoughMemoryBytes = 2 * 2 ** 30;

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const logger = silentLogger();
  const server = process.env.DATABASE_URL
    ? { url: process.env.DATABASE_URL, close: async () => undefined }
    : // The tables of the suites may be larger than memory.
      await startTemporaryServer(project.name !== 'suites' && (await isRoomy(memory)) ? memory : tmpdir());
  const template = `signpost_template_${process.pid}`;
  await asAdmin(server.url, `create database ${template}`);
  await migrate({ url: databaseUrl(server.url, template), logger });
  project.provide('databaseUrl', server.url);
  project.provide('templateDatabase', template);
  return async () => {
    await asAdmin(server.url, `drop database ${template}`);
    await server.close();
  };
}

async function isRoomy(directory: string): Promise<boolean> {
  const free = await statfs(directory).catch(() => undefined);
  return free !== undefined && free.bavail * free.bsize >= enoughMemoryBytes;
}

async function startTemporaryServer(place: string) {
  await removeAbandoned(place);
  const dataDir = await mkdtemp(join(place, `${testServerPrefix}${process.pid}-`));
  // When started by root, the server runs as another user, which needs access.
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({
    dataDir,
    logger: silentLogger(),
    // The data need not survive a crash of the machine, so do not wait for its disk.
    settings: { fsync: 'off', full_page_writes: 'off', shared_buffers: '128MB' },
  });
  return {
    url: server.url,
    close: async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Stops and removes the servers of test runs that were killed. */
async function removeAbandoned(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = name.startsWith(testServerPrefix)
      ? Number.parseInt(name.slice(testServerPrefix.length), 10)
      : Number.NaN;
    if (Number.isNaN(pid) || identifyProcess(pid) !== undefined) continue;
    const dataDir = join(place, name);
    const abandoned = await startEmbeddedPostgres({ dataDir, logger: silentLogger() }).catch(() => undefined);
    await abandoned?.close();
    // Directories of other users stay.
    await rm(dataDir, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

function databaseUrl(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}
