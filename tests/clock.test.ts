import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { actions } from '../src/protocol/actions.ts';
import { feedsChannel } from '../src/storage/feeds/feeds.ts';
import type { Actor } from './support/actor.ts';
import { rouse } from './support/crawl.ts';
import { catalogOf } from './support/crawl-scene.ts';
import { held, startDiscovery, type TestDiscovery, withoutDiscovery } from './support/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './support/network.ts';
import { type PlayedService, playService } from './support/played-service.ts';
import { type Provider, startProvider } from './support/provider.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';
import { newId, resource } from './support/small-catalogs.ts';
import { until } from './support/time.ts';

// Clocks that jump two hours forth and back, of the processes and of the database, while everybody whom we send to, pull from and crawl is down:
// when they are up again, nothing is late.

const hours = 2;
const retail = 'a.example/retail';

let network: TestNetwork;
let discovery: TestDiscovery;
let publisher: Actor;
let receiver: Receiver;
let service: PlayedService;
let node: Provider;

/** How much the clocks of the processes are ahead. */
let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);

let isDown = false;
/** What came while everybody was down. */
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
    now,
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

/** A publish that is to be answered and pushed, a catalog that is to be pulled, and one that is to be crawled, with everybody down. */
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
    tx.hint(feedsChannel);
  });
  await rouse(database);
  await allRefusedAgain();
  return { messageId, published, pulled, crawled };
}

async function allRefusedAgain(): Promise<void> {
  const before = { ...refused };
  await until(() => kinds.every((kind) => refused[kind] > before[kind]), 'all kinds of work to fail again');
}

async function expectDone({ messageId, published, pulled, crawled }: Work): Promise<void> {
  isDown = false;
  await until(async () => {
    const { rowCount } = await network.database.query(
      "select from work.callback where message_id = $1 and state = 'delivered'",
      [messageId],
    );
    return rowCount === 1;
  }, 'the callback to be delivered');
  await until(() => receiver.copies.has(published), 'the push');
  for (const id of [pulled, crawled])
    await until(async () => (await held(network.database, id)) !== undefined, `${id} to be held`);
}

describe('nothing is late after a jump of two hours forth and back', () => {
  it('of the clocks of all processes', async () => {
    const work = await makeWork();
    aheadMs = hours * 3_600_000;
    await allRefusedAgain();
    aheadMs = 0;
    await expectDone(work);
  });

  it('of the clock of the database', async () => {
    const work = await makeWork();
    await shiftTimes();
    await expectDone(work);
  });
});

/** As if the database's clock had been ahead until now: what waits was made to wait by it, and what is leased was leased by it. */
async function shiftTimes(): Promise<void> {
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
