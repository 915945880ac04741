import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from './support/time.ts';
import { freePorts, makeDataDir, startUp, type UpProcess } from './support/up-process.ts';

// The package as somebody installs it, in an empty folder: packed and installed by npm. Its dependencies are links to those that are installed
// here, so that no registry is asked.

const run = promisify(execFile);

describe('the packed package', () => {
  let home: Awaited<ReturnType<typeof makeDataDir>>;
  let project: string;
  let installed: string;
  let environment: Record<string, string>;
  let signpost: UpProcess | undefined;

  beforeAll(async () => {
    home = await makeDataDir();
    project = join(await realpath(home.dataDir), 'my project');
    await mkdir(project);
    installed = join(project, 'node_modules', 'signpost');
    environment = { ...(await freePorts()), LOG_LEVEL: 'warn', npm_config_offline: 'true' };
    // Built already, as for all tests; prepack would build, and install, in the midst of them.
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', project]);
    const { dependencies, version } = JSON.parse(await readFile('package.json', 'utf8'));
    const linked = Object.keys(dependencies).map((name) => [name, `file:${resolve('node_modules', name)}`]);
    await writeFile(
      join(project, 'package.json'),
      JSON.stringify({ overrides: { signpost: Object.fromEntries(linked) } }),
    );
    await run('npm', ['install', '--ignore-scripts', `./signpost-${version}.tgz`], {
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
    await mkdir(dataDir);
    await chmod(dataDir, 0o755);
    signpost = startUp('.signpost', environment, {
      command: join(project, 'node_modules/.bin/signpost'),
      cwd: project,
    });
    const banner = await signpost.saying('Ctrl-C stops everything.');
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

  /** In another terminal, in the same folder. */
  async function type(line: string): Promise<string> {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
    const { stdout } = await run('sh', ['-c', line], { cwd: project, env });
    return stdout;
  }
});
