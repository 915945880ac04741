import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database/database.ts';
import { findInstalledPostgres, startInstalledPostgres } from '../support/database/installed-postgres.ts';
import { freePort } from '../support/free-port.ts';
import { patienceMs } from '../support/patience.ts';
import { compileStrictly } from '../support/processes/compile-strictly.ts';
import { type InstalledProject, installPackages } from '../support/processes/installed-project.ts';
import { startCommand, startUp, type UpProcess } from '../support/processes/up-process.ts';
import { until } from '../support/time.ts';

// The packages as users install them: runs the README's steps for the installed package (`npx signpost up`), and walks every way through the services
// once. All other tests except tests/ways/operations/packed.test.ts run the sources, or the built files beside them.

const run = promisify(execFile);

describe('the packed packages', { retry: 0 }, () => {
  let project: InstalledProject;
  let up: UpProcess | undefined;
  /** In another terminal, in the same folder. */
  const type: InstalledProject['type'] = (...line) => project.type(...line);
  /** Like npx, which takes half a second more. */
  const signpost: typeof type = (args, settings) => type(`node_modules/.bin/signpost ${args}`, settings);

  beforeAll(async () => {
    project = await installPackages();
  });
  afterAll(async () => {
    await stop(up);
    await project?.remove();
  });

  it('has examples, documents and the list of settings', async () => {
    const files = await readdir(project.installed);
    expect(files).toEqual(
      expect.arrayContaining(['.env.example', 'README.md', 'docs', 'examples', 'LICENSE']),
    );
    expect(await readdir(join(project.installed, 'examples'))).toEqual(await readdir('examples'));
    expect(await readdir(join(project.installed, 'docs'))).toEqual(await readdir('docs'));
  });

  it('has a module of Python that holds against the vectors beside it (needs Python with cryptography)', async (context) => {
    const python = await run('python3', ['-c', 'import cryptography']).catch(() => undefined);
    if (!python) context.skip('needs Python with cryptography');
    const { stderr } = await run('python3', ['-B', '-m', 'unittest'], {
      cwd: join(project.installed, 'examples', 'python'),
    });
    expect(stderr).toContain('OK');
  });

  it('has every file that its modules find by their own address, and names every package that they import as a dependency', async () => {
    const { dependencies } = JSON.parse(await readFile(join(project.installed, 'package.json'), 'utf8'));
    const dist = join(project.installed, 'dist');
    const modules = (await readdir(dist, { recursive: true })).filter((name) => /^(?!web).*\.js$/.test(name));
    const [found, imported] = [new Set<string>(), new Set<string>()];
    for (const name of modules) {
      const code = await readFile(join(dist, name), 'utf8');
      for (const [, path = ''] of code.matchAll(/new URL\(['"`](\.\.\/[^'"`$]*)[^)]*import\.meta\.url\)/g))
        found.add(join(dist, dirname(name), path));
      for (const [, from = ''] of code.matchAll(
        /(?:^import .*from |\bimport\(|\brequire\()['"]([^.'"][^'"]*)['"]/gm,
      ))
        if (!isBuiltin(from)) imported.add(/^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? '');
    }
    expect(found.size).toBeGreaterThan(5);
    expect([...found].filter((path) => !existsSync(path))).toEqual([]);
    expect(imported.size).toBeGreaterThan(5);
    expect([...imported].filter((name) => !(name in dependencies))).toEqual([]);
  });

  it('has built files alone in dist, and none names a source map', async () => {
    const files = (
      await readdir(join(project.installed, 'dist'), { recursive: true, withFileTypes: true })
    ).filter((entry) => entry.isFile());
    const isPage = ({ parentPath }: { parentPath: string }) =>
      parentPath.startsWith(join(project.installed, 'dist', 'web'));
    expect(files.filter((entry) => !entry.name.endsWith('.js') && !isPage(entry))).toEqual([]);
    expect(files.filter(isPage).map(({ name }) => name)).toContain('index.html');
    for (const { parentPath, name } of files)
      expect(await readFile(join(parentPath, name), 'utf8'), name).not.toContain('sourceMappingURL');
  });

  it('starts everything with signpost up, and each command that this suggests works as it is printed', async () => {
    up = startUp('.signpost', project.settings, inProject());
    const banner = await up.saying('Ctrl-C stops everything.', patienceMs);
    const suggested = [...banner.matchAll(/^ {2}(npx signpost .*?)(?: {3,}.*)?$/gm)].map(
      ([, line]) => line ?? '',
    );
    expect(suggested).toEqual([
      expect.stringMatching(/^npx signpost send .* --wait$/),
      expect.stringMatching(/^npx signpost discover fast charger /),
      expect.stringMatching(/^npx signpost discover charger /),
      'npx signpost status',
    ]);
    const [send = '', ...searches] = suggested;
    expect(await type(searches.pop() ?? '')).toMatch(/^catalog +ready/m);
    expect(await type(send)).toContain('"status": "ACCEPTED"');
    for (const search of searches) {
      let printed = '';
      await until(async () => {
        printed = await type(search);
        return /\d resources of \d catalog/.test(printed);
      }, `"${search}" to find something`);
    }
  });

  it('publish a catalog of more than 1 MB through the service and another one as files, and find what is pushed and what is crawled', async () => {
    const { CATALOG_PORT, DISCOVERY_PORT = '' } = project.settings;
    await put('pushed.json', teas('pushed-teas', 'assam', 250));
    await put('crawled.json', teas('crawled-teas', 'sencha', 2));
    const network = '--network nfh.global/beckn-nodes';
    const asProvider = `--to http://127.0.0.1:${CATALOG_PORT} --as provider.signpost.test`;
    expect(await signpost(`publish pushed.json ${asProvider} ${network}`)).toContain('ACCEPTED');
    expect(await signpost(`publish crawled.json ${network}`)).toContain('ACCEPTED');
    await untilFound(['assam', 'sencha'], DISCOVERY_PORT, up);
  });

  describe('let a discovery service join', () => {
    const id = 'joined.example.org';
    const programs = findInstalledPostgres();
    let server: { create(name: string): Promise<string>; close(): Promise<void> };
    let joined: UpProcess | undefined;
    let port: string;
    let place: Record<string, string>;

    beforeAll(async () => {
      server = programs ? await startInstalledPostgres(programs) : await startOnTestServer();
      port = String(await freePort());
      place = { DATABASE_URL: await server.create('joined'), DATA_DIR: '.joined' };
      const { publicKey } = JSON.parse(await signpost(`keys new --id ${id} --save --json`, place));
      await signpost(
        `registry register ${id} --public-key "${publicKey}" --type DS --url http://127.0.0.1:${port} --network nfh.global/beckn-nodes`,
      );
    });
    afterAll(async () => {
      await stop(joined);
      await server?.close();
    });

    it('that pulls by download what does not fit into an answer, crawls the others, and finds both', async () => {
      joined = await serve();
      await untilFound(['assam', 'sencha'], port, joined);
    });

    it('which is backed up and restored (needs PostgreSQL of the system)', async (context) => {
      if (!programs) context.skip('needs PostgreSQL of the system');
      const PATH = `${programs}:${process.env.PATH}`;
      expect(await signpost('backup backup', { ...place, PATH })).toContain('the database, keys');
      await stop(joined);
      place = { DATABASE_URL: await server.create('restored'), DATA_DIR: '.restored' };
      expect(await signpost('restore backup', { ...place, PATH })).toContain(
        'everything is pulled from 1 feed',
      );
      joined = await serve();
      await untilFound(['assam', 'sencha'], port, joined);
    });

    async function serve(): Promise<UpProcess> {
      const { REGISTRY_PORT, CATALOG_PORT } = project.settings;
      const settings = {
        ...{ DATABASE_URL: place.DATABASE_URL ?? '', LOG_LEVEL: 'warn', ALLOW_PRIVATE_ADDRESSES: 'true' },
        ...{ DISCOVERY_ID: id, DISCOVERY_PORT: port, OPERATIONS_PORT: '0' },
        REGISTRY_URL: `http://127.0.0.1:${REGISTRY_PORT}/dedi`,
        DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl: `http://127.0.0.1:${CATALOG_PORT}` }]),
        DISCOVERY_NETWORKS: JSON.stringify(['nfh.global/beckn-nodes']),
      };
      const started = startCommand(
        ['serve', '--roles', 'discovery'],
        place.DATA_DIR ?? '',
        settings,
        inProject(),
      );
      await started.saying(`discovery  http://127.0.0.1:${port}`, patienceMs);
      return started;
    }
  });

  it('pass publint', async () => {
    expect(project.tarballs).toHaveLength(2);
    for (const tarball of project.tarballs) {
      const bytes = await readFile(tarball);
      const { messages } = await publint({
        strict: true,
        pack: {
          tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
        },
      });
      expect(messages, tarball).toEqual([]);
    }
  });

  it('have a client that needs Node and two small packages, and compiles nothing at run time', async () => {
    const folder = join(project.directory, 'node_modules', 'signpost-client');
    expect((await readdir(folder)).sort()).toEqual([
      'LICENSE',
      'NOTICE',
      'README.md',
      'dist',
      'package.json',
    ]);
    const code = await readFile(join(folder, 'dist', 'index.js'), 'utf8');
    const imported = [...code.matchAll(/^import .*?from ["']([^"']+)["']/gm)].map(([, name = '']) => name);
    expect(imported.filter((name) => !name.startsWith('node:')).sort()).toEqual(['canonicalize', 'typebox']);
    expect(/new Function|\beval\(|sourceMappingURL/.exec(code)).toBeNull();
  });

  it.each(['publish-and-discover.mjs', 'publish-and-discover.ts'])(
    'have a client that publishes to a running signpost up, and discovers from it: %s',
    async (name) => {
      const source = await readFile(join('packages', 'client', 'examples', name), 'utf8');
      await writeFile(join(project.directory, name), source);
      if (name.endsWith('.ts')) await compileStrictly(project.directory, name, { skipLibCheck: true });
      const printed = await type(`node ${name.replace(/\.ts$/, '.js')}`);
      expect(printed).toMatch(/^ACCEPTED\nfound (.+) of \1\n$/);
    },
  );

  it('have a file in Python that publishes to a running signpost up, and discovers from it (needs Python with cryptography)', async (context) => {
    const python = await run('python3', ['-c', 'import cryptography']).catch(() => undefined);
    if (!python) context.skip('needs Python with cryptography');
    const catalog = {
      id: 'python-tea',
      descriptor: { name: 'Tea' },
      provider: { id: 'tea-shop', descriptor: { name: 'Tea shop' } },
      resources: [{ id: 'lapsang', descriptor: { name: 'Lapsang Souchong' } }],
    };
    await put('tea.json', { message: { catalogs: [catalog] } });
    const { REGISTRY_PORT, CATALOG_PORT, DISCOVERY_PORT } = project.settings;
    const program = 'python3 -B node_modules/signpost/examples/python/signpost.py';
    const identity = `--as provider.signpost.test --seed .signpost/keys/provider.signpost.test.key-1.seed \
      --registry http://127.0.0.1:${REGISTRY_PORT}/dedi --callbacks http://127.0.0.1:${await freePort()}`;
    const published = await type(
      `${program} publish tea.json --to http://127.0.0.1:${CATALOG_PORT} ${identity}`,
    );
    expect(JSON.parse(published)).toMatchObject([{ catalogId: 'python-tea', status: 'ACCEPTED' }]);
    const search = `${program} discover lapsang --to http://127.0.0.1:${DISCOVERY_PORT} ${identity}`;
    // The push to the discovery service is on its way; until then, the search finds nothing and exits with 1.
    const found = await until(() => type(search).catch(() => undefined), 'the tea to be found');
    expect(found).toBe('Tea shop: Lapsang Souchong\n');
  });

  const put = (name: string, content: object) =>
    writeFile(join(project.directory, name), JSON.stringify(content));

  /** A consumer's search at the discovery service on this port. */
  async function untilFound(words: readonly string[], port: string, service?: UpProcess): Promise<void> {
    for (const word of words) {
      const search = `discover ${word} --to http://127.0.0.1:${port}`;
      const isFound = async () => /\d resources of 1 catalog/.test(await signpost(search));
      await until(isFound, `${word} to be found`).catch((error: Error) => {
        throw new Error(`${error.message}; the service said:\n${service?.said()}`);
      });
    }
  }

  /** Runs the installed command line in the folder. */
  function inProject() {
    return { command: join(project.directory, 'node_modules/.bin/signpost'), cwd: project.directory };
  }
});

/** Resources of about 5,500 bytes each. */
function teas(catalogId: string, name: string, count: number): object {
  const longDesc = 'A tea that is grown, dried and packed with great care. '.repeat(100);
  return {
    id: catalogId,
    descriptor: { name: 'Teas' },
    provider: { id: 'tea-house', descriptor: { name: 'Tea house' } },
    resources: Array.from({ length: count }, (_, number) => ({
      id: `${name}-${number}`,
      descriptor: { name: `${name} ${number}`, longDesc },
    })),
  };
}

/** If the system has no PostgreSQL. */
async function startOnTestServer() {
  const { url, drop } = await createTestDatabase();
  return { create: async () => url, close: drop };
}

async function stop(running: UpProcess | undefined): Promise<void> {
  running?.signal('SIGTERM');
  await running?.ended;
}
