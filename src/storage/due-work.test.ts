import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { silentLogger } from '../logger.ts';
import type { GroupChoice } from './claim-due.ts';
import { type Database, openDatabase } from './database.ts';
import {
  type Claim,
  claimDue,
  LeaseLost,
  settle,
  startWorkLoop,
  type WorkLoop,
  type WorkLoopOptions,
} from './due-work.ts';
import { renew } from './leases.ts';

const table = 'public.job';
const logger = silentLogger();
let home: TestDatabase;
let database: Database;
const loops: WorkLoop[] = [];

beforeAll(async () => {
  home = await createTestDatabase();
  database = await openDatabase({ url: home.url, logger });
  await database.query(`
    create table job (
      id bigint generated always as identity primary key,
      receiver text not null default 'r',
      result text,
      due_at timestamptz,
      lease_token uuid,
      leased_until timestamptz,
      attempts int not null default 0
    )`);
  await database.query('create index on job (receiver, due_at) where due_at is not null');
});

beforeEach(async () => {
  await database.query('truncate job');
});

afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.close()));
});

afterAll(async () => {
  await database.close();
  await home.drop();
});

describe('a claim', () => {
  it('takes the rows that are due, the longest due first, and no others', async () => {
    const [late, early] = [await addJob('-1 s'), await addJob('-2 s')];
    await addJob('1 hour');
    await addJob(null);
    expect((await claimDue(database, table, { limit: 1 })).map(({ id }) => id)).toEqual([early]);
    expect((await claimDue(database, table, { limit: 9 })).map(({ id }) => id)).toEqual([late]);
    expect(await claimDue(database, table, { limit: 9 })).toEqual([]);
  });

  it('gives the columns that were asked for, and counts the attempt', async () => {
    await addJob('-1 s', 'somebody');
    const [claim] = await claimDue(database, table, {
      limit: 1,
      columns: ['receiver'],
      where: { receiver: 'somebody' },
    });
    expect(claim).toMatchObject({ attempts: 1, row: { receiver: 'somebody' } });
    expect(Object.keys(claim?.row ?? {})).toEqual(['receiver']);
  });

  it('never gives one row to two, however many claim at once', async () => {
    for (let count = 0; count < 60; count++) await addJob('-1 s');
    const claims = await Promise.all(
      Array.from({ length: 20 }, () => claimDue(database, table, { limit: 5 })),
    );
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is free for others when its lease has ended, and then cannot write any more', async () => {
    await addJob('-1 s');
    const [dead] = await claimDue(database, table, { limit: 1, leaseMs: 1_000 });
    expect(await claimDue(database, table, { limit: 1 })).toEqual([]);
    await delay(1_010);
    const [heir] = await claimDue(database, table, { limit: 1 });
    expect(heir).toMatchObject({ id: dead?.id, attempts: 2 });
    await expect(finish(dead, 'from the dead')).rejects.toThrow(LeaseLost);
    await finish(heir, 'from the heir');
    expect(await jobs()).toMatchObject([{ result: 'from the heir', due_at: null, lease_token: null }]);
  });

  it('is prolonged by a renewal', async () => {
    await addJob('-1 s');
    const claims = await claimDue(database, table, { limit: 1, leaseMs: 50 });
    expect((await renew(database, table, claims, 5000)).size).toBe(1);
    await delay(60);
    expect(await claimDue(database, table, { limit: 1 })).toEqual([]);
  });
});

describe('work that is found while a row is leased', () => {
  it.each(['now()', 'least(due_at, now())'])(
    'is not lost when the row is settled (due_at = %s)',
    async (due) => {
      await addJob('-1 s');
      const [claim] = await claimDue(database, table, { limit: 1 });
      await database.query(`update job set due_at = ${due}`);
      expect(await claimDue(database, table, { limit: 1 })).toEqual([]);
      await renew(database, table, claim ? [claim] : [], 20_000);
      await finish(claim, 'first');
      expect(await claimDue(database, table, { limit: 1 })).toHaveLength(1);
    },
  );

  it('does not keep a settled row busy when there was none', async () => {
    await addJob('-1 s');
    const [claim] = await claimDue(database, table, { limit: 1 });
    await renew(database, table, claim ? [claim] : [], 20_000);
    await finish(claim, 'first');
    expect(await jobs()).toMatchObject([{ due_at: null }]);
  });
});

describe('a limit per group', () => {
  it('holds over all processes at every moment', async () => {
    for (let count = 0; count < 40; count++) await addJob('-1 s', `receiver ${count % 4}`);
    const inWork = new Map<string, number>();
    let most = 0;
    const handle = async (claim: Claim<Job>) => {
      const { receiver } = claim.row;
      inWork.set(receiver, (inWork.get(receiver) ?? 0) + 1);
      most = Math.max(most, ...inWork.values());
      await delay(10);
      inWork.set(receiver, (inWork.get(receiver) ?? 0) - 1);
      await finish(claim, 'done');
    };
    for (let process = 0; process < 3; process++)
      work({ handle, perGroup: { column: 'receiver', limit: 2 }, pollMs: 50 });
    await until(async () => (await jobs()).every(({ result }) => result === 'done'));
    expect(most).toBe(2);
  });

  it.each([20, 500])('lets nobody wait for a group that is busy and has %i rows waiting', async (waiting) => {
    await database.query(
      "insert into job (receiver, due_at) select 'busy', now() - interval '10 s' from generate_series(1, $1)",
      [waiting],
    );
    await addJob('-1 s', 'idle');
    const options = { limit: 10, perGroup: { column: 'receiver', limit: 4 } };
    const first = await claimDue<Job>(database, table, options);
    expect(first.map(({ row }) => row.receiver).sort()).toEqual(['busy', 'busy', 'busy', 'busy', 'idle']);
    expect(await claimDue(database, table, options)).toEqual([]);
    await finish(
      first.find(({ row }) => row.receiver === 'busy'),
      'done',
    );
    expect(await claimDue(database, table, options)).toHaveLength(1);
  });
});

describe('a choice of groups', () => {
  it.each([0, 500])('is all that is claimed from, with %i rows of others waiting', async (waiting) => {
    await database.query(
      "insert into job (receiver, due_at) select 'slow', now() - interval '10 s' from generate_series(1, $1)",
      [waiting],
    );
    for (const receiver of ['slow', 'quick', 'quick', 'other']) await addJob('-1 s', receiver);
    const claimed = async (groups: GroupChoice) => {
      const perGroup = { column: 'receiver', limit: 1 };
      const claims = await claimDue<Job>(database, table, { limit: 10, perGroup, groups });
      return claims.map(({ row }) => row.receiver).sort();
    };
    expect(await claimed({ except: ['slow', 'nobody'] })).toEqual(['other', 'quick']);
    expect(await claimed({ only: ['slow'] })).toEqual(['slow']);
    expect(await claimed({ except: [] })).toEqual([]);
  });
});

describe('the loop', () => {
  it('gives the places of handlers that step aside to others, as many as it may', async () => {
    for (let count = 0; count < 10; count++) await addJob('-1 s');
    let begun = 0;
    work({
      concurrency: 2,
      aside: 3,
      finishMs: 0,
      pollMs: 60_000,
      handle: async (_claim, signal, stepAside) => {
        begun += 1;
        setTimeout(stepAside, 5);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    await until(async () => begun === 5);
    await delay(50);
    expect(begun).toBe(5);
  });

  it('wakes by a hint', async () => {
    work({ handle: (claim) => finish(claim, 'done'), pollMs: 60_000 });
    await delay(50);
    await database.transaction(async (tx) => {
      await tx.query('insert into job (due_at) values (now())');
      tx.hint('jobs');
    });
    await until(async () => (await jobs())[0]?.result === 'done');
  });

  it('wakes when a row becomes due', async () => {
    await addJob('100 ms');
    work({ handle: (claim) => finish(claim, 'done'), pollMs: 60_000 });
    await until(async () => (await jobs())[0]?.result === 'done');
  });

  it('finds by itself what no hint told of', async () => {
    work({ handle: (claim) => finish(claim, 'done'), pollMs: 50 });
    await delay(80);
    await addJob('-1 s');
    await until(async () => (await jobs())[0]?.result === 'done');
  });

  it('keeps its places filled, and takes no more than it has', async () => {
    for (let count = 0; count < 200; count++) await addJob('-1 s');
    let [now, most] = [0, 0];
    work({
      concurrency: 7,
      pollMs: 60_000,
      handle: async (claim) => {
        most = Math.max(most, ++now);
        await finish(claim, 'done');
        now--;
      },
    });
    await until(async () => (await jobs()).every(({ result }) => result === 'done'));
    expect(most).toBe(7);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('bug'))],
    ['forgets to settle', () => Promise.resolve()],
  ])('tries again, after a pause, when a handler %s', async (_, fault) => {
    await addJob('-1 s');
    const attempts: number[] = [];
    work({ handle: (claim) => (attempts.push(claim.attempts) < 2 ? fault() : finish(claim, 'done')) });
    await until(async () => (await jobs())[0]?.result === 'done');
    expect(attempts).toEqual([1, 2]);
  });

  it('keeps the lease of work that takes longer than a lease', async () => {
    await addJob('-1 s');
    let handled = 0;
    const handle = async (claim: Claim<Job>) => {
      handled++;
      await delay(2_200);
      await finish(claim, 'done');
    };
    for (let process = 0; process < 2; process++) work({ handle, leaseMs: 1_000, pollMs: 20 });
    await until(async () => (await jobs())[0]?.result === 'done');
    expect(handled).toBe(1);
  });

  it('tells a handler when its lease was lost', async () => {
    await addJob('-1 s');
    const lost = new Promise<unknown>((resolve) => {
      work({
        leaseMs: 200,
        handle: async (claim, signal) => {
          await database.query('update job set lease_token = gen_random_uuid()');
          await new Promise((end) => signal.addEventListener('abort', end));
          resolve(signal.reason);
          await finish(claim, 'too late');
        },
      });
    });
    expect(await lost).toBeInstanceOf(LeaseLost);
    expect((await jobs())[0]?.result).toBeNull();
  });
});

describe('closing the loop', () => {
  it('lets handlers finish', async () => {
    await addJob('-1 s');
    let started = false;
    const loop = work({
      handle: async (claim) => {
        started = true;
        await delay(150);
        await finish(claim, 'done');
      },
    });
    await until(() => started);
    await loop.close();
    expect(await jobs()).toMatchObject([{ result: 'done', lease_token: null }]);
  });

  it('stops those that take too long, and gives back their rows, due at once and as if never tried', async () => {
    await addJob('-1 s');
    await addJob('-1 s');
    let started = 0;
    const loop = work({
      finishMs: 100,
      abortMs: 100,
      handle: async ({ id }, signal) => {
        started++;
        // One listens to the signal, the other one never ends.
        await new Promise(
          (_, reject) => id % 2 === 0 && signal.addEventListener('abort', () => reject(signal.reason)),
        );
      },
    });
    await until(() => started === 2);
    await loop.close();
    expect(await claimDue(database, table, { limit: 9 })).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
  });
});

describe('a process killed with kill -9', () => {
  it('loses its rows when their leases end, and another one does the work', async () => {
    await addJob('-1 s');
    const child = spawn(process.execPath, ['--input-type=module', '-e', victim], {
      env: { ...process.env, DATABASE_URL: home.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    expect(String(line)).toContain('working');
    child.kill('SIGKILL');
    const killedAt = Date.now();
    work({ handle: (claim) => finish(claim, `attempt ${claim.attempts}`), pollMs: 60_000 });
    await until(async () => (await jobs())[0]?.result === 'attempt 2');
    expect(Date.now() - killedAt).toBeLessThan(4000);
  });
});

const victim = `
  import { silentLogger } from '${new URL('../../dist/logger.js', import.meta.url)}';
  import { openDatabase } from '${new URL('../../dist/storage/database.js', import.meta.url)}';
  import { startWorkLoop } from '${new URL('../../dist/storage/due-work.js', import.meta.url)}';
  const logger = silentLogger();
  const database = await openDatabase({ url: process.env.DATABASE_URL, logger });
  startWorkLoop({
    database, logger, table: '${table}', channel: 'jobs', concurrency: 1, leaseMs: 2000,
    handle: () => { console.log('working'); return new Promise(() => {}); },
  });
`;

interface Job {
  id: number;
  receiver: string;
  result: string | null;
  due_at: Date | null;
  lease_token: string | null;
}

function work(options: Partial<WorkLoopOptions<Job>> & Pick<WorkLoopOptions<Job>, 'handle'>): WorkLoop {
  const loop = startWorkLoop<Job>({ database, table, channel: 'jobs', concurrency: 5, logger, ...options });
  loops.push(loop);
  return loop;
}

async function addJob(dueIn: string | null, receiver = 'r'): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    'insert into job (due_at, receiver) values (now() + $1::interval, $2) returning id',
    [dueIn, receiver],
  );
  return rows[0]?.id ?? 0;
}

async function jobs(): Promise<Job[]> {
  return (await database.query<Job>('select * from job order by id')).rows;
}

async function finish(claim: Claim<unknown> | undefined, result: string): Promise<void> {
  if (!claim) throw new Error('nothing was claimed');
  await database.transaction((tx) => settle(tx, table, claim, { dueAt: null, set: { result } }));
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 8000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not happen within 8 s');
    await delay(10);
  }
}
