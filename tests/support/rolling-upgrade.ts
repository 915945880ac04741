import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { type Balancer, startBalancer } from './balancer.ts';
import { freePort } from './free-port.ts';
import { startNetwork, type TestNetwork } from './network.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';
import { until } from './time.ts';
import { startLoad, type UpgradeReport } from './upgrade-load.ts';

// A deployment in which every role is replaced by one of the next version, process after process, behind a load balancer, while publishers publish and consumers ask.
// The next version is this one with further migrations, which its first process applies while those of this version work.

const laterMigrations = {
  '9000-upgrade-callbacks.sql': `alter table work.callback add column upgraded boolean not null default false;`,
  '9001-upgrade-pushes.sql': 'create index push_by_version on catalog.push (wanted_version);',
  '9002-upgrade-catalogs.sql': `alter table catalog.catalog add column upgraded boolean; alter table discovery.catalog add column upgraded boolean;
    create table work.upgraded (id bigint primary key);`,
};

export interface UpgradeOptions {
  /** Of catalog service and discovery service each. */
  processes: number;
  publishers: number;
}

export async function upgradeUnderLoad({ processes, publishers }: UpgradeOptions): Promise<UpgradeReport> {
  const registry = await startBalancer();
  const network = await startNetwork({
    settings: {
      ROLES: 'registry',
      REGISTRY_URL: `${registry.url}/dedi`,
      DISCOVERY_ID: 'discovery.signpost.test',
    },
  });
  registry.backends.add(network.config.REGISTRY_PORT);
  const next = await makeNextVersion();
  const deployment = await deploy(network, processes);
  const load = await startLoad(network, deployment, publishers);
  try {
    await until(() => load.report.published > 2 && load.report.found > 2, 'the load to run');
    await replaceRegistry(network, registry, next.commandLine, deployment);
    for (const group of deployment.groups) await group.replaceAll(next.commandLine);
    const before = { ...load.report };
    await until(
      () => load.report.published > before.published + 2 && load.report.found > before.found + 2,
      'the load to go on with the new version',
    );
    await load.end();
    await expectInStep(network, next.commandLine);
    return load.report;
  } finally {
    await load.end().catch(() => undefined);
    await deployment.close();
    await network.close();
    await registry.close();
    await next.remove();
  }
}

/** A copy of what is built, with more migrations. */
async function makeNextVersion() {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-next-'));
  for (const name of ['dist', 'migrations', 'schemas', 'package.json'])
    await cp(name, join(directory, name), { recursive: true });
  await symlink(resolve('node_modules'), join(directory, 'node_modules'));
  for (const [name, text] of Object.entries(laterMigrations))
    await writeFile(join(directory, 'migrations', name), text);
  return {
    commandLine: join(directory, 'dist', 'cli', 'main.js'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Processes of some roles behind one address. */
interface Group {
  url: string;
  replaceAll(commandLine: string): Promise<void>;
  close(): Promise<void>;
}

interface Deployment {
  groups: Group[];
  catalogUrl: string;
  discoveryUrl: string;
  triggerUrl: string;
  others: ServiceProcess[];
  settings: Record<string, string>;
  close(): Promise<void>;
}

async function deploy(network: TestNetwork, processes: number): Promise<Deployment> {
  const { config, databaseUrl } = network;
  const [catalog, discovery] = [await startBalancer(), await startBalancer()];
  const [publisherPort, triggerPort, consolePort] = [await freePort(), await freePort(), await freePort()];
  const publisherUrl = `http://127.0.0.1:${publisherPort}`;
  const settings: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    REGISTRY_URL: config.registryUrl,
    CATALOG_ID: config.CATALOG_ID,
    DISCOVERY_ID: config.DISCOVERY_ID,
    PUBLISHER_ID: config.PUBLISHER_ID,
    CATALOG_URL: catalog.url,
    DISCOVERY_URL: discovery.url,
    PUBLISHER_URL: publisherUrl,
    PUBLISHER_PORT: String(publisherPort),
    PUBLISHER_TRIGGER_PORT: String(triggerPort),
    PUBLISHER_TRIGGER_TOKEN: 'off',
    CONSOLE_PORT: String(consolePort),
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl: catalog.url }]),
    DISCOVERY_NODES: JSON.stringify([config.PUBLISHER_ID]),
    CRAWL_INTERVAL_SECONDS: '1',
    CRAWL_MIN_INTERVAL_SECONDS: '1',
    ALLOW_PRIVATE_ADDRESSES: 'true',
    RETRY_BASE_MS: '50',
    RATE_LIMIT_PER_SECOND: '0',
    TIME_LIMIT_MS_PER_SECOND: '0',
    OVERLOAD_EVENT_LOOP_MS: '60000',
  };
  await network.database.query(
    `update registry.participant set url = case subscriber_id when $1 then $2 when $3 then $4 when $5 then $6 else url end`,
    [config.CATALOG_ID, catalog.url, config.DISCOVERY_ID, discovery.url, config.PUBLISHER_ID, publisherUrl],
  );
  const groups = await Promise.all([
    startGroup('catalog', 'CATALOG_PORT', catalog, settings, processes),
    startGroup('discovery', 'DISCOVERY_PORT', discovery, settings, processes),
    startGroup('publisher,console', undefined, undefined, settings, 1),
  ]);
  const others: ServiceProcess[] = [];
  return {
    ...{ groups, others, settings, catalogUrl: catalog.url, discoveryUrl: discovery.url },
    triggerUrl: `http://127.0.0.1:${triggerPort}`,
    async close() {
      await Promise.all(groups.map((group) => group.close()));
      await Promise.all(others.map((other) => other.stop()));
    },
  };
}

/** Without a balancer: one process, whose port is always the same. */
async function startGroup(
  roles: string,
  portSetting: string | undefined,
  balancer: Balancer | undefined,
  settings: Record<string, string>,
  processes: number,
): Promise<Group> {
  const running: { process: ServiceProcess; port: number }[] = [];
  const add = async (commandLine?: string) => {
    const port = await freePort();
    const own = portSetting === undefined ? {} : { [portSetting]: String(port) };
    running.push({ process: await startServiceProcess(roles, { ...settings, ...own }, commandLine), port });
    balancer?.backends.add(port);
  };
  await Promise.all(Array.from({ length: processes }, () => add()));
  return {
    url: balancer?.url ?? '',
    async replaceAll(commandLine) {
      for (let replaced = 0; replaced < processes; replaced++) {
        const old = running.shift();
        // As a load balancer does it: no new connections, then the end of the process, which finishes what it has begun.
        if (old) balancer?.backends.delete(old.port);
        await old?.process.stop();
        await add(commandLine);
      }
    },
    async close() {
      await Promise.all(running.map(({ process }) => process.stop()));
      await balancer?.close();
    },
  };
}

/** The one in this process goes on as well, as a process of this version on another machine would. */
async function replaceRegistry(
  { config }: TestNetwork,
  registry: Balancer,
  commandLine: string,
  { others, settings }: Deployment,
): Promise<void> {
  const port = await freePort();
  others.push(
    await startServiceProcess(
      'registry',
      { ...settings, REGISTRY_URL: '', REGISTRY_PORT: String(port) },
      commandLine,
    ),
  );
  registry.backends.add(port);
  registry.backends.delete(config.REGISTRY_PORT);
}

/** Nothing that was acknowledged is missing anywhere. */
async function expectInStep({ config, databaseUrl }: TestNetwork, commandLine: string): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    REGISTRY_URL: config.registryUrl,
    PUBLISHER_ID: config.PUBLISHER_ID,
    ALLOW_PRIVATE_ADDRESSES: 'true',
  };
  const run = promisify(execFile);
  const check = () =>
    run(process.execPath, [commandLine, 'check', '--wait', '1'], { env, cwd: config.DATA_DIR }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
  // What is still under way when the load ends arrives within seconds.
  let last = await check();
  for (let again = 0; last.stdout !== '' && again < maxChecks; again++) last = await check();
  expect(last.stdout).toBe('');
  expect(last.stderr).toContain('no difference');
}

const maxChecks = 10;
