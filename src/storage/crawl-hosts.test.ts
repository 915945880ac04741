import { beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database.ts';
import { type HostRow, holdLease, hostId, hostTable, wakeHosts } from './crawl-hosts.ts';
import type { Database } from './database.ts';
import { type Claim, claimDue, LeaseLost, settle } from './due-work.ts';
import { renew } from './leases.ts';

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
    await expect(settle(database, hostTable, claim, { dueAt: null })).rejects.toThrow(LeaseLost);
  });
});
