import { describe, expect, it } from 'vitest';
import { claimDue } from '../../../tests/support/database/claim-due.ts';
import { type Job, jobTable, useJobs } from '../../../tests/support/database/jobs.ts';
import { until, watchFor } from '../../../tests/support/time.ts';
import type { GroupChoice } from './claim-due.ts';
import { LeaseLost } from './due-work.ts';
import { renew } from './leases.ts';

const jobs = useJobs();

describe('a claim', () => {
  it('takes the rows that are due, the longest due first, and no others', async () => {
    const [late, early] = [await jobs.add('-1 s'), await jobs.add('-2 s')];
    await jobs.add('1 hour');
    await jobs.add(null);
    expect((await claimDue(jobs.database, jobTable, { limit: 1 })).map(({ id }) => id)).toEqual([early]);
    expect((await claimDue(jobs.database, jobTable, { limit: 9 })).map(({ id }) => id)).toEqual([late]);
    expect(await claimDue(jobs.database, jobTable, { limit: 9 })).toEqual([]);
  });

  it('gives the columns that were asked for, and counts the attempt', async () => {
    await jobs.add('-1 s', 'somebody');
    const [claim] = await claimDue(jobs.database, jobTable, {
      limit: 1,
      columns: ['receiver'],
      where: { receiver: 'somebody' },
    });
    expect(claim).toMatchObject({ attempts: 1, row: { receiver: 'somebody' } });
    expect(Object.keys(claim?.row ?? {})).toEqual(['receiver']);
  });

  it('never gives one row to two, however many claim at once', async () => {
    for (let count = 0; count < 60; count++) await jobs.add('-1 s');
    const claims = await Promise.all(
      Array.from({ length: 20 }, () => claimDue(jobs.database, jobTable, { limit: 5 })),
    );
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is free for others when its lease has ended, and then cannot write any more', async () => {
    await jobs.add('-1 s');
    const [dead] = await claimDue(jobs.database, jobTable, { limit: 1, leaseMs: 1_000 });
    expect(await claimDue(jobs.database, jobTable, { limit: 1 })).toEqual([]);
    const claim = async () => (await claimDue(jobs.database, jobTable, { limit: 1 }))[0];
    const heir = await until(claim, 'the lease to end');
    expect(heir).toMatchObject({ id: dead?.id, attempts: 2 });
    await expect(jobs.finish(dead, 'from the dead')).rejects.toThrow(LeaseLost);
    await jobs.finish(heir, 'from the heir');
    expect(await jobs.all()).toMatchObject([{ result: 'from the heir', due_at: null, lease_token: null }]);
  });

  it('is prolonged by a renewal', async () => {
    await jobs.add('-1 s');
    const claims = await claimDue(jobs.database, jobTable, { limit: 1, leaseMs: 50 });
    expect((await renew(jobs.database, jobTable, claims, 5000)).size).toBe(1);
    await watchFor(60);
    expect(await claimDue(jobs.database, jobTable, { limit: 1 })).toEqual([]);
  });
});

describe('work that is found while a row is leased', () => {
  it.each(['now()', 'least(due_at, now())'])(
    'is not lost when the row is settled (due_at = %s)',
    async (due) => {
      await jobs.add('-1 s');
      const [claim] = await claimDue(jobs.database, jobTable, { limit: 1 });
      await jobs.database.query(`update job set due_at = ${due}`);
      expect(await claimDue(jobs.database, jobTable, { limit: 1 })).toEqual([]);
      await renew(jobs.database, jobTable, claim ? [claim] : [], 20_000);
      await jobs.finish(claim, 'first');
      expect(await claimDue(jobs.database, jobTable, { limit: 1 })).toHaveLength(1);
    },
  );

  it('does not keep a settled row busy when there was none', async () => {
    await jobs.add('-1 s');
    const [claim] = await claimDue(jobs.database, jobTable, { limit: 1 });
    await renew(jobs.database, jobTable, claim ? [claim] : [], 20_000);
    await jobs.finish(claim, 'first');
    expect(await jobs.all()).toMatchObject([{ due_at: null }]);
  });
});

describe('a limit per group', () => {
  it.each([20, 500])('lets nobody wait for a group that is busy and has %i rows waiting', async (waiting) => {
    await jobs.database.query(
      "insert into job (receiver, due_at) select 'busy', now() - interval '10 s' from generate_series(1, $1)",
      [waiting],
    );
    await jobs.add('-1 s', 'idle');
    const options = { limit: 10, perGroup: { column: 'receiver', limit: 4 } };
    const first = await claimDue<Job>(jobs.database, jobTable, options);
    expect(first.map(({ row }) => row.receiver).sort()).toEqual(['busy', 'busy', 'busy', 'busy', 'idle']);
    expect(await claimDue(jobs.database, jobTable, options)).toEqual([]);
    await jobs.finish(
      first.find(({ row }) => row.receiver === 'busy'),
      'done',
    );
    expect(await claimDue(jobs.database, jobTable, options)).toHaveLength(1);
  });
});

describe('a row that has left its group', () => {
  it('does not count for the limit of that, though its lease is held', async () => {
    for (let count = 0; count < 4; count++) await jobs.add('-1 s');
    const options = { limit: 10, perGroup: { column: 'receiver', limit: 2 } };
    const [first] = await claimDue(jobs.database, jobTable, options);
    expect(await claimDue(jobs.database, jobTable, options)).toEqual([]);
    const leavers = [first?.token ?? ''];
    expect(await claimDue(jobs.database, jobTable, { ...options, leavers })).toHaveLength(1);
    expect(await claimDue(jobs.database, jobTable, { ...options, leavers })).toEqual([]);
  });
});

describe('a choice of groups', () => {
  it.each([0, 500])('is all that is claimed from, with %i rows of others waiting', async (waiting) => {
    await jobs.database.query(
      "insert into job (receiver, due_at) select 'slow', now() - interval '10 s' from generate_series(1, $1)",
      [waiting],
    );
    for (const receiver of ['slow', 'quick', 'quick', 'other']) await jobs.add('-1 s', receiver);
    const claimed = async (groups: GroupChoice) => {
      const perGroup = { column: 'receiver', limit: 1 };
      const claims = await claimDue<Job>(jobs.database, jobTable, { limit: 10, perGroup, groups });
      return claims.map(({ row }) => row.receiver).sort();
    };
    expect(await claimed({ except: ['slow', 'nobody'] })).toEqual(['other', 'quick']);
    expect(await claimed({ only: ['slow'] })).toEqual(['slow']);
    expect(await claimed({ except: [] })).toEqual([]);
  });
});
