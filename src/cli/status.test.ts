import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../tests/support/command.ts';
import { createTestDatabase } from '../../tests/support/database.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { startRegistryRole } from '../registry/role.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { registerStatusCommand } from './status.ts';

describe('signpost status', () => {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-status-'));
  let home: Awaited<ReturnType<typeof createTestDatabase>>;
  let database: Database;
  let settings: Record<string, string>;
  beforeAll(async () => {
    home = await createTestDatabase();
    database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 2 });
    settings = {
      ...{ ROLES: 'registry', DATA_DIR: directory, REGISTRY_PORT: `${await freePort()}` },
      OPERATIONS_PORT: `${await freePort()}`,
    };
  });
  afterAll(async () => {
    await database?.close();
    await home?.drop();
    rmSync(directory, { recursive: true });
  });

  const status = (env: Record<string, string>, ...args: string[]) =>
    runCommand(registerStatusCommand, ['status', ...args], { ...settings, ...env });

  it('tells roles, catalogs, index, deliveries and crawl', async () => {
    const role = await startRegistryRole({
      ...{ database, logger: silentLogger(), metrics: createMetrics({ process: false }) },
      ...{ host: '127.0.0.1', port: Number(settings.REGISTRY_PORT) },
    });
    try {
      const { exitCode, out } = await status({ DATABASE_URL: home.url });
      expect(exitCode).toBe(0);
      expect(out).toMatch(/^registry +ready +http:/m);
      for (const line of ['catalogs', 'network', 'index', 'deliveries', 'crawl'])
        expect(out).toMatch(new RegExp(`^${line} +\\S`, 'm'));
      const json = JSON.parse((await status({ DATABASE_URL: home.url }, '--json')).out);
      expect(json).toMatchObject({
        roles: [{ role: 'registry', state: 'ready' }],
        deliveries: { parked: 0 },
      });
    } finally {
      await role.close();
    }
  });

  it('ends with 1 where a role is not reached, and starts no database to say so', async () => {
    const { exitCode, out } = await status({});
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^registry +not reached/m);
    expect(out).toContain('There is no database in');
  });
});
