import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import config from '../../vitest.config.ts';
import build from '../support/fresh-build.ts';

// The first step of `npm start`, `npm test` and others in a new clone: the script itself, in a small project that needs no registry.

const run = promisify(execFile);
const builders = { typescript: 'file:packages/typescript', vite: 'file:packages/vite' };

interface Locked {
  version?: string;
  resolved?: string;
  link?: boolean;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

describe('set-up', () => {
  let project: string;
  const put = async (path: string, content: string) => {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), content);
  };
  const npm = (...args: string[]) => run('npm', args, { cwd: project, env: offline });
  const setUp = () => run(process.execPath, ['scripts/set-up.mjs'], { cwd: project, env: offline });
  const offline = { ...process.env, npm_config_offline: 'true' };

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), 'signpost-set-up-'));
    const compiler = resolve('node_modules/typescript/bin/tsc');
    await put('packages/typescript/package.json', '{"name":"typescript","version":"1.0.0"}');
    await put('packages/typescript/bin/tsc', `import(${JSON.stringify(compiler)});`);
    // Install scripts are not run: this one would fail.
    await put(
      'packages/vite/package.json',
      '{"name":"vite","version":"1.0.0","scripts":{"install":"exit 1"}}',
    );
    await put('packages/vite/bin/vite.js', '');
    await put('packages/colour/package.json', '{"name":"colour","version":"1.0.0"}');
    await put('package.json', JSON.stringify({ dependencies: builders }));
    await put('tsconfig.json', '{"compilerOptions":{"outDir":"dist","rootDir":"src"},"include":["src"]}');
    await put('web/index.html', '');
    await put('build/vite.config.ts', '');
    await put('packages/client/package.json', '{"name":"client","version":"1.0.0"}');
    await put('packages/client/tsconfig.json', '{"extends":"../../tsconfig.json","include":["../../src"]}');
    await put('src/cli/main.ts', 'export const answer: number = 42;\n');
    await mkdir(join(project, 'scripts'));
    await copyFile('scripts/set-up.mjs', join(project, 'scripts/set-up.mjs'));
    await npm('install', '--package-lock-only');
  });
  afterEach(() => rm(project, { recursive: true, force: true }));

  it('installs what the lock file says, builds, and does neither again while nothing changed', async () => {
    const first = await setUp();
    expect(first.stdout.trim().split('\n')).toEqual([
      'signpost: installing dependencies (first run, about half a minute) …',
      'signpost: building …',
    ]);
    expect(await readFile(join(project, 'dist/cli/main.js'), 'utf8')).toContain('answer = 42');
    expect(await setUp()).toEqual({ stdout: '', stderr: '' });
  });

  it('builds as `npm run build` does, which leaves nothing of a removed source and no more to build', async () => {
    await put('src/old.ts', 'export const old = true;\n');
    await setUp();
    await rm(join(project, 'src/old.ts'));
    await put('src/cli/main.ts', 'export const answer: number = 43;\n');
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    await put('package.json', JSON.stringify({ dependencies: builders, scripts }));
    await npm('run', 'build');
    expect(await readdir(join(project, 'dist'))).not.toContain('old.js');
    expect(await readFile(join(project, 'dist/cli/main.js'), 'utf8')).toContain('answer = 43');
    expect((await setUp()).stdout).not.toContain('building');
  });

  it('is done before tests run, so that none runs on a build of older sources', async () => {
    await setUp();
    await put('src/cli/main.ts', 'export const answer: number = 44;\n');
    build({ config: { root: project } });
    expect(await readFile(join(project, 'dist/cli/main.js'), 'utf8')).toContain('answer = 44');
    expect(config.test?.projects).toHaveLength(3);
    for (const each of config.test?.projects ?? [])
      expect(each).toMatchObject({
        test: { globalSetup: expect.arrayContaining(['tests/support/fresh-build.ts']) },
      });
  });

  it('installs all the same when npm ci refuses the lock file, and says so in one line', async () => {
    const dependencies = { ...builders, colour: 'file:packages/colour' };
    await put('package.json', JSON.stringify({ dependencies }));
    const lockFile = await readFile(join(project, 'package-lock.json'), 'utf8');
    const { stdout, stderr } = await setUp();
    expect(stdout).toContain('signpost: npm ci refuses package-lock.json;');
    expect(stdout + stderr).not.toContain('npm error');
    expect(await readFile(join(project, 'node_modules/colour/package.json'), 'utf8')).toContain('colour');
    expect(await readFile(join(project, 'package-lock.json'), 'utf8')).toBe(lockFile);
  });

  it('shows why npm ci failed when that is not the fault of the lock file, and installs nothing else', async () => {
    await put('package.json', JSON.stringify({ dependencies: { nowhere: '1.0.0' } }));
    const locked = { version: '1.0.0', integrity: `sha512-${Buffer.alloc(64).toString('base64')}` };
    const packages = { '': { dependencies: { nowhere: '1.0.0' } }, 'node_modules/nowhere': locked };
    await put('package-lock.json', JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
    const failure = await setUp().catch((error) => error);
    expect(failure.code).not.toBe(0);
    expect(failure.stderr).toContain('ENOTCACHED');
    expect(failure.stderr).toContain('signpost: "npm ci" failed');
  });
});

describe.each(['package-lock.json', 'site/package-lock.json'])('%s', async (lockFile) => {
  const packages: Record<string, Locked> = JSON.parse(await readFile(lockFile, 'utf8')).packages;

  it('has every package that another one names, for every platform: npm ci refuses it otherwise', () => {
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !placesSeenFrom(path).some((place) => `${place}node_modules/${name}` in packages))
        .map((name) => `${path} needs ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('has the digest of every package, but for optional ones that only build', () => {
    const without = Object.entries(packages).filter(
      ([path, { link, integrity }]) => path.includes('node_modules/') && !link && integrity === undefined,
    );
    expect(without.filter(([, { dev, optional }]) => !(dev && optional))).toEqual([]);
  });

  it('names no address to install from', () => {
    // A workspace is a link into this project.
    const resolved = Object.values(packages).filter(
      (locked) => !locked.link && locked.resolved !== undefined,
    );
    expect(resolved).toEqual([]);
  });
});

/** The folders whose node_modules a package finds its dependencies in. */
function placesSeenFrom(path: string): string[] {
  const steps = path.split(/(?<=\/)(?=node_modules\/)/);
  return [
    '',
    ...steps.map(
      (_, count) =>
        `${steps
          .slice(0, count + 1)
          .join('')
          .replace(/\/$/, '')}/`,
    ),
  ];
}
