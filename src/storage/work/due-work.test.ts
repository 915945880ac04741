import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { claimDue } from '../../../tests/support/database/claim-due.ts';
import {
  counting,
  insertLeased,
  type Job,
  jobTable,
  until,
  useJobs,
} from '../../../tests/support/database/jobs.ts';
import { patienceMs } from '../../../tests/support/patience.ts';
import { takeTime, watchFor } from '../../../tests/support/time.ts';
import { type Claim, LeaseLost } from './due-work.ts';

const jobs = useJobs();

describe('a limit per group', () => {
  it('holds over all processes at every moment', async () => {
    for (let count = 0; count < 40; count++) await jobs.add('-1 s', `receiver ${count % 4}`);
    const inWork = new Map<string, number>();
    let most = 0;
    const handle = async (claim: Claim<Job>) => {
      const { receiver } = claim.row;
      inWork.set(receiver, (inWork.get(receiver) ?? 0) + 1);
      most = Math.max(most, ...inWork.values());
      await takeTime(10);
      inWork.set(receiver, (inWork.get(receiver) ?? 0) - 1);
      await jobs.finish(claim, 'done');
    };
    for (let process = 0; process < 3; process++)
      jobs.work({ handle, perGroup: { column: 'receiver', limit: 2 }, pollMs: 50 });
    await until(jobs.areDone);
    expect(most).toBe(2);
  });
});

describe('the loop', () => {
  it('gives the slots of handlers that step aside to others, as many as it may', async () => {
    for (let count = 0; count < 10; count++) await jobs.add('-1 s');
    let begun = 0;
    jobs.work({
      concurrency: 2,
      aside: 3,
      finishMs: 0,
      pollMs: 60_000,
      handle: async (_claim, signal, { stepAside }) => {
        begun += 1;
        void takeTime(5).then(stepAside);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    await until(async () => begun === 5);
    await watchFor(50);
    expect(begun).toBe(5);
  });

  /** Returns after the loop has looked for work and found none. */
  async function workAndLook(options: { pollMs: number }): Promise<void> {
    const { counted, statements } = counting(jobs.database);
    jobs.work({ ...options, database: counted, handle: (claim) => jobs.finish(claim, 'done') });
    await until(() => statements.length >= 3, 'the loop to look');
  }

  it('works at once on a row that is due further ahead than any waits, and leaves the others', async () => {
    for (const dueIn of ['25 hours', '23 hours']) await jobs.add(dueIn);
    jobs.work({ handle: (claim) => jobs.finish(claim, 'done'), pollMs: 60_000 });
    await until(async () => (await jobs.all()).some(({ result }) => result === 'done'), 'one to be done');
    expect((await jobs.all()).map(({ result }) => result)).toEqual(['done', null]);
  });

  it('cuts a lease that lasts longer than any can, as one of a dead process after the clock was set back', async () => {
    const id = await jobs.add('-1 s');
    await claimDue(jobs.database, jobTable, { limit: 1 });
    await jobs.database.query(
      "update job set leased_until = leased_until + interval '2 hours', due_at = due_at + interval '2 hours'",
    );
    jobs.work({ handle: (claim) => jobs.finish(claim, 'done'), pollMs: 60_000 });
    const left = async () => {
      const { rows } = await jobs.database.query<{ seconds: number }>(
        'select extract(epoch from least(leased_until, due_at) - now())::float8 as seconds from job where id = $1',
        [id],
      );
      return rows[0]?.seconds ?? 0;
    };
    await until(async () => (await left()) <= 20, 'the lease to be cut');
    expect(await left()).toBeGreaterThan(0);
  });

  it('wakes by a hint', async () => {
    await workAndLook({ pollMs: 60_000 });
    await jobs.database.transaction(async (tx) => {
      await tx.query('insert into job (due_at) values (now())');
      tx.hint(jobTable);
    });
    await until(async () => (await jobs.all())[0]?.result === 'done');
  });

  it('wakes when a row becomes due', async () => {
    await jobs.add('100 ms');
    jobs.work({ handle: (claim) => jobs.finish(claim, 'done'), pollMs: 60_000 });
    await until(async () => (await jobs.all())[0]?.result === 'done');
  });

  it('finds by itself what no hint told of', async () => {
    await workAndLook({ pollMs: 50 });
    await jobs.add('-1 s');
    await until(async () => (await jobs.all())[0]?.result === 'done');
  });

  it('keeps its slots filled, and takes no more than it has', async () => {
    for (let count = 0; count < 200; count++) await jobs.add('-1 s');
    let [now, most] = [0, 0];
    jobs.work({
      concurrency: 7,
      pollMs: 60_000,
      handle: async (claim) => {
        most = Math.max(most, ++now);
        await jobs.finish(claim, 'done');
        now--;
      },
    });
    await until(jobs.areDone);
    expect(most).toBe(7);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('bug'))],
    ['forgets to settle', () => Promise.resolve()],
  ])('tries again, after a pause, when a handler %s', async (_, fault) => {
    await jobs.add('-1 s');
    const attempts: number[] = [];
    jobs.work({
      handle: (claim) => (attempts.push(claim.attempts) < 2 ? fault() : jobs.finish(claim, 'done')),
    });
    await until(async () => (await jobs.all())[0]?.result === 'done');
    expect(attempts).toEqual([1, 2]);
  });

  it('keeps the lease of work that takes longer than a lease', async () => {
    await jobs.add('-1 s');
    let handled = 0;
    const handle = async (claim: Claim<Job>) => {
      handled++;
      await takeTime(2_200);
      await jobs.finish(claim, 'done');
    };
    for (let process = 0; process < 2; process++) jobs.work({ handle, leaseMs: 1_000, pollMs: 20 });
    await until(async () => (await jobs.all())[0]?.result === 'done');
    expect(handled).toBe(1);
  });

  it('tells a handler when its lease was lost', async () => {
    await jobs.add('-1 s');
    const lost = new Promise<unknown>((resolve) => {
      jobs.work({
        leaseMs: 200,
        handle: async (claim, signal) => {
          await jobs.database.query('update job set lease_token = gen_random_uuid()');
          await new Promise((end) => signal.addEventListener('abort', end));
          resolve(signal.reason);
          await jobs.finish(claim, 'too late');
        },
      });
    });
    expect(await lost).toBeInstanceOf(LeaseLost);
    expect((await jobs.all())[0]?.result).toBeNull();
  });
});

describe('closing the loop', () => {
  it('lets handlers finish', async () => {
    await jobs.add('-1 s');
    let started = false;
    const loop = jobs.work({
      handle: async (claim) => {
        started = true;
        await takeTime(150);
        await jobs.finish(claim, 'done');
      },
    });
    await until(() => started);
    await loop.close();
    expect(await jobs.all()).toMatchObject([{ result: 'done', lease_token: null }]);
  });

  it('stops those that take too long, and gives back their rows, due at once and as if never tried', async () => {
    await jobs.add('-1 s');
    await jobs.add('-1 s');
    let started = 0;
    const loop = jobs.work({
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
    expect(await claimDue(jobs.database, jobTable, { limit: 9 })).toMatchObject([
      { attempts: 1 },
      { attempts: 1 },
    ]);
  });
});

describe('a process killed with kill -9', () => {
  it.each([
    ['claimed', false],
    ['was handed over', true],
  ])(
    'loses the rows that it %s when their leases end, and another one does the work',
    async (_, handsOver) => {
      if (!handsOver) await jobs.add('-1 s');
      const child = spawn(process.execPath, ['--input-type=module', '-e', victim(handsOver)], {
        env: { ...process.env, DATABASE_URL: jobs.url },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = await once(child.stdout, 'data');
      expect(String(line)).toContain('working');
      child.kill('SIGKILL');
      // No later poll finds them.
      const pollMs = 2 * patienceMs;
      jobs.work({ handle: (claim) => jobs.finish(claim, `attempt ${claim.attempts}`), pollMs });
      await until(async () => (await jobs.all())[0]?.result === 'attempt 2');
    },
  );
});

const victim = (handsOver: boolean) => `
  import { silentLogger } from '${new URL('../../../dist/logger.js', import.meta.url)}';
  import { openDatabase } from '${new URL('../../../dist/storage/database.js', import.meta.url)}';
  import { startWorkLoop } from '${new URL('../../../dist/storage/work/due-work.js', import.meta.url)}';
  const logger = silentLogger();
  const database = await openDatabase({ url: process.env.DATABASE_URL, logger });
  const loop = startWorkLoop({
    database, logger, table: '${jobTable}', concurrency: 1, leaseMs: 2000,
    handle: () => { console.log('working'); return new Promise(() => {}); },
  });
  if (${handsOver}) await loop.handOver('r', async (lease) => {
    const { rows } = await database.query(\`${insertLeased}\`, ['r', lease.token, lease.ms]);
    return { id: rows[0].id, token: lease.token, attempts: 1, row: rows[0] };
  });
`;
