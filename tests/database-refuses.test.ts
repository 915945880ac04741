import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { appendFile, chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { actions } from '../src/protocol/actions.ts';
import type { Actor, Exchange } from './support/actor.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { startNetwork, type TestNetwork } from './support/network.ts';
import { publish } from './support/publish.ts';
import { catalog, plain } from './support/sample-catalogs.ts';
import { until } from './support/time.ts';

// A database that is there and takes no writes: nobody's fault, and passing. What cannot be stored is refused as such, what only reads goes on.

let network: TestNetwork | undefined;
let cleanUp: (() => Promise<void>) | undefined;

afterEach(async () => {
  await network?.close();
  await cleanUp?.();
  network = cleanUp = undefined;
});

describe('a database that is read-only', () => {
  it('NET_DOWNSTREAM_UNAVAILABLE: a publish is refused with Retry-After, a search is answered, and /ready names the reason', async () => {
    network = await startNetwork();
    const provider = await network.actor('provider');
    expect(await publish(provider, catalog('before'))).toMatchObject({ status: 'ACCEPTED' });
    await setReadOnly('on');
    const refused = await until(async () => {
      const answer = await submit(provider, 'meanwhile');
      return answer.status === 200 ? undefined : answer;
    }, 'the sessions to be new ones');
    expectUnavailable(refused, 'The database is read-only at present; try again later.');
    expect(await readiness()).toMatchObject({
      status: 503,
      body: { ready: false, roles: { catalog: { problem: expect.stringContaining('read-only') } } },
    });
    const { status, body } = await provider.send(actions.search, { filters: { type: 'REGULAR' } });
    expect([status, body.message.catalogs.length > 0]).toEqual([200, true]);
    await setReadOnly('off');
    await until(async () => (await readiness()).status === 200, 'the service to be ready again');
    expect(await publish(provider, catalog('afterwards'))).toMatchObject({ status: 'ACCEPTED' });
  });
});

/** CAP_SYS_ADMIN: root in a container often may not mount. A server elsewhere has a disk elsewhere. */
const mayMount =
  process.platform === 'linux' &&
  (BigInt(`0x${/CapEff:\s*(\w+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0}`) >> 21n) % 2n ===
    1n &&
  process.env.DATABASE_URL === undefined;

describe('a database whose disk is full (needs root that may mount one)', () => {
  it.runIf(mayMount)(
    'NET_DOWNSTREAM_UNAVAILABLE: a publish is refused with Retry-After, a search is answered, and /ready names the reason until there is space',
    async () => {
      const { database, fill, empty } = await createDatabaseOnSmallDisk();
      network = await startNetwork({ database });
      const provider = await network.actor('provider');
      expect(await publish(provider, catalog('before'))).toMatchObject({ status: 'ACCEPTED' });
      await fill();
      const refused = await until(async () => {
        const answer = await submit(provider, 'meanwhile');
        return answer.status === 200 ? undefined : answer;
      }, 'the space that the database has in hand to be used up');
      expectUnavailable(refused, 'The database has no space left on its disk at present; try again later.');
      expect(await readiness()).toMatchObject({
        status: 503,
        body: { ready: false, roles: { catalog: { problem: expect.stringContaining('no space left') } } },
      });
      expect((await provider.send(actions.search, { filters: { type: 'REGULAR' } })).status).toBe(200);
      await empty();
      await until(async () => (await readiness()).status === 200, 'the service to be ready again');
      expect(await publish(provider, catalog('afterwards'))).toMatchObject({ status: 'ACCEPTED' });
    },
  );
});

let submitted = 0;

/** Large enough to need space of its own. */
function submit(as: Actor, id: string): Promise<Exchange> {
  submitted += 1;
  return as.send(actions.publish, {
    catalogs: [catalog(`${id}-${submitted}`, { resources: [plain('large', 'x'.repeat(400_000))] })],
  });
}

function expectUnavailable({ status, body, headers }: Exchange, message: string): void {
  expect({ status, error: body.message.error }).toMatchObject({
    status: 503,
    error: { code: 'NET_DOWNSTREAM_UNAVAILABLE', message },
  });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

async function readiness(): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${network?.catalogUrl}/ready`);
  return { status: answer.status, body: await answer.json() };
}

/** For new sessions; the open ones are ended. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const name = new URL(network?.databaseUrl ?? '').pathname.slice(1);
  await asAdmin(
    `alter database ${name} set default_transaction_read_only = ${value}`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}

interface SmallDisk {
  database: TestDatabase;
  fill(): Promise<void>;
  empty(): Promise<void>;
}

async function createDatabaseOnSmallDisk(): Promise<SmallDisk> {
  const run = promisify(execFile);
  const disk = await mkdtemp(join(tmpdir(), 'signpost-small-disk-'));
  const filler = join(disk, 'filler');
  const tablespace = `small_${process.pid}`;
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
  cleanUp = async () => {
    await asAdmin(`drop tablespace ${tablespace}`);
    await run('umount', [disk]);
    await rm(disk, { recursive: true });
  };
  const piece = Buffer.alloc(64 * 1024);
  return {
    database,
    async fill() {
      for (let full = false; !full; )
        await appendFile(filler, piece).catch(() => {
          full = true;
        });
    },
    empty: () => rm(filler),
  };
}

async function asAdmin(...statements: string[]): Promise<Record<string, string>[]> {
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
