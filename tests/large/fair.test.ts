import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { type Discovering, filter, startDiscovering } from '../support/network/discover.ts';
import { until, watchFor } from '../support/time.ts';

// Identities that ask at the same time: the requests of one never delay another.

let discovering: Discovering;
beforeAll(async () => {
  discovering = await startDiscovering({ settings: { DISCOVER_TIMEOUT_MS: '60000' } });
  await discovering.hold([
    { id: 'simple', resources: [{ id: 'simple-1', descriptor: { name: 'Simple' } }] },
    {
      id: 'deep',
      resources: Array.from({ length: 300 }, (_, index) => ({ id: `deep-${index}`, deep: nested(40) })),
    },
    {
      id: 'broad',
      // Each answer is too large to be stored together with others.
      resources: Array.from({ length: 150 }, (_, index) => ({
        id: `broad-${index}`,
        text: 'x'.repeat(3_000),
      })),
    },
  ]);
});
afterAll(() => discovering.network.close());

it('large answers of one identity are put together one after the other, until each is stored', async () => {
  const { network, consumer } = discovering;
  const { database } = network;
  const every = filter("$.catalogs[?@.id == 'broad'].resources[*]");
  let broad: Promise<{ status: number }[]> = Promise.resolve([]);
  await database.transaction(async (tx) => {
    await tx.query('lock table work.request in exclusive mode');
    broad = Promise.all(
      [1, 2, 3, 4].map(() => consumer.send(actions.discover, every, { to: network.discoveryUrl })),
    );
    await until(async () => (await countStoring()) > 0);
    // Long enough for the others to get to the same point.
    await watchFor(500);
    expect(await countStoring()).toBe(1);
  });
  expect((await broad).map(({ status }) => status)).toEqual([200, 200, 200, 200]);

  async function countStoring(): Promise<number> {
    const { rowCount } = await database.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into work.request%'`,
    );
    return rowCount;
  }
});

it('the valid filters of an identity are evaluated while the costly ones of another hold threads and wait', async () => {
  const { network, discover } = discovering;
  const attacker = await network.actor(`attacker-${randomUUID()}`);
  const costly = filter('$.catalogs[*].resources[?count($..*..*..*..*) > 1]');
  let ended = 0;
  for (let count = 0; count < 30; count += 1) {
    const sent = attacker.send(actions.discover, costly, { to: network.discoveryUrl });
    // Not awaited: the service is closed after this test.
    sent.finally(() => (ended += 1)).catch(() => undefined);
  }
  // It looks at whole catalogs, so a worker thread evaluates it.
  const valid = filter("$.catalogs[?@.id == 'simple'].resources[?count($.catalogs[*].resources[*]) == 1]");
  const answers = [await discover(valid), await discover(valid), await discover(valid)];
  // Each takes seconds: most of them still use threads or wait.
  expect(ended).toBeLessThan(15);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

it('an identity is refused nothing while the costly filters of twenty others hold threads and wait', async () => {
  const { network, discover } = discovering;
  const crowd = await Promise.all(
    Array.from({ length: 20 }, (_, index) => network.actor(`crowd-${index}-${randomUUID()}`)),
  );
  for (const attacker of crowd)
    for (const expression of ['$..*..*..*..*', '$..*..*..*..*..*'])
      attacker
        .send(actions.discover, filter(`$.catalogs[*].resources[?count(${expression}) > 1]`), {
          to: network.discoveryUrl,
        })
        // Not awaited: the service is closed after this test.
        .catch(() => undefined);
  const byThread = filter("$.catalogs[?@.id == 'simple'].resources[?count($.catalogs[*].resources[*]) == 1]");
  const byIndex = filter("$.catalogs[*].resources[?@.id == 'simple-1']");
  const statuses: number[] = [];
  for (let count = 0; count < 20; count += 1)
    statuses.push((await discover(count % 2 === 0 ? byThread : byIndex)).status);
  expect(statuses).toEqual(Array(20).fill(200));
});

function nested(depth: number): object {
  return depth === 0 ? {} : { more: nested(depth - 1) };
}
