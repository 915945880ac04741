import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { silentLogger } from '../../../src/logger.ts';
import { startEmbeddedPostgres } from '../../../src/storage/embedded/postgres.ts';
import { migrate } from '../../../src/storage/migrate.ts';
import { identifyProcess } from '../../../src/storage/process-identity.ts';

// One PostgreSQL for the whole run, with a migrated database that test files get copies of (see database.ts). DATABASE_URL names a
// server to use instead; its user must be allowed to create databases.

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
    templateDatabase: string;
  }
}

export const testServerPrefix = 'signpost-test-server-';

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const logger = silentLogger();
  const server = process.env.DATABASE_URL
    ? { url: process.env.DATABASE_URL, close: async () => undefined }
    : await startTemporaryServer();
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

async function startTemporaryServer() {
  await removeAbandoned();
  const dataDir = await mkdtemp(join(tmpdir(), `${testServerPrefix}${process.pid}-`));
  // Started by root, the server runs as another user, who must be able to get there.
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({
    dataDir,
    logger: silentLogger(),
    // Nothing here outlives the machine: no need to wait for its disk.
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
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(testServerPrefix)
      ? Number.parseInt(name.slice(testServerPrefix.length), 10)
      : Number.NaN;
    if (Number.isNaN(pid) || identifyProcess(pid) !== undefined) continue;
    const dataDir = join(tmpdir(), name);
    const abandoned = await startEmbeddedPostgres({ dataDir, logger: silentLogger() }).catch(() => undefined);
    await abandoned?.close();
    // What belongs to another user stays.
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
