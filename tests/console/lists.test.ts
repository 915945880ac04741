import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listDeliveries } from '../../src/console/deliveries.ts';
import { listAllCatalogs } from '../../src/console/list-catalogs.ts';
import { listReceivers } from '../../src/console/receivers.ts';
import { listCatalogs } from '../../src/storage/catalog/catalog-list.ts';
import { listIndexedCatalogs } from '../../src/storage/console/indexed-catalogs.ts';
import { listCrawledMasters, listPublishedMasters } from '../../src/storage/console/masters.ts';
import { findKnownCatalogs } from '../../src/storage/console/subjects.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { countRowsRead } from '../support/database/rows-read.ts';
import { consoleOf } from '../support/network/console.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';

// Lists of 100,000 catalogs, in the catalog service and in the index, and 200,000 pushes to 1,000 receivers. The cost of a page is measured by the
// rows that PostgreSQL reads for it, never by time.

const many = 100_000;
let network: TestNetwork;
let desk: ReturnType<typeof consoleOf>;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,console' } });
  desk = consoleOf(network);
  const { database } = network;
  // Every 1,000th is of a rare owner, every 5,000th in a rare network, every 10,000th a MASTER.
  const named = `'catalog-' || lpad(n::text, 6, '0') as id,
    case when n % 1000 = 0 then 'rare' else 'owner-' || n % 50 end || '.example.org/subscribers.beckn.one' as owner,
    case when n % 10000 = 0 then 'MASTER' else 'REGULAR' end as type,
    case when n % 5000 = 0 then array['example.org/rare'] else array['nfh.global/beckn-nodes'] end as networks,
    json_build_object('id', n, 'descriptor', json_build_object('name', 'Catalog number ' || n)) as head
    from generate_series(1, ${many}) as n`;
  await database.query(
    `insert into catalog.catalog (id, owner, type, visible_to, version, full_version, members, head, is_active, resource_count, offer_count,
       schema_uses, schema_types, published_at, updated_at)
     select id, owner, type, networks, 3, 1, head, head, true, 1, 0, '{}', '{}', now(), now() from (select ${named}) as made`,
  );
  await database.query(
    `insert into discovery.catalog (source, owner, id, type, head, head_digest, provider_id, networks, schema_uses, schema_types, is_active, updated_at, pulled_at)
     select 'service:catalog.example.org/subscribers.beckn.one', owner, id, type, head, 1, 'p', networks, '{}', '{}', true, now(), now()
     from (select ${named}) as made`,
  );
  await database.query(
    `insert into catalog.push_lane (subscriber)
     select 'ds-' || lpad(n::text, 4, '0') || '.example.org/subscribers.beckn.one' from generate_series(1, 1000) as n`,
  );
  await database.query(
    `insert into catalog.push (subscriber, catalog_key, wanted_version, state, due_at)
     select subscriber, key, 3, case when n % 40000 = 0 then 'parked' when n % 1000 = 0 then 'pending' else 'acknowledged' end,
       case when n % 1000 = 0 and n % 40000 <> 0 then now() + interval '1 day' end
     from (
       select subscriber, key, row_number() over () as n
       from catalog.push_lane cross join (select key from catalog.catalog order by key limit 200) as few
     ) as made`,
  );
  await database.transaction(async (tx) => {
    // A usual sample may miss the rare network, and then PostgreSQL reads all catalogs to find it.
    await tx.query('set local default_statistics_target = 1000');
    await tx.query('analyze catalog.catalog, catalog.push, catalog.push_lane, discovery.catalog');
  });
});
afterAll(() => network?.close());

const rare = 'rare.example.org/subscribers.beckn.one';
/** Size of a page. */
const limit = 50;
const middle = many / 2;

describe('a page of a long list', () => {
  it.each<[what: string, work: (queryable: Queryable) => Promise<unknown[]>, found: number]>([
    ['of published catalogs', (q) => listCatalogs(q, { limit }), limit],
    ['of published catalogs, in the middle', (q) => listCatalogs(q, { limit, after: middle }), limit],
    ['of those of an owner with few', (q) => listCatalogs(q, { limit, owner: rare }), limit],
    ['of those of a network with few', (q) => listCatalogs(q, { limit, networkId: 'example.org/rare' }), 20],
    ['of masters among them', (q) => listCatalogs(q, { limit, type: 'MASTER' }), 10],
    ['of the index', (q) => listIndexedCatalogs(q, { limit }), limit],
    ['of the index, in the middle', (q) => listIndexedCatalogs(q, { limit, after: middle }), limit],
    ['of an owner in the index', (q) => listIndexedCatalogs(q, { limit, owner: rare }), limit],
    [
      'of a network in the index',
      (q) => listIndexedCatalogs(q, { limit, networkId: 'example.org/rare' }),
      20,
    ],
    ['of masters in the index', (q) => listIndexedCatalogs(q, { limit, type: 'MASTER' }), 10],
    ['of masters with who extends them', (q) => listPublishedMasters(q, { limit }), 10],
    ['of crawled masters', (q) => listCrawledMasters(q, { limit }), 0],
    ['of all deliveries', async (q) => (await listDeliveries(q, { limit })).items, limit],
    ['of parked deliveries', async (q) => (await listDeliveries(q, { limit, state: 'parked' })).items, 5],
    ['of waiting deliveries', async (q) => (await listDeliveries(q, { limit, state: 'open' })).items, limit],
    [
      'of deliveries to one receiver',
      async (q) =>
        (await listDeliveries(q, { limit, receiver: 'ds-0001.example.org/subscribers.beckn.one' })).items,
      limit,
    ],
    ['of catalogs with an id', (q) => findKnownCatalogs(q, { limit, catalogId: 'catalog-050000' }), 1],
    ['of catalogs of a node', (q) => findKnownCatalogs(q, { limit, owner: rare }), limit],
    ['of receivers', (q) => listReceivers(q, { limit }), limit],
    ['of receivers with parked ones', (q) => listReceivers(q, { limit, state: 'parked' }), 5],
  ])('%s reads few rows', async (_, work, found) => {
    expect(await work(network.database)).toHaveLength(found);
    const read = await countRowsRead(network.database, work);
    // Far fewer than the 100,000 and 200,000; receivers are read with a hundred deliveries each.
    expect(read).toBeLessThan(12_000);
  });
});

describe('GET /api/catalogs', () => {
  const idsOf = (items: object[]) => items.map((item) => (item as { catalogId: string }).catalogId);

  it('lists those of an owner of both sources, each once, however small the pages are', async () => {
    const path = `/api/catalogs?owner=rare.example.org`;
    const [small, large] = [await desk.all(path, 30), await desk.all(path, 200)];
    expect(small.items).toEqual(large.items);
    expect([small.items.length, small.pages, large.pages]).toEqual([200, 7, 2]);
    const sources = large.items.map((item) => (item as unknown as { source: string }).source);
    expect(sources).toEqual([...Array(100).fill('service'), ...Array(100).fill('pull')]);
  });

  it('finds by a part of name or id, and takes signs of patterns for themselves', async () => {
    const { items } = await desk.get('/api/catalogs?q=NUMBER%2099999&source=service');
    expect(idsOf(items)).toEqual(['catalog-099999']);
    expect((await desk.get('/api/catalogs?q=catalog_0&source=service')).items).toEqual([]);
  });

  it('looks at so many catalogs for a part of a name, and goes on behind them', async () => {
    const { database } = network;
    const found: object[] = [];
    let pages = 0;
    for (
      let after: { in: 'service'; key: number } | undefined, next: string | undefined = '';
      next !== undefined;
    ) {
      const asked = { text: 'number 99999', source: 'service' as const, limit, lookAt: 40_000, after };
      const page = await listAllCatalogs(database, asked);
      found.push(...page.items);
      pages += 1;
      next = page.next;
      after = next === undefined ? undefined : JSON.parse(Buffer.from(next, 'base64url').toString());
    }
    expect([idsOf(found), pages]).toEqual([['catalog-099999'], 3]);
  });

  it('keeps to network, type and source', async () => {
    const { items } = await desk.get('/api/catalogs?network=example.org/rare&type=MASTER&source=pull');
    expect(items).toHaveLength(10);
    expect(items[0]).toMatchObject({
      ...{ catalogId: 'catalog-010000', name: 'Catalog number 10000', owner: rare, source: 'pull' },
      ...{ networks: ['example.org/rare'], type: 'MASTER', resources: 0, offers: 0, state: 'served' },
    });
  });

  it('refuses a type that there is not', async () => {
    const { status, body } = await desk.ask('/api/catalogs?type=LORD');
    expect([status, body.error.path]).toEqual([400, '$.query.type']);
  });
});

describe('GET /api/overview', () => {
  it('counts what there is, up to a bound', async () => {
    expect(await desk.get('/api/overview')).toMatchObject({
      catalogs: many,
      deliveries: { waiting: 195, parked: 5 },
      participants: 4,
    });
  });
});
