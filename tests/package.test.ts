import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from './support/free-port.ts';
import { patienceMs } from './support/patience.ts';
import { until } from './support/time.ts';
import { freePorts, makeDataDir, startUp, type UpProcess } from './support/up-process.ts';

// The packages as somebody installs them, in an empty folder: packed and installed by npm. Their dependencies are links to those that are installed
// here, so that no registry is asked. What README.md says of the installed package (`npx signpost up`) is done here.

const run = promisify(execFile);

describe('the packed packages', () => {
  let home: Awaited<ReturnType<typeof makeDataDir>>;
  let project: string;
  let installed: string;
  let tarballs: string[];
  let environment: Record<string, string>;
  let signpost: UpProcess | undefined;

  beforeAll(async () => {
    home = await makeDataDir();
    project = join(await realpath(home.dataDir), 'my project');
    await mkdir(project);
    installed = join(project, 'node_modules', 'signpost');
    environment = { ...(await freePorts()), LOG_LEVEL: 'warn', npm_config_offline: 'true' };
    // Built already, as for all tests; prepack would build, and install, in the midst of them.
    await run('npm', [
      'pack',
      '--ignore-scripts',
      '--include-workspace-root',
      '--workspaces',
      '--pack-destination',
      project,
    ]);
    tarballs = (await readdir(project)).map((name) => join(project, name));
    const overrides = {
      signpost: await linkDependencies('package.json'),
      'signpost-client': await linkDependencies('packages/client/package.json'),
    };
    await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module', overrides }));
    await run('npm', ['install', '--ignore-scripts', ...tarballs], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    });
  });
  afterAll(async () => {
    signpost?.signal('SIGTERM');
    await signpost?.ended;
    await home?.remove();
  });

  it('has examples, documents and the list of settings', async () => {
    const files = await readdir(installed);
    expect(files).toEqual(
      expect.arrayContaining(['.env.example', 'README.md', 'docs', 'examples', 'LICENSE']),
    );
    expect(await readdir(join(installed, 'examples'))).toEqual(await readdir('examples'));
    expect(await readdir(join(installed, 'docs'))).toEqual(await readdir('docs'));
  });

  it('has a module of Python that holds against the vectors beside it (needs Python with cryptography)', async (context) => {
    const python = await run('python3', ['-c', 'import cryptography']).catch(() => undefined);
    if (!python) context.skip('needs Python with cryptography');
    const { stderr } = await run('python3', ['-B', '-m', 'unittest'], {
      cwd: join(installed, 'examples', 'python'),
    });
    expect(stderr).toContain('OK');
  });

  it('has built files alone in dist, and none names a source map', async () => {
    const files = (await readdir(join(installed, 'dist'), { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile(),
    );
    const isPage = ({ parentPath }: { parentPath: string }) =>
      parentPath.startsWith(join(installed, 'dist', 'web'));
    expect(files.filter((entry) => !entry.name.endsWith('.js') && !isPage(entry))).toEqual([]);
    expect(files.filter(isPage).map(({ name }) => name)).toContain('index.html');
    for (const { parentPath, name } of files)
      expect(await readFile(join(parentPath, name), 'utf8'), name).not.toContain('sourceMappingURL');
  });

  it('starts everything with signpost up, and each command that this suggests works as it is printed', async () => {
    const dataDir = join(project, '.signpost');
    await mkdir(dataDir, { recursive: true });
    await chmod(dataDir, 0o755);
    signpost = startUp('.signpost', environment, {
      command: join(project, 'node_modules/.bin/signpost'),
      cwd: project,
    });
    const banner = await signpost.saying('Ctrl-C stops everything.', patienceMs);
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

  it('pass publint, and the types of the client those who import it', async () => {
    expect(tarballs).toHaveLength(2);
    for (const tarball of tarballs) {
      const bytes = await readFile(tarball);
      const { messages } = await publint({
        strict: true,
        pack: {
          tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
        },
      });
      expect(messages, tarball).toEqual([]);
    }
    const client = tarballs.find((name) => name.includes('client')) ?? '';
    // Ends with 1, and run throws, where there is a problem. It is ESM alone: require() of it is none.
    await run('node_modules/.bin/attw', ['--profile', 'esm-only', client]);
  });

  it('have a client that needs Node and two small packages, and compiles nothing at run time', async () => {
    const folder = join(project, 'node_modules', 'signpost-client');
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
      await writeFile(join(project, name), source);
      if (name.endsWith('.ts')) await compile(name);
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
    await writeFile(join(project, 'tea.json'), JSON.stringify({ message: { catalogs: [catalog] } }));
    const { REGISTRY_PORT, CATALOG_PORT, DISCOVERY_PORT } = environment;
    const program = 'python3 -B node_modules/signpost/examples/python/signpost.py';
    const identity = `--as provider.signpost.test --seed .signpost/keys/provider.signpost.test.key-1.seed \
      --registry http://127.0.0.1:${REGISTRY_PORT}/dedi --callbacks http://127.0.0.1:${await freePort()}`;
    const published = await type(
      `${program} publish tea.json --to http://127.0.0.1:${CATALOG_PORT} ${identity}`,
    );
    expect(JSON.parse(published)).toMatchObject([{ catalogId: 'python-tea', status: 'ACCEPTED' }]);
    const search = `${program} discover lapsang --to http://127.0.0.1:${DISCOVERY_PORT} ${identity}`;
    // The push to the discovery service is on its way; until then nothing is found, which ends with 1.
    const found = await until(() => type(search).catch(() => undefined), 'the tea to be found');
    expect(found).toBe('Tea shop: Lapsang Souchong\n');
  });

  /** As strictly as TypeScript can, the declarations of the package included. */
  async function compile(file: string): Promise<void> {
    const compilerOptions = {
      ...{ target: 'es2023', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true },
      ...{ noUncheckedIndexedAccess: true, types: ['node'], typeRoots: [resolve('node_modules/@types')] },
    };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
    await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', project]);
  }

  /** In another terminal, in the same folder. */
  async function type(line: string): Promise<string> {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
    const { stdout } = await run('sh', ['-c', line], { cwd: project, env });
    return stdout;
  }
});

/** Each dependency of a package as a link to the installed one. */
async function linkDependencies(file: string): Promise<Record<string, string>> {
  const { dependencies } = JSON.parse(await readFile(file, 'utf8'));
  return Object.fromEntries(
    Object.keys(dependencies).map((name) => [name, `file:${resolve('node_modules', name)}`]),
  );
}
