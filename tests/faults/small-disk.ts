import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { appendFile, chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { inject } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';

/** CAP_SYS_ADMIN: root in a container often may not mount. A remote server uses a disk elsewhere. */
export const mayMount =
  process.platform === 'linux' &&
  (BigInt(`0x${/CapEff:\s*(\w+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0}`) >> 21n) % 2n ===
    1n &&
  process.env.DATABASE_URL === undefined;

export interface SmallDisk {
  /** Drops the disk, too. */
  database: TestDatabase;
  fill(): Promise<void>;
  empty(): Promise<void>;
}

export async function createDatabaseOnSmallDisk(): Promise<SmallDisk> {
  const run = promisify(execFile);
  const disk = await mkdtemp(join(tmpdir(), 'signpost-small-disk-'));
  const filler = join(disk, 'filler');
  const tablespace = `small_${process.pid}_${Date.now()}`;
  await run('mount', ['-t', 'tmpfs', '-o', 'size=96m,mode=700', 'tmpfs', disk]);
  const [{ data_directory: dataDirectory = '' } = {}] = await asAdmin('show data_directory');
  const { uid, gid } = await stat(dataDirectory);
  await chown(disk, uid, gid);
  await run('mkdir', [join(disk, 'data')]);
  await chown(join(disk, 'data'), uid, gid);
  const database = await createTestDatabase();
  await asAdmin(
    `create tablespace ${tablespace} location '${join(disk, 'data')}'`,
    `alter database ${new URL(database.url).pathname.slice(1)} set tablespace ${tablespace}`,
  );
  const piece = Buffer.alloc(64 * 1024);
  return {
    database: {
      url: database.url,
      async drop() {
        await database.drop();
        await asAdmin(`drop tablespace ${tablespace}`);
        await run('umount', [disk]);
        await rm(disk, { recursive: true });
      },
    },
    async fill() {
      for (let full = false; !full; )
        await appendFile(filler, piece).catch(() => {
          full = true;
        });
    },
    empty: () => rm(filler),
  };
}

export async function asAdmin(...statements: string[]): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') });
  await client.connect();
  let rows: Record<string, string>[] = [];
  try {
    for (const statement of statements) ({ rows } = await client.query(statement));
  } finally {
    await client.end();
  }
  return rows;
}
