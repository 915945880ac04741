import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerCatalogCommand } from '../../src/cli/catalog.ts';
import { register as registerCrawlCommand } from '../../src/cli/crawl.ts';
import { register as registerDeliveriesCommand } from '../../src/cli/deliveries.ts';
import { register as registerDiscoverCommand } from '../../src/cli/discover.ts';
import { register as registerSendCommand } from '../../src/cli/send.ts';
import { roles } from '../../src/setting-table.ts';
import { smallCatalog } from '../support/hosted/publisher.ts';
import { runCommand } from '../support/processes/command.ts';
import { readCluster } from '../support/processes/embedded-process.ts';
import { publish, useDirectory } from '../support/processes/publish-command.ts';
import {
  freePorts,
  makeDataDir,
  startCommand,
  startUp,
  type UpProcess,
} from '../support/processes/up-process.ts';
import { until } from '../support/time.ts';

// A new user's commands. Longer than our other tests: starting takes seconds, so most of them share one process.

describe('signpost up', () => {
  const { write } = useDirectory();
  let home: Awaited<ReturnType<typeof makeDataDir>>;
  let settings: Record<string, string>;
  /** The running process, if any: most tests share it. */
  let signpost: UpProcess | undefined;

  beforeAll(async () => {
    home = await makeDataDir();
    settings = { LOG_FORMAT: 'pretty', ...(await freePorts()) };
  });
  afterAll(async () => {
    signpost?.signal('SIGTERM');
    await signpost?.ended;
    await home?.remove();
  });

  const start = () => startUp(home.dataDir, settings);
  /** The line of a new operator token. */
  const tokenLine = /^token +kept in (.*)$/m;

  async function running(): Promise<UpProcess> {
    signpost ??= start();
    await signpost.saying('Signpost is up');
    return signpost;
  }

  /** Whether the database server of the data directory runs. */
  const hasServer = async () => (await readCluster(home.dataDir)).pid !== undefined;

  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  const read = async (url: string): Promise<any> => (await fetch(url)).json();

  it('prints the address of every role, and stays up', async () => {
    const printed = (await running()).said();
    for (const role of roles) expect(printed).toMatch(new RegExp(`^${role} +http://127.0.0.1:\\d+`, 'm'));
    const operations = `http://127.0.0.1:${settings.OPERATIONS_PORT}`;
    expect(printed).toContain(`operations ${operations}\n`);
    // The publisher starts to listen, renews its files once, and is then ready.
    let ready = await fetch(`${operations}/ready`);
    await until(async () => {
      if (ready.status !== 200) ready = await fetch(`${operations}/ready`);
      return ready.status === 200;
    }, 'every role to be ready');
    const everyRole = Object.fromEntries(roles.map((role) => [role, { ready: true }]));
    expect([ready.status, await ready.json()]).toMatchObject([200, { ready: true, roles: everyRole }]);
    expect(await hasServer()).toBe(true);
  });

  it('says at its first start where the operator token is kept, and shows it to no pipe', async () => {
    const said = (await running()).said();
    const [, file = ''] = tokenLine.exec(said) ?? [];
    expect(file).toBe(join(home.dataDir, 'operator-token'));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const token = (await readFile(file, 'utf8')).trim();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(said).not.toContain(token);
  });

  it('has logged its start before it says what to do next, so that this stays in sight', async () => {
    const printed = (await running()).said();
    const [start = '', rest] = printed.split('Signpost is up.');
    expect(start).toMatch(/INFO: subscribed \{/);
    expect(start).toMatch(/INFO: pulled \{/);
    expect(rest).not.toContain('INFO:');
  });

  it('publishes the catalog of the demo as signed files, and the registry leads to them', async () => {
    expect((await running()).said()).toContain(
      `trigger    http://127.0.0.1:${settings.PUBLISHER_TRIGGER_PORT}\n`,
    );
    const lookup = `http://127.0.0.1:${settings.REGISTRY_PORT}/dedi/lookup/publisher.signpost.test/subscribers.beckn.one/key-1`;
    const { data: record } = await read(lookup);
    const manifest = await read(`${record.details.url}/.well-known/dedi.index.json`);
    expect(manifest.domain).toBe('publisher.signpost.test');
    const index = await read(record.meta.catalog_index_urls[0].url);
    expect(index).toMatchObject({
      nodeId: 'publisher.signpost.test',
      catalogs: ['kaveri-city-station', 'kaveri-west', 'kaveri-south'].map((catalogId) => ({ catalogId })),
    });
    expect((await fetch(index.catalogs[0].baseline.url)).status).toBe(200);
  });

  it('crawls these files, so that discover finds what is in them', async () => {
    await running();
    const find = () =>
      runCommand(
        registerDiscoverCommand,
        ['discover', 'charger', '--near', '12.978,77.57', '--within', '1km'],
        { DATA_DIR: home.dataDir, ...settings },
      );
    let found = await find();
    await until(async () => {
      if (!found.out.includes('Kaveri')) found = await find();
      return found.out.includes('Kaveri');
    }, 'the catalog of the demo to be found');
    expect(found.out).toContain('3 resources of 1 catalog.');
  });

  it('answers a publish with warnings', async () => {
    await running();
    const resourceAttributes = {
      '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.0/context.jsonld',
      '@type': 'EnergyResourceEVCharger',
    };
    const provider = { id: 'p', descriptor: { name: 'P' } };
    const resources = [{ id: 'r', resourceAttributes }];
    const catalogs = [{ id: 'warned', descriptor: { name: 'W' }, provider, resources }];
    const to = `http://127.0.0.1:${settings.CATALOG_PORT}`;
    const { exitCode, out } = await runCommand(
      registerSendCommand,
      ['send', '-', '--action', 'catalog/publish', '--as', 'provider.signpost.test', '--to', to, '--wait'],
      { DATA_DIR: home.dataDir, ...settings },
      JSON.stringify({ context: {}, message: { catalogs } }),
    );
    expect(exitCode).toBe(0);
    expect(out).toContain(
      'Did you mean https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld?',
    );
  });

  it('finds what is published meanwhile, also in a new index, before anybody has to wait for it', async () => {
    await running();
    const env = { DATA_DIR: home.dataDir, ...settings };
    const file = write('tea.json', {
      ...{
        id: 'tea-house',
        descriptor: { name: 'Teas' },
        provider: { id: 'p', descriptor: { name: 'A house' } },
      },
      resources: [{ id: 'r1', descriptor: { name: 'Lapsang' } }],
    });
    const { exitCode, notes } = await publish([file, '--index', 'teas'], env);
    expect([exitCode, notes]).toMatchObject([0, expect.any(String)]);
    const find = () => runCommand(registerDiscoverCommand, ['discover', 'lapsang'], env);
    await until(async () => (await find()).out.includes('Lapsang'), 'what was published to be found');
  });

  it('names the page of the console first of all that it suggests', async () => {
    const [, suggested = ''] = (await running()).said().split('Signpost is up.');
    expect(suggested).toMatch(new RegExp(`^ Open http://127.0.0.1:${settings.CONSOLE_PORT}\n`));
  });

  it('has a page with links at every address that it listens on', async () => {
    await running();
    for (const name of [
      'REGISTRY_PORT',
      'CATALOG_PORT',
      'DISCOVERY_PORT',
      'PUBLISHER_PORT',
      'PUBLISHER_TRIGGER_PORT',
      'DEMO_PORT',
      'OPERATIONS_PORT',
      'CONSOLE_PORT',
    ]) {
      const page = await fetch(`http://127.0.0.1:${settings[name]}/`);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      if (name === 'CONSOLE_PORT') continue;
      const text = await page.text();
      expect(text).toContain('href="/openapi.json"');
      expect(text).toContain(`href="http://127.0.0.1:${settings.CONSOLE_PORT}"`);
    }
  });

  it('plays the demo: a master that is extended, a PARTIAL catalog, a file that does not verify, a receiver that is down', async () => {
    await running();
    const env = { DATA_DIR: home.dataDir, LOG_LEVEL: 'silent', ...settings };
    const listed = () => runCommand(registerCatalogCommand, ['catalog', 'list', '--json'], env);
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
    let catalogs: any[] = [];
    await until(async () => {
      catalogs = JSON.parse((await listed()).out);
      return catalogs.length >= 17;
    }, 'the catalogs of the demo');
    expect(catalogs.find(({ type }) => type === 'MASTER')).toMatchObject({ id: 'bengaluru-pantry' });
    const partial = await runCommand(registerCatalogCommand, ['catalog', 'show', 'voltpath-hsr-layout'], env);
    expect(partial.out).toContain('PARTIAL');
    expect(partial.out).toContain('connectorType');
    const shop = await runCommand(registerDiscoverCommand, ['discover', 'ರಾಗಿ'], env);
    expect(shop.out).toContain('Hosa Santhe');
    const deliveries = () => runCommand(registerDeliveriesCommand, ['deliveries', 'list', '--json'], env);
    await until(async () => (await deliveries()).out.includes('127.0.0.1:9'), 'a delivery that waits');
    const log = () => runCommand(registerCrawlCommand, ['crawl', 'log', '--json'], env);
    await until(async () => (await log()).out.includes('digest-mismatch'), 'the file that does not verify');
    expect((await running()).said()).not.toMatch(/WARN|atlas/);
  });

  it('does not complain about participants that host nothing', async () => {
    const { said } = await running();
    // A very busy machine causes others: a late registry, a refused request.
    const complaints = said().match(/^.*(?:WARN|ERROR).*crawl.*$/gm) ?? [];
    expect(complaints).toEqual([]);
    const { out } = await runCommand(registerCrawlCommand, ['crawl', 'log', '--json'], {
      ...{ DATA_DIR: home.dataDir, LOG_LEVEL: 'silent', ...settings },
    });
    const { lines } = JSON.parse(out) as { lines: { catalogId?: string }[] };
    expect(lines.filter(({ catalogId }) => catalogId !== 'minchu-east')).toEqual([]);
  });

  it('has its discovery service told of what is published, which verifies at the public address at once', async () => {
    await running();
    const env = { DATA_DIR: home.dataDir, ...settings };
    const offer = (...names: string[]) => publish([write('coffee.json', smallCatalog('coffee', names))], env);
    const publicUrl = `http://127.0.0.1:${settings.PUBLISHER_PORT}`;
    expect((await offer('espresso')).notes).toContain(`Verified at ${publicUrl}: 1 catalog as published.`);
    // Only a service that got a hint just before refuses another.
    expect((await offer('espresso', 'lungo')).notes).toContain(
      `The discovery service at http://127.0.0.1:${settings.DISCOVERY_PORT} was notified a moment ago; it will be notified again in `,
    );
  });

  it('is not started a second time with the same data, whatever its ports are, and the registry still leads to the first', async () => {
    await running();
    const second = startUp(home.dataDir, { ...settings, ...(await freePorts()) });
    expect(await second.ended).toMatchObject({ code: 1 });
    expect(second.said()).toMatch(
      /^signpost: Signpost is already running with the data of .* \(process \d+\)\. Stop it, or set another DATA_DIR and other ports\.\n$/,
    );
    const lookup = `http://127.0.0.1:${settings.REGISTRY_PORT}/dedi/lookup/catalog.signpost.test/subscribers.beckn.one/key-1`;
    expect((await read(lookup)).data.details.url).toBe(`http://127.0.0.1:${settings.CATALOG_PORT}`);
    expect(await hasServer()).toBe(true);
  });

  it('says which port is taken when it cannot start, and leaves alone what runs', async () => {
    await running();
    const other = await makeDataDir();
    const second = startUp(other.dataDir, settings);
    expect(await second.ended).toMatchObject({ code: 1 });
    await other.remove();
    expect(second.said()).toContain(
      `Cannot listen on 127.0.0.1:${settings.OPERATIONS_PORT}: another program listens there. Stop it, or set another OPERATIONS_PORT.`,
    );
    expect(await hasServer()).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'is gone with everything it started after %s',
    async (signal) => {
      const { ended, said, ...told } = await running();
      told.signal(signal);
      signpost = undefined;
      expect(await ended).toMatchObject({ code: 0 });
      expect(said()).toContain('stopped');
      expect(await hasServer()).toBe(false);
    },
  );

  it('publishes nothing of the demo again at its next start, and makes no other operator token', async () => {
    expect((await running()).said()).not.toMatch(tokenLine);
    const env = { DATA_DIR: home.dataDir, LOG_LEVEL: 'silent', ...settings };
    const { out } = await runCommand(registerCatalogCommand, ['catalog', 'list', '--json'], env);
    const versions = JSON.parse(out).map(({ id, version }: { id: string; version: number }) => [id, version]);
    expect(versions.filter(([, version]: [string, number]) => version > 1)).toEqual([]);
  });
});

describe('signpost up --empty, with PUBLISHER_DIR equal to DATA_DIR', () => {
  const { write } = useDirectory();
  let home: Awaited<ReturnType<typeof makeDataDir>>;
  let env: Record<string, string>;
  let signpost: UpProcess | undefined;

  beforeAll(async () => {
    home = await makeDataDir();
    const { dataDir } = home;
    env = { DATA_DIR: dataDir, PUBLISHER_DIR: dataDir, LOG_LEVEL: 'silent', ...(await freePorts()) };
  });
  afterAll(async () => {
    signpost?.signal('SIGTERM');
    await signpost?.ended;
    await home?.remove();
  });

  it('starts every role, without the catalogs and the other participants of the demo', async () => {
    signpost = startCommand(['up', '--empty'], home.dataDir, env);
    const printed = await signpost.saying('Signpost is up');
    for (const role of roles) expect(printed).toMatch(new RegExp(`^${role} +http://127.0.0.1:\\d+`, 'm'));
    const { out } = await runCommand(registerCatalogCommand, ['catalog', 'list', '--json'], env);
    expect(JSON.parse(out)).toEqual([]);
    const index = `http://127.0.0.1:${env.PUBLISHER_PORT}/index/catalogs.index.json`;
    expect((await fetch(index)).status).toBe(404);
    await expect(fetch(`http://127.0.0.1:${env.DEMO_PORT}`)).rejects.toThrow();
  });

  it('has no failing node before the first catalog', async () => {
    const nodes = async () => {
      const { out } = await runCommand(registerCrawlCommand, ['crawl', 'status', '--json'], env);
      return JSON.parse(out).nodes as { node: string; failures: number; checkedAt: string | null }[];
    };
    const isRead = async () =>
      (await nodes()).some(({ node, checkedAt }) => node.startsWith('publisher.') && checkedAt !== null);
    await until(isRead, 'the publisher to be looked at');
    expect((await nodes()).filter(({ failures }) => failures > 0)).toEqual([]);
  });

  it('has a facilitator who may publish MASTER catalogs', async () => {
    const publishDirectives = [{ catalogId: 'templates', catalogType: 'MASTER' }];
    const to = `http://127.0.0.1:${env.CATALOG_PORT}`;
    const { exitCode } = await runCommand(
      registerSendCommand,
      ['send', '-', '--action', 'catalog/publish', '--as', 'facilitator.signpost.test', '--to', to, '--wait'],
      env,
      JSON.stringify({ context: {}, message: { catalogs: [smallCatalog('templates')], publishDirectives } }),
    );
    expect(exitCode).toBe(0);
  });

  it('publishes without a warning, and is still not started a second time', async () => {
    const file = write('coffee.json', smallCatalog('coffee', ['espresso']));
    const first = await publish([file], env);
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.notes).not.toContain('Warning');
    expect(await publish([write('broken.json', '{}')], env)).toMatchObject({ exitCode: 1 });
    const second = startUp(home.dataDir, { ...env, ...(await freePorts()) });
    expect(await second.ended).toMatchObject({ code: 1 });
    expect(second.said()).toContain('Signpost is already running');
  });
});
