import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type SeedCatalog, seedCatalog } from '../../../tests/support/catalogs/seed-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { runs } from '../../../tests/support/reproducible.ts';
import { matchesInterest } from '../../rules/match.ts';
import type { PushRecord } from '../../rules/push-outcome.ts';
import type { Database } from '../database.ts';
import { appendChange } from './change-log.ts';
import { skipPush } from './push-list.ts';
import { planPushes } from './push-planning.ts';
import { type PushResult, writePushResults } from './push-results.ts';
import { type DuePush, pullPushesForward, takePushes } from './pushes.ts';

// Planning pushes, taking them and writing their results. Longer than our other tests: the three work on the same rows and are tested by each other's effects.

const token = randomUUID();

let database: Database;

useDatabase((opened) => {
  database = opened;
});
beforeEach(reset);

async function reset(): Promise<void> {
  await database.query(
    'truncate catalog.subscription, catalog.change_log, catalog.catalog, catalog.resource, catalog.offer, catalog.rebuild, catalog.push, catalog.push_lane',
  );
  await database.query('update catalog.push_cursor set seq = 0');
}

async function subscribe(
  owner: string,
  networkIds: string[] = [],
  schemaTypes: string[] = [],
  status = 'ACTIVE',
) {
  await database.query(
    `insert into catalog.subscription (id, owner, status, network_ids, schema_types, schema_ids, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5, now(), now())`,
    [randomUUID(), owner, status, networkIds, schemaTypes],
  );
}

async function seed(catalog: Pick<SeedCatalog, 'id' | 'visibleTo' | 'isActive'>, schemaTypes: string[] = []) {
  await seedCatalog(database, { ...catalog, resources: [{ id: 'r1' }] });
  await database.query('update catalog.catalog set schema_types = $2 where id = $1', [
    catalog.id,
    schemaTypes,
  ]);
  await change(catalog.id);
}

/** Logs a change, after making it if there is one. */
async function change(id: string, assignments = 'version = version + 1'): Promise<void> {
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ key: number; version: number }>(
      `update catalog.catalog set ${assignments} where id = $1 returning key, version`,
      [id],
    );
    const { key: catalogKey = 0, version = 0 } = rows[0] ?? {};
    await appendChange(tx, {
      catalogKey,
      version,
      publisher: 'p',
      kind: 'merge',
      at: new Date(),
      details: '{}',
    });
  });
}

async function due(): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `select push.subscriber || ' ' || catalog.id as name from catalog.push join catalog.catalog on key = catalog_key
     join catalog.push_lane on push_lane.subscriber = push.subscriber
     where push.due_at <= now() and push_lane.due_at <= now() order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** Takes one due push, as the holder of its subscriber's lane. */
async function take(): Promise<DuePush> {
  const { rows } = await database.query<{ name: string }>(
    'update catalog.push_lane set lease_token = $1 returning subscriber as name',
    [token],
  );
  const lanes = rows.map(({ name }) => ({ name, token, slots: 1, underWay: [] }));
  const [push] = await takePushes(database, lanes);
  if (!push) throw new Error('nothing is due');
  return push;
}

async function write(
  push: DuePush,
  record: Partial<PushRecord>,
  next: Partial<PushResult> = {},
): Promise<void> {
  const lane = { name: push.subscriber, token };
  const seenVersion = push.basis.catalog.version;
  const [isWritten] = await writePushResults(database, [
    { push, lane, record: { ...push.record, ...record }, seenVersion, dueInMs: null, ...next },
  ]);
  expect(isWritten).toBe(true);
}

async function acknowledge(push: DuePush): Promise<void> {
  await write(push, { state: 'acknowledged', acknowledgedVersion: 1, needsFull: false, inFlight: false });
}

describe('planning', () => {
  it('finds exactly the subscribers that the rule of matching names, for any catalogs and subscriptions', async () => {
    const some = (texts: string[]) => fc.uniqueArray(fc.constantFrom(...texts), { maxLength: 3 });
    const networks = ['a/n', 'b/n', 'A/n', 'c/n'];
    const types = ['https://s/x', 'https://s/x#T', 'https://s/y'];
    const subscriptions = fc.array(
      fc.record({
        owner: fc.constantFrom('ds1', 'ds2', 'ds3'),
        networkIds: some(networks),
        schemaTypes: some(types),
        status: fc.constantFrom('ACTIVE', 'ACTIVE', 'INACTIVE'),
      }),
      { maxLength: 6 },
    );
    const catalogs = fc.array(
      fc.record({
        visibleTo: some(networks).filter((list) => list.length > 0),
        schemaTypes: some(types),
        isActive: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(subscriptions, catalogs, async (subscribed, published) => {
        await reset();
        for (const { owner, networkIds, schemaTypes, status } of subscribed)
          await subscribe(owner, networkIds, schemaTypes, status);
        for (const [index, { visibleTo, isActive, schemaTypes }] of published.entries())
          await seed({ id: `c${index}`, visibleTo, isActive }, schemaTypes);
        await planPushes(database);
        const expected = published.flatMap(({ visibleTo: networkIds, isActive, schemaTypes }, index) =>
          subscribed
            .filter(({ status }) => status === 'ACTIVE' && isActive)
            .filter((interest) =>
              matchesInterest(interest, { networkIds, schemaTypes: new Set(schemaTypes) }),
            )
            .map(({ owner }) => `${owner} c${index}`),
        );
        expect(await due()).toEqual([...new Set(expected)].sort());
      }),
      { numRuns: runs(40) },
    );
  });

  it('reads each change once, and all of them', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await seed({ id: 'c2' });
    await change('c1');
    expect(await planPushes(database)).toBe(3);
    expect(await due()).toEqual(['ds c1', 'ds c2']);
    expect(await planPushes(database)).toBe(0);
  });

  it('is done by one process at a time', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await database.transaction(async (tx) => {
      await tx.query('select from catalog.push_cursor for update');
      expect(await planPushes(database)).toBe(0);
    });
    expect(await planPushes(database)).toBe(1);
  });

  it('makes what is acknowledged due again, and what is being sent due after that', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    await acknowledge(await take());
    expect(await due()).toEqual([]);
    await change('c1');
    await planPushes(database);
    const push = await take();
    await change('c1');
    await planPushes(database);
    await acknowledge(push);
    expect(await due()).toEqual(['ds c1']);
    await acknowledge(await take());
    expect(await due()).toEqual([]);
  });

  it('does not repeat a push that was computed from the change that is planned only now', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    await change('c1');
    const push = await take();
    await planPushes(database);
    await acknowledge(push);
    expect(await due()).toEqual([]);
  });

  const failing = { state: 'pending', attempts: 1, failingSince: new Date() } as const;

  it('pulls a push forward that waits for its next attempt, also when the change comes while it fails', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    await write(await take(), failing, { dueInMs: 60_000 });
    expect(await due()).toEqual([]);
    await change('c1');
    await planPushes(database);
    expect(await due()).toEqual(['ds c1']);
    const push = await take();
    await change('c1');
    await planPushes(database);
    await write(push, { ...failing, attempts: 2 }, { dueInMs: 60_000 });
    expect(await due()).toEqual(['ds c1']);
    const { rows } = await database.query('select attempts from catalog.push');
    expect(rows).toEqual([{ attempts: 2 }]);
  });

  it('lets a push wait for as long as its receiver asked, whatever changes', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    const push = await take();
    await change('c1');
    await planPushes(database);
    await write(push, failing, { dueInMs: 60_000, restMs: 60_000 });
    await change('c1');
    await planPushes(database);
    expect(await due()).toEqual([]);
  });

  it('makes a push due at once that is due further ahead than any may wait, and leaves the others', async () => {
    await subscribe('ds');
    for (const id of ['c1', 'c2']) await seed({ id });
    await planPushes(database);
    const first = await take();
    await write(first, failing, { dueInMs: 7_200_000, restMs: 7_200_000 });
    await write(await take(), failing, { dueInMs: 3_000_000, restMs: 3_000_000 });
    await pullPushesForward(database, 3_600_000);
    expect(await due()).toEqual([`ds ${first.basis.catalogId}`]);
  });

  it('takes a parked push up again, afresh', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    await write(await take(), { state: 'parked', attempts: 3, failingSince: new Date() });
    expect(await due()).toEqual([]);
    await change('c1');
    await planPushes(database);
    expect(await due()).toEqual(['ds c1']);
    const { rows } = await database.query('select state, attempts, failing_since from catalog.push');
    expect(rows).toEqual([{ state: 'pending', attempts: 0, failing_since: null }]);
  });

  it('looks again at whoever holds a catalog that does not match any more, as long as it has a subscription', async () => {
    await subscribe('ds1', ['a/n']);
    await subscribe('ds2', ['a/n']);
    await seed({ id: 'c1', visibleTo: ['a/n'] });
    await planPushes(database);
    await acknowledge(await take());
    await acknowledge(await take());
    await database.query("update catalog.subscription set status = 'INACTIVE' where owner = 'ds2'");
    await change('c1', "version = version + 1, visible_to = '{b/n}'");
    await planPushes(database);
    expect(await due()).toEqual(['ds1 c1']);
    const { rows } = await database.query("select needs_full from catalog.push where subscriber = 'ds2'");
    expect(rows).toEqual([{ needs_full: true }]);
  });
});

describe('the results of pushes', () => {
  it('are written only by who holds the lane', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    const push = await take();
    const result = { push, record: push.record, seenVersion: 1, dueInMs: null };
    const lost = { ...result, lane: { name: 'ds', token: randomUUID() } };
    expect(await writePushResults(database, [lost])).toEqual([false]);
    expect(await due()).toEqual(['ds c1']);
    expect(await takePushes(database, [{ ...lost.lane, slots: 1, underWay: [] }])).toEqual([]);
  });

  const standing = async () =>
    (await database.query('select state, due_at, needs_full, acknowledged_version from catalog.push')).rows;
  const givenUp = { state: 'skipped', due_at: null, needs_full: true, acknowledged_version: null };

  it.each<[what: string, record: Partial<PushRecord>, next: Partial<PushResult>]>([
    ['failed', { state: 'pending', attempts: 1 }, { dueInMs: 0 }],
    ['was refused', { state: 'parked' }, {}],
    ['was not tried', {}, { dueInMs: 0 }],
    ['had nothing to say', { state: 'acknowledged' }, {}],
  ])(
    'leave a push skipped that was skipped on its way and %s, until its catalog changes',
    async (_, record, next) => {
      await subscribe('ds');
      await seed({ id: 'c1' });
      await planPushes(database);
      const push = await take();
      // It was requested again before it was skipped, for a newer version than the one in flight.
      await change('c1', 'version = version + 1');
      await planPushes(database);
      expect(await skipPush(database, push.id)).toBe(true);
      await write(push, record, next);
      expect(await standing()).toEqual([givenUp]);
      await change('c1', 'version = version + 1');
      await planPushes(database);
      expect(await due()).toEqual(['ds c1']);
    },
  );

  it('tell of a skipped push that its receiver has taken it all the same', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    const push = await take();
    expect(await skipPush(database, push.id)).toBe(true);
    const { version } = push.basis.catalog;
    await write(push, { state: 'acknowledged', acknowledgedVersion: version, needsFull: false });
    expect(await standing()).toEqual([
      { state: 'acknowledged', due_at: null, needs_full: false, acknowledged_version: version },
    ]);
  });

  it('leave nothing behind of a catalog that the subscriber never got', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    await write(await take(), { state: 'acknowledged' });
    const { rowCount } = await database.query('select from catalog.push');
    expect(rowCount).toBe(0);
  });
});

describe('taking pushes', () => {
  it('marks them as in flight, and tells whether they were before; timestamps rise, whatever the clock says', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    const first = await take();
    expect(first.record.inFlight).toBe(false);
    const ahead = new Date(first.basis.timestamp.getTime() + 60_000);
    await database.query('update catalog.push set sent_timestamp = $1', [ahead]);
    const [second] = await takePushes(database, [{ name: 'ds', token, slots: 1, underWay: [] }]);
    expect(second?.record.inFlight).toBe(true);
    expect(second?.basis.timestamp).toEqual(new Date(ahead.getTime() + 1));
  });

  it('takes as many as there are slots, and none that is under way', async () => {
    await subscribe('ds');
    for (const id of ['c1', 'c2', 'c3']) await seed({ id });
    await planPushes(database);
    const { id: taken } = await take();
    const others = await takePushes(database, [{ name: 'ds', token, slots: 5, underWay: [taken] }]);
    expect(others.map(({ basis }) => basis.catalogId).sort()).toHaveLength(2);
    expect(others.map(({ id }) => id)).not.toContain(taken);
  });
});
