import { cp, mkdir, mkdtemp, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerBackupCommands } from '../../src/cli/backup.ts';
import { register as registerCheckCommand } from '../../src/cli/check.ts';
import { register as registerPublishCommand } from '../../src/cli/publish.ts';
import { register as registerRefreshCommand } from '../../src/cli/refresh.ts';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { startProcess } from '../../src/main.ts';
import { renewManifest } from '../../src/publisher/keep-manifest.ts';
import { resignEverything } from '../../src/publisher/renew-indexes.ts';
import { publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import {
  findInstalledPostgres,
  type InstalledServer,
  startInstalledPostgres,
} from '../support/database/installed-postgres.ts';
import { freePort } from '../support/free-port.ts';
import { type Scene, useScenes } from '../support/hosted/crawl-scene.ts';
import { smallCatalog } from '../support/hosted/publisher.ts';
import type { Actor } from '../support/network/actor.ts';
import { startDiscovery, type TestDiscovery, withoutDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Receiver, startReceiver } from '../support/network/receiver.ts';
import { runCommand } from '../support/processes/command.ts';
import { until } from '../support/time.ts';

const programs = findInstalledPostgres();

describe.skipIf(programs === undefined)('a backup (needs PostgreSQL of the system)', () => {
  let server: InstalledServer;
  let directory: string;
  let network: TestNetwork;
  let discovery: TestDiscovery;
  let provider: Actor;
  let receiver: Receiver;
  const settingsAt = (url: string, dataDir: string) => ({
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    REGISTRY_URL: network.config.registryUrl,
    ALLOW_PRIVATE_ADDRESSES: 'true',
    LOG_LEVEL: 'silent',
  });
  const publishNumber = (number: number) =>
    publishCatalog(provider, { id: 'counted', resources: [resource('r1', `number ${number}`)] });
  const publishSelf = async (names: string[]) => {
    const file = join(directory, 'catalog.json');
    await writeFile(file, JSON.stringify(smallCatalog('hosted', names)));
    const run = await runCommand(registerPublishCommand, ['publish', '--self', file], {
      ...settingsAt(network.databaseUrl, network.config.DATA_DIR),
      // Nothing listens there, so the command publishes directly, even if a publisher runs on the default port.
      PUBLISHER_TRIGGER_PORT: String(await freePort()),
    });
    expect(run.out).toContain('ACCEPTED');
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-backup-'));
    server = await startInstalledPostgres(programs ?? '');
    const url = await server.create('source');
    network = await startNetwork({
      settings: withoutDiscovery,
      database: { url, drop: async () => undefined },
    });
    provider = await network.actor('provider');
    discovery = await startDiscovery(network, [{ catalogUrl: network.catalogUrl }]);
    receiver = await startReceiver(network, 'receiver');
    await receiver.subscribe({ networkIds: [defaultNetwork] });
    await discovery.settled();
  });
  afterAll(async () => {
    await discovery?.stop();
    await network?.close();
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('made while catalogs are published is restored elsewhere, is in step with itself, and brings back those who are ahead', async () => {
    let number = 0;
    let isOver = false;
    const publishing = (async () => {
      while (!isOver) await publishNumber(++number);
    })();
    await publishSelf(['espresso']);
    const selfPublishing = (async () => {
      for (let cup = 1; !isOver; cup++) await publishSelf(['espresso', `cup ${cup}`]);
    })();
    const backup = join(directory, 'backup');
    const source = settingsAt(network.databaseUrl, network.config.DATA_DIR);
    const made = await runCommand(registerBackupCommands, ['backup', backup], source);
    expect(made).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('the database, keys, published files'),
    });
    // Changes after the backup, so receivers are ahead of the restored state.
    const atBackup = number;
    await until(() => number >= atBackup + 3, 'more to be published');
    isOver = true;
    await Promise.all([publishing, selfPublishing]);
    await publishCatalog(provider, { id: 'after-the-backup', resources: [resource('r1')] });
    await receiver.waitFor('after-the-backup', 1);

    const keys = await readdir(join(backup, 'data', 'keys'));
    expect(keys.length).toBeGreaterThan(0);
    for (const name of keys)
      expect((await stat(join(backup, 'data', 'keys', name))).mode & 0o777, name).toBe(0o600);
    expect((await stat(backup)).mode & 0o777).toBe(0o700);

    await discovery.stop();
    const { config } = network;
    const ahead = receiver.pushes.length;
    // The old machine is gone; the new one has the same addresses, but another database and directory.
    await network.stop();
    const target = settingsAt(await server.create('target'), join(directory, 'restored'));
    await expectRefusals(backup, target);
    const restored = await runCommand(registerBackupCommands, ['restore', backup], target);
    expect(restored).toMatchObject({ exitCode: 0, out: expect.stringContaining('pushes are due again') });
    expect((await stat(join(directory, 'restored', 'keys'))).isDirectory()).toBe(true);
    const again = await runCommand(registerBackupCommands, ['restore', backup], target);
    expect(again).toMatchObject({ exitCode: 1, notes: expect.stringContaining('already exists') });

    const start = (roles: string, more: object) =>
      startProcess(
        readConfig({
          ...target,
          ROLES: roles,
          REGISTRY_PORT: String(config.REGISTRY_PORT),
          CATALOG_PORT: String(config.CATALOG_PORT),
          RETRY_BASE_MS: '50',
          OVERLOAD_EVENT_LOOP_MS: '60000',
          ...more,
        }),
        { logger: silentLogger() },
      );
    const services = await start('registry,catalog', {});
    const index = await start('discovery', {
      DISCOVERY_PORT: String(discovery.config.DISCOVERY_PORT),
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl: network.catalogUrl }]),
    });
    try {
      await until(async () => {
        const { exitCode } = await runCommand(registerCheckCommand, ['check', '--wait', '0'], target);
        return exitCode === 0;
      }, 'no difference in the restored network');
      const stored = await services.database?.query<{ name: string }>(
        `select own -> 'descriptor' ->> 'name' as name from catalog.resource where catalog_key = (select key from catalog.catalog where id = 'counted')`,
      );
      // It was ahead, and comes back to the catalog service's state.
      const restoredName = JSON.stringify(stored?.rows[0]?.name);
      await until(
        () => JSON.stringify(receiver.copies.get('counted')).includes(restoredName),
        'the restored state to reach the receiver',
      );
      expect(receiver.pushes.length).toBeGreaterThan(ahead);
      // The next publish reaches it, whatever it has seen before.
      await publishCatalog(provider, { id: 'counted', resources: [resource('r1', 'after the restore')] });
      await until(
        () => JSON.stringify(receiver.copies.get('counted')).includes('after the restore'),
        'the publish to reach the receiver',
      );
    } finally {
      await index.close();
      await services.close();
    }
  });

  /** No failed restore leaves anything behind: the same restore succeeds afterwards. */
  async function expectRefusals(backup: string, target: ReturnType<typeof settingsAt>): Promise<void> {
    const refusal = async (from: string) =>
      (await runCommand(registerBackupCommands, ['restore', from], target)).notes;
    const damaged = `${backup}-damaged`;
    await cp(backup, damaged, { recursive: true });
    await truncate(join(damaged, 'database.dump'), 1_000);
    expect(await refusal(damaged)).toMatch(/is damaged\. .*: database\.dump\. Nothing was restored/);
    await cp(join(backup, 'database.dump'), join(damaged, 'database.dump'));
    const [key = ''] = await readdir(join(damaged, 'data', 'keys'));
    await rm(join(damaged, 'data', 'keys', key));
    expect(await refusal(damaged)).toContain(`data/keys/${key}`);
    await writeFile(join(damaged, 'backup.json'), '{');
    expect(await refusal(damaged)).toContain('backup.json was not written by "signpost backup"');
    // The directory was used before.
    await mkdir(target.DATA_DIR);
    for (const name of await readdir(join(backup, 'data'))) {
      await writeFile(join(target.DATA_DIR, name), '');
      expect(await refusal(backup)).toContain(`${join(target.DATA_DIR, name)} already exists`);
      await rm(join(target.DATA_DIR, name));
    }
  }

  it('is refused into a directory that it would copy, before anything is written', async () => {
    const dataDir = join(directory, 'data-of-its-own');
    await mkdir(join(dataDir, '..data'), { recursive: true });
    await symlink(dataDir, join(directory, 'another-name'));
    for (const name of ['data-of-its-own', 'another-name', 'data-of-its-own/..data']) {
      const into = join(directory, name, 'backup');
      const args = ['backup', into, '--no-database'];
      const run = await runCommand(registerBackupCommands, args, settingsAt('', dataDir));
      expect(run).toMatchObject({
        exitCode: 1,
        notes: expect.stringContaining(`${into} is inside ${dataDir}`),
      });
    }
    expect(await readdir(dataDir, { recursive: true })).toEqual(['..data']);
  });

  it('is refused into a directory that is there, and without a database to dump', async () => {
    const source = settingsAt('', join(directory, 'nothing'));
    expect((await runCommand(registerBackupCommands, ['backup', directory], source)).notes).toContain(
      'comes without pg_dump',
    );
    const run = await runCommand(registerBackupCommands, ['backup', directory, '--no-database'], source);
    expect(run.notes).toContain('already exists');
    const restored = await runCommand(registerBackupCommands, ['restore', directory], source);
    expect(restored.notes).toContain('is not a complete backup');
  });
});

describe('files that were restored from an older backup', () => {
  let scene: Scene;
  useScenes((one) => {
    scene = one;
  });

  it('are refused by crawlers that have seen later ones, until their versions skip ahead', async () => {
    const { tree, url } = scene.provider;
    await scene.publish(0, 3);
    const backup = await mkdtemp(join(tmpdir(), 'signpost-tree-'));
    await cp(tree.root, backup, { recursive: true });
    await scene.publish(0, 5);
    await rm(tree.root, { recursive: true });
    await cp(backup, tree.root, { recursive: true });
    await rm(backup, { recursive: true });
    await scene.look();
    expect(await scene.served()).toHaveLength(5);
    expect((await resignEverything(tree, 1_000)).status).toBe('COMPLETED');
    await renewManifest(tree, { url, always: true });
    await scene.look();
    expect(await scene.served()).toHaveLength(3);
    await scene.publish(0, 4);
    expect(await scene.served()).toHaveLength(4);
  });

  it('skip ahead by a command', async () => {
    const run = await runCommand(registerRefreshCommand, ['refresh', '--skip-versions', 'many'], {});
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('Use a number of at least 1.') });
  });
});
