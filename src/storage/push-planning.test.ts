import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { type SeedCatalog, seedCatalog } from '../../tests/support/seed-catalogs.ts';
import { silentLogger } from '../logger.ts';
import { matchesInterest } from '../rules/match.ts';
import { appendChange } from './change-log.ts';
import { type Database, openDatabase } from './database.ts';
import { claimDue } from './due-work.ts';
import { createPushBatches } from './push-batches.ts';
import { planPushes } from './push-planning.ts';
import { type DuePush, pushTable, recordParked, recordRetry } from './pushes.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, logger: silentLogger() });
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});
beforeEach(reset);

async function reset(): Promise<void> {
  await database.query(
    'truncate catalog.subscription, catalog.change_log, catalog.catalog, catalog.resource, catalog.offer, catalog.rebuild, catalog.push',
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
    `insert into catalog.subscription (id, owner, status, network_ids, schema_types, created_at, updated_at)
     values ($1, $2, $3, $4, $5, now(), now())`,
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

/** Logs a change, after making it where there is one to make. */
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
    `select subscriber || ' ' || catalog.id as name from catalog.push join catalog.catalog on key = catalog_key
     where due_at <= now() and leased_until is null order by 1`,
  );
  return rows.map(({ name }) => name);
}

const claim = async () => {
  const [claimed] = await claimDue<DuePush>(database, pushTable, { limit: 1 });
  if (!claimed) throw new Error('nothing is due');
  return claimed;
};

const acknowledged = { version: 1, networks: ['n'], withdrawn: false, needsFull: false, status: 200 };

async function acknowledge(): Promise<void> {
  await createPushBatches(database).acknowledge(await claim(), acknowledged);
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
      { numRuns: 40 },
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
    await acknowledge();
    expect(await due()).toEqual([]);
    await change('c1');
    await planPushes(database);
    const claimed = await claim();
    await change('c1');
    await planPushes(database);
    expect(await due()).toEqual([]);
    await createPushBatches(database).acknowledge(claimed, acknowledged);
    expect(await due()).toEqual(['ds c1']);
  });

  it('lets a push wait for its next attempt, also when the change comes while it fails', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    const claimed = await claim();
    await change('c1');
    await planPushes(database);
    const dueAt = new Date(Date.now() + 60_000);
    const failure = { error: 'busy', needsFull: false, lost: false, failingSince: new Date(), dueAt };
    await database.transaction((tx) => recordRetry(tx, claimed, failure));
    await change('c1');
    await planPushes(database);
    const { rows } = await database.query('select due_at, attempts from catalog.push');
    expect(rows).toEqual([{ due_at: dueAt, attempts: 1 }]);
  });

  it('takes a parked push up again, afresh', async () => {
    await subscribe('ds');
    await seed({ id: 'c1' });
    await planPushes(database);
    const claimed = await claim();
    const failure = { error: 'bad', status: 400, needsFull: true, lost: false };
    await database.transaction((tx) => recordParked(tx, claimed, failure));
    expect(await due()).toEqual([]);
    await change('c1');
    await planPushes(database);
    expect(await due()).toEqual(['ds c1']);
    const { rows } = await database.query('select state, attempts, needs_full from catalog.push');
    expect(rows).toEqual([{ state: 'pending', attempts: 0, needs_full: true }]);
  });

  it('looks again at whoever holds a catalog that does not match any more, as long as it has a subscription', async () => {
    await subscribe('ds1', ['a/n']);
    await subscribe('ds2', ['a/n']);
    await seed({ id: 'c1', visibleTo: ['a/n'] });
    await planPushes(database);
    await acknowledge();
    await acknowledge();
    await database.query("update catalog.subscription set status = 'INACTIVE' where owner = 'ds2'");
    await change('c1', "version = version + 1, visible_to = '{b/n}'");
    await planPushes(database);
    expect(await due()).toEqual(['ds1 c1']);
    const { rows } = await database.query("select needs_full from catalog.push where subscriber = 'ds2'");
    expect(rows).toEqual([{ needs_full: true }]);
  });
});
