import { beforeEach, describe, expect, it } from 'vitest';
import { claimDue } from '../../../tests/support/database/claim-due.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../database.ts';
import { type Claim, LeaseLost, settle } from '../work/due-work.ts';
import { renew } from '../work/leases.ts';
import { giveBackHosts, type HostRow, holdLease, holdLeases, hostId, hostTable, wakeHosts } from './hosts.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'discovery.crawl_host cascade' },
);

let claim: Claim<HostRow>;

beforeEach(async () => {
  await database.transaction(async (tx) => wakeHosts(tx, [await hostId(tx, 'host:443')], new Date(0)));
  claim = (await claimHost()) as Claim<HostRow>;
});

async function claimHost(): Promise<Claim<HostRow> | undefined> {
  const [claimed] = await claimDue<HostRow>(database, hostTable, { limit: 1, columns: ['host'] });
  return claimed;
}

const expire = () =>
  database.query("update discovery.crawl_host set leased_until = now() - interval '1 s', due_at = now()");

describe('the lease on a host', () => {
  it('is prolonged also while results are written', async () => {
    await database.transaction(async (tx) => {
      await holdLease(tx, claim);
      expect(await renew(database, hostTable, [claim], 60_000)).toEqual(new Set([claim.token]));
    });
  });

  it('goes to nobody else while a result is written, not even when it has run out', async () => {
    await expire();
    await database.transaction(async (tx) => {
      await holdLease(tx, claim);
      expect(await claimHost()).toBeUndefined();
    });
    expect(await claimHost()).toMatchObject({ id: claim.id });
  });

  it('lets nobody write who lost it', async () => {
    await expire();
    const other = await claimHost();
    expect(other?.token).not.toBe(claim.token);
    await expect(database.transaction((tx) => holdLease(tx, claim))).rejects.toThrow(LeaseLost);
    await expect(settle(database, hostTable, claim, { dueInMs: null })).rejects.toThrow(LeaseLost);
    expect(await database.transaction((tx) => holdLeases(tx, [claim]))).toEqual(new Set());
  });
});

describe('a host that is given back', () => {
  const [sooner, later] = [new Date('2031-01-01T00:00:00Z'), new Date('2031-01-02T00:00:00Z')];
  const giveBack = (restMs: number | null = null) =>
    database.transaction((tx) => giveBackHosts(tx, [{ claim, state: { failures: 0, restMs } }]));
  const untilLaterMs = () => later.getTime() - Date.now();
  const dueAt = async () => {
    const { rows } = await database.query<{ due_at: Date | null }>('select due_at from discovery.crawl_host');
    return rows[0]?.due_at;
  };

  beforeEach(async () => {
    await database.query(
      `with node as (
         insert into discovery.crawl_node (node, host_id, due_at) values ('node', $1, $3) returning id
       )
       insert into discovery.crawl_index (node_id, host_id, url, due_at) select id, $1, 'url', $2 from node`,
      [claim.id, sooner, later],
    );
  });

  it('is due when the first thing there is', async () => {
    await giveBack();
    expect(await dueAt()).toEqual(sooner);
  });

  it('is not due before it has rested', async () => {
    await giveBack(untilLaterMs());
    expect((await dueAt())?.getTime()).toBeGreaterThan(sooner.getTime());
  });

  it('is due as soon as something was found for it meanwhile', async () => {
    await database.transaction((tx) => wakeHosts(tx, [claim.id], new Date(0)));
    await giveBack();
    expect(await dueAt()).toEqual(new Date(0));
  });

  it('is not due at all when nothing there is', async () => {
    await database.query('update discovery.crawl_node set due_at = null');
    await database.query('update discovery.crawl_index set due_at = null');
    await giveBack(untilLaterMs());
    expect(await dueAt()).toBeNull();
  });
});
