import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { feedTable } from '../../src/storage/feeds/feeds.ts';
import { newId, resource } from '../support/catalogs/small-catalogs.ts';
import { rouse } from '../support/hosted/crawl.ts';
import { catalogOf } from '../support/hosted/crawl-scene.ts';
import type { Actor } from '../support/network/actor.ts';
import { held, startDiscovery, type TestDiscovery, withoutDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type PlayedService, playService } from '../support/network/played-service.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { type Receiver, startReceiver } from '../support/network/receiver.ts';
import { until } from '../support/time.ts';
import { type FaultRun, faultOptions, isLong, type Outcome, strikes, times } from './fault-run.ts';

// The clocks of the processes or the database jump hours forward and back, or back and forward, while all receivers, publishers and services that we
// call are down: once they are up again, nothing is late.

const retail = 'a.example/retail';

let network: TestNetwork;
let discovery: TestDiscovery;
let publisher: Actor;
let receiver: Receiver;
let service: PlayedService;
let node: Provider;

/** How far the clocks of the processes are ahead. */
let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);

let isDown = false;
/** Calls that arrived during the outage. */
const refused = { callbacks: 0, pushes: 0, pulls: 0, crawls: 0 };
type Kind = keyof typeof refused;
const kinds = Object.keys(refused) as Kind[];

function refuse(kind: Kind) {
  if (!isDown) return undefined;
  refused[kind] += 1;
  return { status: 503 };
}

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery, now });
  publisher = await network.actor('bpp');
  publisher.behave(() => refuse('callbacks'));
  receiver = await startReceiver(network, 'ds');
  await receiver.subscribe({ networkIds: [defaultNetwork] });
  receiver.answer(() => refuse('pushes'));
  service = await playService(network, 'service', () => discovery.url);
  service.reply = ({ action }) => (action === actions.pull.name ? refuse('pulls') : undefined);
  discovery = await startDiscovery(
    network,
    [{ catalogUrl: service.actor.url, networkIds: [retail] }],
    { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) },
    { now },
  );
  node = await startProvider(network, 'node');
  node.spoil(() => refuse('crawls'));
});
afterAll(async () => {
  isDown = false;
  await discovery?.stop();
  await network.close();
  await node?.stop();
});
beforeEach(() => {
  isDown = false;
  aheadMs = 0;
});

interface Work {
  messageId: string;
  published: string;
  pulled: string;
  crawled: string;
}

/** A publish that needs an answer and a push, a catalog to pull, and one to crawl, all during the outage. */
async function makeWork(): Promise<Work> {
  const [published, pulled, crawled] = [newId(), newId(), newId()];
  const catalog = (id: string) => ({
    ...{ id, descriptor: { name: id }, provider: { id: 'p', descriptor: { name: 'P' } } },
    resources: [resource(`of ${id}`)],
  });
  isDown = true;
  service.catalogs = [catalog(pulled)];
  await node.publish({ message: { catalogs: [catalogOf(crawled, 0, 1)] } });
  const { status, messageId } = await publisher.send(actions.publish, { catalogs: [catalog(published)] });
  expect(status).toBe(200);
  const { database } = network;
  await database.transaction(async (tx) => {
    await tx.query('update discovery.feed set pull_at = now(), due_at = now()');
    tx.hint(feedTable);
  });
  await rouse(database);
  await allRefusedAgain();
  return { messageId, published, pulled, crawled };
}

async function allRefusedAgain(): Promise<void> {
  const before = { ...refused };
  await until(() => kinds.every((kind) => refused[kind] > before[kind]), 'all kinds of work to fail again');
}

/** How many parts of the work are still undone some time after the outage. */
async function countUndone(run: FaultRun, { messageId, published, pulled, crawled }: Work): Promise<number> {
  isDown = false;
  const isDelivered = async () => {
    const { rowCount } = await network.database.query(
      "select from work.callback where message_id = $1 and state = 'delivered'",
      [messageId],
    );
    return rowCount === 1;
  };
  const isHeld = (id: string) => async () => (await held(network.database, id)) !== undefined;
  const checks = [isDelivered, () => receiver.copies.has(published), isHeld(pulled), isHeld(crawled)];
  const endedAt = performance.now();
  let undone = 0;
  for (const check of checks)
    await until(check, 'the work to be done').catch(() => {
      undone += 1;
    });
  await run.recover(endedAt, async () => undefined);
  return undone;
}

/** Four kinds of work, each acknowledged. */
async function jumpThrough(run: FaultRun, jump: (hours: number) => Promise<void>): Promise<Outcome> {
  const outcome = { acknowledged: 0, lost: 0, appliedTwice: 0 };
  for (let jumps = times(1, 4); jumps > 0; jumps--) {
    const work = await makeWork();
    run.count();
    await jump(run.between(1, 12));
    outcome.lost += await countUndone(run, work);
    outcome.acknowledged += kinds.length;
    const { rows } = await network.database.query(
      `select from catalog.change_log group by catalog_key, submission_id having count(*) > 1
       union all select from work.callback group by message_id having count(*) > 1`,
    );
    outcome.appliedTwice += rows.length;
  }
  return outcome;
}

const hourMs = 3_600_000;
const directions = isLong ? [1, -1] : [1];

describe('nothing is late after a jump of hours forth and back, or back and forth,', () => {
  it.for(directions)('of the clocks of all processes (%i)', faultOptions, (direction, context) =>
    strikes(`clocks of the processes ${direction > 0 ? 'ahead' : 'behind'} for a while`, (run) =>
      jumpThrough(run, async (hours) => {
        aheadMs = direction * hours * hourMs;
        await allRefusedAgain();
        aheadMs = 0;
      }),
    )(context),
  );

  it.for(directions)('of the clock of the database (%i)', faultOptions, (direction, context) =>
    strikes(`clock of PostgreSQL set ${direction > 0 ? 'back' : 'forward'}`, (run) =>
      jumpThrough(run, (hours) => shiftTimes(direction * hours)),
    )(context),
  );
});

/** Shifts stored times as if the database's clock had been ahead or behind until now: waits and leases were set by it. */
async function shiftTimes(hours: number): Promise<void> {
  const { database } = network;
  const { rows: columns } = await database.query<{ name: string; column: string }>(
    `select format('%I.%I', table_schema, table_name) as name, column_name as column
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where column_name in ('due_at', 'leased_until', 'rest_until', 'checked_at', 'pull_at', 'sent_at')
       and table_schema in ('work', 'catalog', 'discovery') and table_type = 'BASE TABLE'`,
  );
  const tables = new Map<string, string[]>();
  for (const { name, column } of columns)
    tables.set(name, [...(tables.get(name) ?? []), `${column} = ${column} + interval '${hours} hours'`]);
  await database.transaction(async (tx) => {
    for (const [name, shifts] of tables) await tx.query(`update ${name} set ${shifts.join(', ')}`);
  });
}
