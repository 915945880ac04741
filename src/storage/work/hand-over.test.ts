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
import { gate } from '../../../tests/support/gate.ts';
import { takeTime, watchFor } from '../../../tests/support/time.ts';
import { type Claim, type StartedLoop, settle } from './due-work.ts';

const jobs = useJobs();

describe('a row that is handed over', () => {
  const perGroup = { column: 'receiver', limit: 2 };
  const never = { perGroup, pollMs: 60_000 };

  it('is worked on at once: nobody is told of it, looks for it or claims it', async () => {
    const { counted, statements } = counting(jobs.database);
    const slots = { concurrency: 40, perGroup: { column: 'receiver', limit: 40 } };
    const loop = jobs.work({ ...never, ...slots, database: counted, handle: jobs.finishForGood });
    // The statements of a look: rows due too far ahead, the time of the next due row, and the number of rows.
    const look = 3;
    await until(() => statements.length === look);
    for (let count = 0; count < 20; count++) await handOver(loop, 'r');
    await until(jobs.areDone);
    await watchFor(50);
    expect(await jobs.all()).toHaveLength(20);
    expect(statements).toHaveLength(look);
  });

  it('keeps to the limit of its group, and waits for its turn where there is no slot', async () => {
    let [now, most] = [0, 0];
    const loop = jobs.work({
      ...never,
      handle: async (claim) => {
        most = Math.max(most, ++now);
        await takeTime(10);
        now--;
        await jobs.finishForGood(claim);
      },
    });
    const leased = await Promise.all(Array.from({ length: 10 }, () => handOver(loop, 'r')));
    expect(leased.filter(Boolean)).toHaveLength(2);
    await until(jobs.areDone);
    expect(most).toBe(2);
    expect(await handOver(loop, 'r')).toBe(true);
  });

  it('leaves half of the slots to those that wait', async () => {
    const ends: (() => void)[] = [];
    const loop = jobs.work({
      ...never,
      handle: async (claim) => {
        await new Promise<void>((resolve) => ends.push(resolve));
        await jobs.finishForGood(claim);
      },
    });
    for (let count = 0; count < 4; count++) await handOver(loop, 'r');
    ends[0]?.();
    // The slot is free at once; the loop needs a moment to fill it.
    await until(async () => (await jobs.all()).some(({ result }) => result === 'done'));
    expect(await handOver(loop, 'r')).toBe(false);
    await until(async () => {
      for (const end of ends) end();
      return jobs.areDone();
    });
    expect(ends).toHaveLength(5);
  });

  it('may follow another one that has left the group', async () => {
    const end = gate();
    const loop = jobs.work({
      ...never,
      handle: async (claim, _signal, { leaveGroup }) => {
        leaveGroup();
        await end.passed;
        await jobs.finishForGood(claim);
      },
    });
    for (let count = 0; count < 4; count++) expect(await handOver(loop, 'r')).toBe(true);
    end.open();
    await until(jobs.areDone);
  });

  it('waits for its turn where all slots are taken, and gets it when one is free', async () => {
    let end = () => {};
    const loop = jobs.work({
      ...never,
      concurrency: 1,
      handle: async (claim) => {
        if (claim.row.receiver === 'first') await new Promise<void>((resolve) => (end = resolve));
        await jobs.finishForGood(claim);
      },
    });
    expect(await handOver(loop, 'first')).toBe(true);
    expect(await handOver(loop, 'second')).toBe(false);
    await watchFor(50);
    end();
    await until(jobs.areDone);
  });

  it('leaves no slot taken when it could not be stored', async () => {
    const loop = jobs.work({ ...never, concurrency: 1, handle: jobs.finishForGood });
    const failing = loop.handOver('r', () => Promise.reject(new Error('no disk')));
    await expect(failing).rejects.toThrow('no disk');
    expect(await handOver(loop, 'r')).toBe(true);
  });

  it('is due for others when the loop closes meanwhile, or has closed', async () => {
    const loop = jobs.work({ ...never, handle: jobs.finishForGood });
    const closed: Promise<void>[] = [];
    await handOver(loop, 'r', () => closed.push(loop.close()));
    await Promise.all(closed);
    expect(await handOver(loop, 'r')).toBe(false);
    // A look in progress when the loop closed may have found the first one.
    const open = (await jobs.all()).filter(({ result }) => result !== 'done');
    const claims = await claimDue(jobs.database, jobTable, { limit: 9 });
    expect(claims.map(({ attempts }) => attempts)).toEqual(open.map(() => 1));
    expect(claims.length).toBeGreaterThan(0);
  });
});

describe('a slot that gets free', () => {
  it('is filled at once by what waited for a slot in its group', async () => {
    for (let count = 0; count < 30; count++) await jobs.add('-1 s', `receiver ${count % 2}`);
    const perGroup = { column: 'receiver', limit: 1 };
    jobs.work({ perGroup, pollMs: 60_000, handle: jobs.finishForGood });
    await until(jobs.areDone);
  });

  it('is filled by what its own row left to be done', async () => {
    await jobs.add('-1 s');
    const again = async (claim: Claim<Job>) => {
      const dueInMs = claim.attempts < 3 ? 20 : null;
      await settle(jobs.database, jobTable, claim, { dueInMs, set: { result: `attempt ${claim.attempts}` } });
    };
    jobs.work({ perGroup: { column: 'receiver', limit: 1 }, pollMs: 60_000, handle: again });
    await until(async () => (await jobs.all())[0]?.result === 'attempt 3');
  });
});

/** Stores a job of the receiver; true if it was stored with a lease, and so is processed at once. */
async function handOver(loop: StartedLoop<Job>, receiver: string, stored = () => {}): Promise<boolean> {
  let isLeased = false;
  await loop.handOver(receiver, async (lease) => {
    isLeased = lease !== undefined;
    if (lease === undefined) {
      await jobs.add('0 s', receiver);
      jobs.database.hint(jobTable);
      return undefined;
    }
    const { rows } = await jobs.database.query<Job>(insertLeased, [receiver, lease.token, lease.ms]);
    stored();
    return rows[0] && { id: rows[0].id, token: lease.token, attempts: 1, at: new Date(), row: rows[0] };
  });
  return isLeased;
}
