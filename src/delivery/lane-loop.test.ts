import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import { gate } from '../../tests/support/gate.ts';
import { takeTime, until, watchFor } from '../../tests/support/time.ts';
import { silentLogger } from '../logger.ts';
import type { Database } from '../storage/database.ts';
import { LeaseLost } from '../storage/work/due-work.ts';
import { type Lane, type LaneLoopOptions, startLaneLoop } from './lane-loop.ts';

// On the lanes of pushes, with items that exist only in this test.

interface Item {
  id: number;
  lane: string;
  dueAt: number;
}

let database: Database;
let items: Item[];
let added: number;
let begun: Item[];
let loops: { close(): Promise<void> }[];

useDatabase((opened) => {
  database = opened;
});
beforeEach(async () => {
  [items, added, begun, loops] = [[], 0, [], []];
  await database.query('truncate catalog.push_lane');
});
afterEach(() => Promise.all(loops.map((loop) => loop.close())));

async function add(lane: string, count: number, dueInMs = 0): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    added += 1;
    items.push({ id: added, lane, dueAt: Date.now() + dueInMs });
  }
  await wake(lane);
}

async function wake(lane: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(
      `insert into catalog.push_lane (subscriber, due_at) values ($1, now())
       on conflict (subscriber) do update set due_at = least(push_lane.due_at, now())`,
      [lane],
    );
    tx.hint('catalog.push_lane');
  });
}

function start(
  handle: (item: Item, lane: Lane) => Promise<void>,
  options: Partial<LaneLoopOptions<Item>> = {},
): { close(): Promise<void> } {
  const loop = startLaneLoop<Item>({
    database,
    table: 'catalog.push_lane',
    name: 'subscriber',
    lanesAtOnce: 10,
    itemsPerLane: 2,
    restMs: 50,
    logger: silentLogger(),
    async take(lanes) {
      const taken = lanes.flatMap(({ name, slots, underWay }) =>
        items
          .filter(({ id, lane, dueAt }) => lane === name && dueAt <= Date.now() && !underWay.includes(id))
          .slice(0, slots),
      );
      const next = Math.min(...items.map(({ dueAt }) => dueAt).filter((dueAt) => dueAt > Date.now()));
      return { items: taken.map((item) => ({ lane: item.lane, item })), nextMs: next - Date.now() };
    },
    async nextDue(_, name) {
      const times = items.filter(({ lane }) => lane === name).map(({ dueAt }) => dueAt);
      return times.length === 0 ? null : Math.min(...times) - Date.now();
    },
    async handle(item, lane) {
      begun.push(item);
      await handle(item, lane);
      items = items.filter(({ id }) => id !== item.id);
    },
    ...options,
  });
  loops.push(loop);
  return loop;
}

async function lanesInWork(): Promise<number> {
  const { rowCount } = await database.query('select from catalog.push_lane where leased_until is not null');
  return rowCount;
}

describe('a lane loop', () => {
  it('works on a fixed number of items of a lane at once, and a slow lane delays no other', async () => {
    const most = new Map<string, number>();
    const underWay = new Map<string, number>();
    const slow = gate();
    start(async ({ lane }) => {
      underWay.set(lane, (underWay.get(lane) ?? 0) + 1);
      most.set(lane, Math.max(most.get(lane) ?? 0, underWay.get(lane) ?? 0));
      await (lane === 'slow' ? slow.passed : takeTime(1));
      underWay.set(lane, (underWay.get(lane) ?? 0) - 1);
    });
    await add('slow', 4);
    await add('quick', 20);
    await until(() => begun.filter(({ lane }) => lane === 'quick').length === 20, 'the quick lane');
    expect(items.filter(({ lane }) => lane === 'slow').length).toBeGreaterThan(0);
    slow.open();
    await until(() => items.length === 0, 'the slow lane');
    expect(most).toEqual(
      new Map([
        ['slow', 2],
        ['quick', 2],
      ]),
    );
  });

  it('gives a lane back when nothing of it is due, until the next item is', async () => {
    start(async () => undefined);
    await add('lane', 1);
    await add('lane', 1, 1_500);
    await until(() => begun.length === 1, 'the first item');
    await until(async () => (await lanesInWork()) === 0, 'the lane to be given back');
    expect(begun).toHaveLength(1);
    await until(() => begun.length === 2, 'the second item');
    await until(async () => (await lanesInWork()) === 0, 'the lane to be given back');
  });

  it('finds what becomes due in a lane while something else is under way there', async () => {
    const first = gate();
    start(({ id }) => (id === 1 ? first.passed : takeTime(1)));
    await add('lane', 1);
    await until(() => begun.length === 1, 'the first item');
    await add('lane', 1);
    await until(() => begun.length === 2, 'the second item');
    items.push({ id: 3, lane: 'lane', dueAt: Date.now() + 200 });
    await wake('lane');
    await until(() => begun.length === 3, 'the third item');
    expect(items.map(({ id }) => id)).toContain(1);
    first.open();
  });

  it('tries an item again after a rest when its handler failed', async () => {
    let failures = 0;
    start(async () => {
      failures += 1;
      if (failures < 3) throw new Error('no luck');
    });
    await add('lane', 1);
    await until(() => items.length === 0, 'the third attempt');
    expect(begun).toHaveLength(3);
  });

  it('is alone with a lane, also beside another process', async () => {
    const seen = new Set<string>();
    const twice: string[] = [];
    const handle = async ({ id }: Item) => {
      const name = String(id);
      if (seen.has(name)) twice.push(name);
      seen.add(name);
      await takeTime(5);
    };
    start(handle);
    start(handle);
    for (const lane of ['a', 'b', 'c']) await add(lane, 10);
    await until(() => items.length === 0, 'all items');
    expect(twice).toEqual([]);
  });

  it('lets go of a lane whose lease it lost', async () => {
    start(async ({ id }) => {
      if (begun.length === 1) throw new LeaseLost('catalog.push', id);
    });
    await add('lane', 1);
    await until(() => begun.length === 1, 'the first attempt');
    // No other process has taken it: it is due when the lease ends.
    await watchFor(100);
    expect(begun).toHaveLength(1);
    await database.query('update catalog.push_lane set leased_until = now(), due_at = now()');
    await wake('lane');
    await until(() => items.length === 0, 'the second attempt');
  });

  it('goes on with a lane that it took again after its lease had run out', async () => {
    const [second, leases] = [gate(), new Map<string, AbortSignal>()];
    start(
      async (_, { token, signal }) => {
        leases.set(token, signal);
        const [first] = leases.values();
        if (signal === first) await until(() => signal.aborted, 'the first lease to be lost');
        else await second.passed;
      },
      { leaseMs: 1_000 },
    );
    await add('lane', 1);
    await until(() => leases.size === 1, 'the lane to be taken');
    const [token] = leases.keys();
    await until(async () => {
      // Repeated, because a renewal may intervene.
      await database.query(
        "update catalog.push_lane set leased_until = now() - interval '1 second', due_at = now() where lease_token = $1",
        [token],
      );
      await wake('lane');
      return leases.size === 2;
    }, 'the lane to be taken again');
    await add('lane', 1);
    await until(() => [...leases.values()][0]?.aborted, 'the first lease to be noticed as lost');
    await watchFor(100);
    second.open();
    await add('lane', 1);
    await until(() => items.length === 0, 'all items', 30_000);
    await until(async () => (await lanesInWork()) === 0, 'the lane to be given back', 30_000);
  });

  it('lets what is under way finish when it is closed, takes nothing more, and leaves the lane to others', async () => {
    const first = gate();
    const loop = start(() => first.passed, { itemsPerLane: 1 });
    await add('lane', 3);
    await until(() => begun.length === 1, 'the first item');
    const closed = loop.close();
    first.open();
    await closed;
    expect(items).toHaveLength(2);
    expect(await lanesInWork()).toBe(0);
    start(async () => undefined);
    await until(() => items.length === 0, 'the rest');
  });
});
