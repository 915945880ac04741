import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../tests/support/database/database.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { startRegistryRole } from '../registry/role.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { register as registerStatusCommand } from './status.ts';

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

  async function withRegistry(work: (url: string) => Promise<void>): Promise<void> {
    const role = await startRegistryRole({
      ...{ database, logger: silentLogger(), metrics: createMetrics({ process: false }) },
      ...{ host: '127.0.0.1', port: Number(settings.REGISTRY_PORT) },
    });
    await work(`http://127.0.0.1:${settings.REGISTRY_PORT}`).finally(() => role.close());
  }

  it('tells roles, catalogs, index, deliveries and crawl', () =>
    withRegistry(async () => {
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
    }));

  it('lists only the roles of the process that answers, where ROLES is not set', async () => {
    const ports = ['CATALOG_PORT', 'DISCOVERY_PORT', 'PUBLISHER_PORT', 'CONSOLE_PORT'];
    const others = await Promise.all(ports.map(async (name) => [name, `${await freePort()}`]));
    const unset = { ...Object.fromEntries(others), ROLES: '' };
    await withRegistry(async (url) => {
      const run = await status(unset, '--json');
      expect(JSON.parse(run.out)).toMatchObject({ roles: [{ role: 'registry' }], troubles: [] });
      expect(JSON.parse(run.out).roles).toHaveLength(1);
      expect(run.exitCode).toBe(0);
      // A configured role that does not answer is missing.
      const named = await status({ ...unset, ROLES: 'registry,catalog' });
      expect(named).toMatchObject({ exitCode: 1, out: expect.stringMatching(/^catalog +not reached/m) });
      // With explicit addresses, the settings and the database do not count.
      const given = await status({ REGISTRY_PORT: '1', DATABASE_URL: 'postgres://127.0.0.1:1/none' }, url);
      expect(given).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^registry +ready +http:/m) });
      const gone = `http://127.0.0.1:${unset.CATALOG_PORT}`;
      const both = await status({}, url, gone);
      expect(both.exitCode).toBe(1);
      expect(both.out).toMatch(new RegExp(`^registry +ready .*\n +not reached +${gone}$`, 'm'));
    });
    const none = await status(unset);
    expect(none).toMatchObject({ exitCode: 1, out: expect.stringMatching(/^registry +not reached/m) });
  });

  it('ends with 1 where a role is not reached, and starts no database to say so', async () => {
    const { exitCode, out } = await status({});
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^registry +not reached/m);
    expect(out).toContain('There is no database in');
  });
});
