import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeMinute } from '../../src/storage/console/minutes.ts';
import { resource } from '../support/catalogs/small-catalogs.ts';
import { consoleOf } from '../support/network/console.ts';
import { type Discovering, filter, startDiscovering } from '../support/network/discover.ts';
import { defaultNetwork } from '../support/network/network.ts';
import { until } from '../support/time.ts';

// The rows that each process writes about itself, one a minute, and the console's view of all processes.

let scene: Discovering;
let desk: ReturnType<typeof consoleOf>;

beforeAll(async () => {
  scene = await startDiscovering({ settings: { ROLES: 'registry,catalog,discovery,console' } });
  desk = consoleOf(scene.network);
  await scene.hold([{ id: 'c1', resources: [resource('tea'), resource('coffee')] }]);
  await scene.found({ intent: { textSearch: 'tea' } });
  const nothing = filter("$.catalogs[*].resources[?@.descriptor.nmae == 'tea']");
  for (let times = 0; times < 3; times++) await scene.discover(nothing, { networkId: defaultNetwork });
  // A process that ends writes the numbers of its last minute.
  await scene.network.restart();
});
afterAll(() => scene?.network.close());

/** The sums of all minutes, by name. */
async function sums(hours = 1): Promise<Record<string, number>> {
  const { names, rows } = await desk.get(`/api/health/series?hours=${hours}`);
  return Object.fromEntries(
    names.map((name: string, index: number) => [
      name,
      rows.reduce((sum: number, row: (number | null)[]) => sum + (row[index + 1] ?? 0), 0),
    ]),
  );
}

describe('GET /api/health', () => {
  it('says that all is well, and which processes run, with their roles and version', async () => {
    const seen = await until(async () => {
      const found = await desk.get('/api/health');
      return found.processes.length > 0 && found;
    }, 'a row of the process');
    expect(seen).toMatchObject({ healthy: true, reasons: [] });
    const { version } = await desk.get('/api/session');
    expect(seen.processes).toContainEqual({
      ...{ process: expect.any(String), version },
      roles: ['registry', 'catalog', 'discovery', 'console'],
    });
  });

  it('says why it is not', async () => {
    await scene.network.database.query(
      `insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, give_up_at, state)
       values ('catalog', 'catalog/on_publish', 'm', 'https://x.example.org', 'https://x.example.org', '', 's', now(), 'parked')`,
    );
    expect(await desk.get('/api/health')).toMatchObject({
      ...{ healthy: false, reasons: ['Parked deliveries: 1.'] },
    });
    await scene.network.database.query("delete from work.callback where state = 'parked'");
  });
});

describe('GET /api/health/series', () => {
  it('counts what the process did, and measures what all share', async () => {
    // The minute of the event may not be over: it is shown as long as there is no other.
    const seen = await until(async () => {
      const found = await sums();
      return (found.discoverRate ?? 0) >= 4 && found;
    }, 'the minute');
    expect(seen).toMatchObject({ discoverRate: 4, emptySearches: 3, errors: 0 });
    expect(seen.discoverP50Ms).toBeGreaterThan(0);
    expect(seen.discoverP99Ms).toBeGreaterThanOrEqual(seen.discoverP50Ms ?? 0);
    expect(seen.rssBytes).toBeGreaterThan(10_000_000);
    expect(seen.databaseBytes).toBeGreaterThan(1_000_000);
    expect(seen.resources).toBeGreaterThanOrEqual(0);
  });

  it('adds up the rows of several processes, and keeps to the hours that are asked for', async () => {
    const at = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 2 * 3_600_000);
    for (const process of ['one', 'two'])
      await writeMinute(scene.network.database, {
        ...{ at, process },
        numbers: { publishRate: 7, 'publish 0.005': 7, eventLoopP99Ms: process === 'one' ? 5 : 9 },
      });
    const { names, rows } = await desk.get('/api/health/series?hours=3');
    const row = rows.find(([seconds]: number[]) => seconds === at.getTime() / 1000);
    const value = (name: string) => row[names.indexOf(name) + 1];
    expect(['publishRate', 'publishP99Ms', 'eventLoopP99Ms', 'parked'].map(value)).toEqual([
      14,
      4.95,
      9,
      null,
    ]);
    expect((await sums(1)).publishRate).toBe(0);
  });

  it.each(['0', '169', 'all'])('refuses hours=%s', async (hours) => {
    const { status, body } = await desk.ask(`/api/health/series?hours=${hours}`);
    expect([status, body.error.path]).toEqual([400, '$.query.hours']);
  });
});

describe('GET /api/health/empty-searches', () => {
  it('lists what was looked for and not found, how often, and what came close', async () => {
    const { items } = await desk.get('/api/health/empty-searches');
    expect(items).toEqual([
      {
        at: expect.any(String),
        firstAt: expect.any(String),
        networkId: defaultNetwork,
        intent: { filters: expect.objectContaining({ expression: expect.stringContaining('nmae') }) },
        nearMisses: [expect.objectContaining({ code: 'unknown-path', message: expect.any(String) })],
        times: 3,
      },
    ]);
  });

  it('pages through many, the latest first', async () => {
    await scene.network.database.query(
      `insert into console.empty_search (key, intent, near_misses, first_at, at, times)
       select sha256(n::text::bytea), json_build_object('textSearch', n), '[]', now(), date_trunc('milliseconds', now()) - n % 3 * interval '1 second', 1 from generate_series(1, 100) as n`,
    );
    const { items } = await desk.all('/api/health/empty-searches', 7);
    const intents = items.map((item) => JSON.stringify((item as unknown as { intent: object }).intent));
    expect([items.length, new Set(intents).size]).toEqual([101, 101]);
    const times = items.map((item) => (item as unknown as { at: string }).at);
    expect(times).toEqual([...times].sort().reverse());
  });
});
