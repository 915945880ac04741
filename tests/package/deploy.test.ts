import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { afterEach, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { commands as listedCommands } from '../../src/cli/program.ts';
import { roles, settings } from '../../src/setting-table.ts';
import { findInstalledPostgres, startInstalledPostgres } from '../support/database/installed-postgres.ts';
import { freePort } from '../support/free-port.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { hasCommand, searchPath } from '../support/processes/reverse-proxy.ts';

// The files of deploy/ must agree with the code: names of settings, commands, ports, health. The image itself is built by tests/long/image.test.ts,
// the proxies run in tests/processes/proxies.test.ts.

const run = promisify(execFile);
const environment = { ...process.env, PATH: searchPath };
const read = (file: string) => readFile(join('deploy', file), 'utf8');

const atEnd: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end();
});

describe('the files of deploy', () => {
  /** Variables of other programs: of PostgreSQL's image, of Node, of our compose file and proxies. */
  const ofOthers =
    /^(?:POSTGRES_\w+|NODE_ENV|NODE_IMAGE|DATABASE_PASSWORD|BACKUP_DAYS|HEALTH_PORT|(?:CATALOG|DISCOVERY|PUBLISHER)_(?:SITE|UPSTREAM))$/;

  it('name settings that there are', async () => {
    const files = (await readdir('deploy', { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile() && !entry.name.endsWith('.md'),
    );
    const named = new Set<string>();
    for (const { parentPath, name } of files) {
      const text = await readFile(join(parentPath, name), 'utf8');
      // NAME=…, NAME: …, ${NAME…}, {$NAME…}
      for (const [, before, inside] of text.matchAll(
        /(?:^|[\s"'=])([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?==|: )|(?:\$\{|\{\$)([A-Z][A-Z0-9_]+)/gm,
      ))
        named.add(before ?? inside ?? '');
    }
    expect(named.size).toBeGreaterThan(20);
    expect([...named].filter((name) => !(name in settings) && !ofOthers.test(name))).toEqual([]);
  });

  it('call commands and roles that there are', async () => {
    const commands = Object.keys(listedCommands);
    const { services } = parse(await read('compose.yaml'), { merge: true });
    for (const service of ['migrate', 'catalog', 'discovery', 'console']) {
      const [command, option, role] = services[service].command;
      expect(commands).toContain(command);
      if (option) expect([option, roles]).toEqual(['--roles', expect.arrayContaining([role])]);
    }
    for (const unit of ['signpost@.service', 'signpost-refresh.service']) {
      const [, command] = /^ExecStart=\/usr\/bin\/node \/opt\/signpost\/dist\/cli\/main\.js (\w+)/m.exec(
        await read(`systemd/${unit}`),
      ) ?? [undefined, 'none'];
      expect(commands).toContain(command);
    }
  });

  it('name the version of the package, which the release script changes in both', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    const chart = parse(await read('helm/signpost/Chart.yaml'));
    expect(chart).toMatchObject({ version, appVersion: version });
  });

  it('have every role wait in compose until the database is migrated', async () => {
    const { services } = parse(await read('compose.yaml'), { merge: true });
    for (const role of ['catalog', 'discovery', 'console'])
      expect(services[role].depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    expect(services.migrate.depends_on).toEqual({ database: { condition: 'service_healthy' } });
    // The roles trust the address of the proxy.
    expect(services.catalog.environment.TRUSTED_PROXIES).toBe(services.proxy.networks.inside.ipv4_address);
  });
});

describe('compose', () => {
  it('limits the memory of every service', async () => {
    const { services } = parse(await read('compose.yaml'), { merge: true });
    const limits = Object.values<{ mem_limit?: string }>(services).map(({ mem_limit }) => mem_limit);
    expect(limits).toEqual(limits.map(() => expect.stringMatching(/^\d+[mg]$/)));
  });

  it('backs up the volume of every role, each day', async () => {
    const { services, volumes } = parse(await read('compose.yaml'), { merge: true });
    const { backup } = services;
    expect(backup.command.join(' ')).toContain('sleep 86400');
    const roleVolumes = ['catalog', 'discovery', 'console'].map((role) => `${role}:/data/${role}:ro`);
    expect(backup.volumes).toEqual(expect.arrayContaining(['./backup.sh:/backup.sh:ro', ...roleVolumes]));
    expect(volumes).toHaveProperty('backups');
  });

  const programs = findInstalledPostgres();
  it.skipIf(programs === undefined)(
    'makes backups that pg_restore reads, and deletes old and incomplete ones (needs PostgreSQL of the system)',
    async () => {
      const server = await startInstalledPostgres(programs ?? '');
      atEnd.push(() => server.close());
      const { username, pathname } = new URL(await server.create('source'));
      const root = await mkdtemp(join(tmpdir(), 'signpost-compose-'));
      atEnd.push(() => rm(root, { recursive: true }));
      const [data, backups] = [join(root, 'data'), join(root, 'backups')];
      for (const directory of [data, join(backups, 'of-last-year'), join(backups, 'broken.part')])
        await mkdir(directory, { recursive: true });
      await writeFile(join(data, 'key'), 'secret');
      await utimes(join(backups, 'of-last-year'), 0, 0);
      const env = {
        ...{ PATH: `${programs}:${process.env.PATH}`, PGHOST: '127.0.0.1', PGPORT: `${server.port}` },
        ...{ PGUSER: username, PGDATABASE: pathname.slice(1) },
      };
      await run('sh', ['deploy/backup.sh', data, backups], { env });
      const [name = '', ...others] = await readdir(backups);
      expect([name, others]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}Z$/), []]);
      const { stdout } = await run('pg_restore', ['--list', join(backups, name, 'database.dump')], { env });
      expect(stdout).toContain('Archive created');
      const archive = join(backups, name, 'data.tar.gz');
      expect((await run('tar', ['-xzOf', archive, './key'])).stdout).toBe('secret');
    },
  );
});

describe('the Dockerfile', () => {
  it('builds by the script that the tests run, and ends as a user that is not root', async () => {
    const text = await read('Dockerfile');
    const steps = text.replaceAll(/\\\n\s*/g, '').split('\n');
    const ofKind = (kind: string) => steps.filter((step) => step.startsWith(`${kind} `));
    expect(ofKind('RUN')[0]).toMatch(/ sh deploy\/image\/build\.sh \/image$/);
    expect(ofKind('USER')).toEqual(['USER 1000:1000']);
    expect(steps.at(-2)).toBe('CMD ["serve"]');
    // The script puts files where the final stage expects them.
    for (const [, file = ''] of text.matchAll(/\/opt\/signpost\/(deploy\/[\w./]+)/g))
      expect(await readFile(file, 'utf8')).not.toBe('');
  });

  it('has a health check that passes while a process answers, and fails when none does', async () => {
    const port = await freePort();
    const check = () =>
      run(process.execPath, ['deploy/image/health.mjs'], { env: { OPERATIONS_PORT: `${port}` } }).then(
        () => 0,
        (error) => error.code,
      );
    expect(await check()).toBe(1);
    const network: TestNetwork = await startNetwork({
      settings: { ROLES: 'registry', OPERATIONS_PORT: `${port}` },
    });
    atEnd.push(() => network.close());
    expect(await check()).toBe(0);
  });
});

describe.skipIf(!hasCommand('caddy'))('the files of Caddy (needs caddy)', () => {
  it.each(['Caddyfile', 'publisher.Caddyfile'])('%s is valid, and formatted as Caddy does', async (name) => {
    const home = await mkdtemp(join(tmpdir(), 'signpost-caddy-'));
    atEnd.push(() => rm(home, { recursive: true }));
    const env = { PATH: searchPath, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
    const file = join('deploy/caddy', name);
    await run('caddy', ['validate', '--adapter', 'caddyfile', '--config', file], { env });
    const { stdout } = await run('caddy', ['fmt', file], { env });
    expect(stdout).toBe(await readFile(file, 'utf8'));
  });
});

describe.skipIf(!hasCommand('systemd-analyze'))('the units (needs systemd-analyze)', () => {
  const units = ['signpost@.service', 'signpost-refresh.service', 'signpost-refresh.timer'];

  /** A root directory with everything that the units need: systemd checks that their program exists. */
  async function makeRoot(): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), 'signpost-units-'));
    atEnd.push(() => rm(root, { recursive: true }));
    await mkdir(join(root, 'etc/systemd/system'), { recursive: true });
    await mkdir(join(root, 'usr/bin'), { recursive: true });
    await writeFile(join(root, 'usr/bin/node'), '#!/bin/sh\n', { mode: 0o755 });
    for (const unit of units)
      await cp(
        join('deploy/systemd', unit),
        join(root, 'etc/systemd/system', unit.replace('@.', '@catalog.')),
      );
    return root;
  }

  it('verify without a word', async () => {
    const root = await makeRoot();
    const names = units.map((unit) => unit.replace('@.', '@catalog.'));
    const { stdout, stderr } = await run(
      'systemd-analyze',
      ['verify', '--man=no', '--generators=no', '--recursive-errors=no', `--root=${root}`, ...names],
      { env: environment },
    );
    expect(stdout + stderr).toBe('');
  });

  it('are rated as well protected', async () => {
    for (const unit of ['signpost@catalog.service', 'signpost-refresh.service']) {
      const root = await makeRoot();
      const { stdout } = await run(
        'systemd-analyze',
        ['security', '--offline=true', '--no-pager', `--root=${root}`, '--threshold=25', unit],
        { env: environment },
      );
      expect(stdout).toMatch(/Overall exposure level for .*: [012]\.\d OK/);
    }
  });
});

describe('the values of the chart', () => {
  it('trust no proxy, for any role, until the operator names one', async () => {
    const { settings, roles, publisher } = parse(await read('helm/signpost/values.yaml'), { merge: true });
    expect(settings.TRUSTED_PROXIES).toBe('');
    for (const part of [...Object.values<{ settings: object }>(roles), publisher])
      expect(part.settings).not.toHaveProperty('TRUSTED_PROXIES');
  });

  it.each<[what: string, at: string, value: unknown]>([
    ['a role that there is not', '/roles/publishr', {}],
    ['a setting that is a number', '/settings/RETRY_HOURS', 24],
    ['a secret among the settings', '/roles/catalog/settings/CATALOG_PRIVATE_KEY', 'seed'],
    ['a misspelled value', '/ingress/enable', true],
    ['a host with a scheme', '/publisher/host', 'https://files.example.org'],
  ])('fit their schema, which refuses %s', async (_, at, value) => {
    const schema = JSON.parse(await read('helm/signpost/values.schema.json'));
    const values = parse(await read('helm/signpost/values.yaml'), { merge: true });
    const validate = new Ajv({ strict: false }).compile(schema);
    expect([validate(values), validate.errors]).toEqual([true, null]);
    const names = at.split('/').slice(1);
    const last = names.pop() ?? '';
    names.reduce((object, name) => object[name], values)[last] = value;
    expect(validate(values)).toBe(false);
  });
});

describe.skipIf(!hasCommand('helm'))('the chart (needs helm)', () => {
  const chart = 'deploy/helm/signpost';
  const everything = ['--set', 'roles.console.enabled=true,publisher.enabled=true'];
  const helm = (...args: string[]) => run('helm', args, { env: environment });

  it('has no fault that helm lint finds', async () => {
    const { stdout } = await helm('lint', '--strict', chart);
    expect(stdout).toContain('0 chart(s) failed');
  });

  it('renders what it says: probes, resources, no root, keys from the Secret alone', async () => {
    const { stdout } = await helm('template', 'network', chart, '--kube-version', '1.30.0', ...everything);
    const documents = parseAllDocuments(stdout).map((document) => document.toJS());
    const pods = documents.filter((document) => document?.spec?.template?.spec?.containers);
    expect(pods.map(({ metadata }) => metadata.name).sort()).toEqual(
      ['catalog', 'console', 'discovery', 'migrate', 'publisher'].map((role) => `network-${role}`),
    );
    for (const { kind, spec } of pods) {
      const [container] = spec.template.spec.containers;
      expect(spec.template.spec.securityContext.runAsNonRoot).toBe(true);
      expect(container.resources.limits.memory).toBeDefined();
      if (kind !== 'Job')
        expect(container).toMatchObject({
          livenessProbe: { httpGet: { path: '/health', port: 'operations' } },
          readinessProbe: { httpGet: { path: '/ready', port: 'operations' } },
        });
      const names = (container.env ?? []).map(({ name }: { name: string }) => name);
      expect(names.filter((name: string) => !(name in settings))).toEqual([]);
    }
  });

  it('gives each role its own keys of the Secret, and a checksum of them', async () => {
    const { stdout } = await helm('template', 'network', chart, '--kube-version', '1.30.0', ...everything);
    const documents = parseAllDocuments(stdout).map((document) => document.toJS());
    const pods = documents.filter((document) => document?.spec?.template?.spec?.containers);
    const keysOf = pods.map(({ metadata: { name }, spec: { template } }) => {
      const [{ env, envFrom }] = template.spec.containers;
      expect(envFrom).toBeUndefined();
      if (name !== 'network-migrate')
        expect(template.metadata.annotations['checksum/secrets']).toMatch(/^[0-9a-f]{64}$/);
      const secrets = env.filter(({ valueFrom }: { valueFrom?: object }) => valueFrom);
      return [name.slice('network-'.length), secrets.map((one: { name: string }) => one.name)];
    });
    expect(Object.fromEntries(keysOf)).toEqual({
      catalog: ['DATABASE_URL', 'CATALOG_PRIVATE_KEY'],
      discovery: ['DATABASE_URL', 'DISCOVERY_PRIVATE_KEY'],
      console: ['DATABASE_URL', 'OPERATOR_TOKEN'],
      publisher: ['PUBLISHER_PRIVATE_KEY'],
      migrate: ['DATABASE_URL'],
    });
  });

  it('needs no database, and migrates none, where only the publisher runs', async () => {
    const only = 'roles.catalog.enabled=false,roles.discovery.enabled=false,publisher.enabled=true';
    const { stdout } = await helm('template', 'network', chart, '--kube-version', '1.30.0', '--set', only);
    expect(stdout).toContain('PUBLISHER_PRIVATE_KEY');
    expect(stdout).not.toMatch(/DATABASE_URL|kind: Job/);
  });

  it('is refused with values that do not fit the schema', async () => {
    await expect(helm('template', 'network', chart, '--set', 'ingress.enable=true')).rejects.toThrow(
      'enable',
    );
  });

  it.skipIf(!hasCommand('kubernetes-validate'))(
    'renders what Kubernetes accepts (needs kubernetes-validate)',
    async () => {
      const { stdout } = await helm('template', 'network', chart, '--kube-version', '1.30.0', ...everything);
      const directory = await mkdtemp(join(tmpdir(), 'signpost-chart-'));
      atEnd.push(() => rm(directory, { recursive: true }));
      await writeFile(join(directory, 'all.yaml'), stdout);
      await run('kubernetes-validate', ['--strict', join(directory, 'all.yaml')], { env: environment });
    },
  );
});
