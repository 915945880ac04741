import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import type { Catalog, Offer, Resource } from '../../src/protocol/catalog.ts';
import type { Body, Exchange } from '../support/network/actor.ts';
import { type Discovering, filter, resourceIds, startDiscovering } from '../support/network/discover.ts';
import { startDiscovery, type TestDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork } from '../support/network/network.ts';
import { type PlayedService, playService } from '../support/network/played-service.ts';
import { watchMainThread } from '../support/processes/main-thread.ts';
import { type CountedSearches, countSearches } from '../support/search/counted-searches.ts';

// Offers on all resources of a provider, so many that their pairs with the resources would fill the memory. Every consumer gets an answer, and none
// delays the others. Services and tests run in one process here: the watched event loop is also the service's.

/**
 * The pairs of offers and resources would block the event loop for a minute. A busy machine may stop this process for seconds, so tighter bounds
 * belong in the attack tests.
 */
const longestBlockMs = 5_000;
/** A push of four megabytes is also written, signed, read and checked here, and an answer of eight is rendered, stored, sent and read. */
const longestLargeBlockMs = 10_000;
const maxGrownBytes = 400 * 2 ** 20;

let scene: Discovering;
let service: PlayedService;
let discovery: TestDiscovery;
let counted: CountedSearches;

beforeAll(async () => {
  scene = await startDiscovering({ settings: { ROLES: 'registry,catalog' } });
  service = await playService(scene.network, 'flooding', () => discovery.url);
  discovery = await startDiscovery(
    scene.network,
    [{ catalogUrl: service.actor.url, networkIds: [defaultNetwork] }],
    { DISCOVER_TIMEOUT_MS: '60000', RATE_LIMIT_PER_SECOND: '0' },
  );
  await discovery.settled();
  counted = countSearches(scene.network.database, discovery.config);
});
afterAll(async () => {
  await counted?.close();
  await discovery?.stop();
  await scene?.network.close();
});

const goods = 'coffee tea sugar bread cheese apple lemon table chair lamp'.split(' ');
const shops = many(300, (shop) =>
  catalog(
    `shop-${shop}`,
    many(4, (index) => ({
      id: `shop-${shop}-${index}`,
      descriptor: { name: `${goods[(shop + index) % goods.length]} ${shop}` },
    })),
    [{ id: `cheap-${shop}`, descriptor: { name: `Cheap ${shop}` }, resourceIds: [`shop-${shop}-0`] }],
  ),
);
/** Searches for goods of the shops, first page. */
const searches = many(40, (index) => ({
  ...(index % 4 === 3
    ? filter(`$.catalogs[*].offers[?@.descriptor.name == 'Cheap ${index}']`)
    : { intent: { textSearch: `${goods[index % goods.length]} ${index}` } }),
  limit: 5,
}));

/** Searches of others find the same as before with the same number of statements, except for the first one after a publish, which reads the changes. */
async function expectAsBefore(published: readonly Catalog[]): Promise<void> {
  await counted.find(searches);
  const before = await counted.find(searches);
  for (const each of published) await push(each);
  expect((await counted.find(searches)).found).toEqual(before.found);
  const after = await counted.find(searches);
  expect(after.found).toEqual(before.found);
  // Few offers have the word, so reading their resources takes one more statement.
  expect(after.asked.statements).toBeLessThanOrEqual(before.asked.statements + 2);
  expect(after.asked.characters).toBeLessThan(before.asked.characters * 1.2);
}

describe('2,000 offers on 2,000 resources', () => {
  it('leave searches of others as they were, also for words that come near theirs', async () => {
    await scene.hold(shops);
    const resources = many(2_000, (index) => ({ id: `m${index}`, descriptor: { name: 'Thing' } }));
    const offers = many(2_000, (index) => ({ id: `mo${index}`, descriptor: { name: 'Offer' } }));
    await expectAsBefore([catalog('mid', resources, offers)]);
    // "offer" is similar to "coffee", but typing errors are allowed only in words that the index does not have.
    const { message } = await find({ intent: { textSearch: 'coffee' }, limit: 1_000 });
    const coffees = shops.flatMap(({ resources = [] }) =>
      resources.filter(({ descriptor }) => descriptor?.name?.startsWith('coffee')),
    );
    expect(resourceIds({ message }).sort()).toEqual(coffees.map(({ id }) => id).sort());
  });
});

describe('offers that each name 200 resources, which stand in 10 catalogs of one owner', () => {
  const ids = many(200, (index) => `same-${index}`);
  const catalogs = many(10, (number) =>
    catalog(
      `same-${'abcdefghij'[number]}`,
      ids.map((id) => ({ id, descriptor: { name: 'Widget' } })),
      many(20, (index) => ({
        id: `same-${number}-${index}`,
        descriptor: { name: index === 7 ? 'Voucher' : 'Offer' },
        resourceIds: ids,
      })),
      'same',
    ),
  );

  it('leave searches of others as they were, also for words that come near theirs', () =>
    expectAsBefore(catalogs));

  it.each([
    ['a filter on offers', filter("$.catalogs[*].offers[?@.descriptor.name == 'Voucher']")],
    ['a filter on many offers', filter("$.catalogs[*].offers[?@.id >= 'same-0' && @.id < 'same-9-9']")],
    ['a filter on catalogs', filter("$.catalogs[?@.offers[?@.descriptor.name == 'Voucher']].resources[*]")],
    ['a word of offers', { intent: { textSearch: 'voucher' } }],
  ])('are found by %s in each catalog, with all offers', async (_, message) => {
    const found = await findWatched({ ...message, limit: 50, offset: 180 });
    expect(found.message.pagination.total).toBe(1_001);
    expect(resourceIds(found)).toEqual([...ids.slice(180), ...ids.slice(0, 30)]);
    for (const { offers } of found.message.catalogs) expect(offers).toHaveLength(200);
  });
});

describe('120 resources in each of 10 catalogs of one owner, and in each 60 offers that name them all', () => {
  const ids = many(120, (index) => `both-${index}`);
  const catalogs = many(10, (number) =>
    catalog(
      `both-${number}`,
      ids.map((id) => ({ id, descriptor: { name: 'Sprocket' } })),
      many(60, (index) => ({ id: `both-${number}-${index}`, resourceIds: ids, note: 'x'.repeat(8_000) })),
      'both',
    ),
  );

  it('are listed with all 600 offers, in as few answers as they fit into', async () => {
    for (const each of catalogs) await push(each);
    const found: string[] = [];
    // 72,000 pairs in each catalog, and 5.5 MB of offers, listed once: an answer has room for the offers of one catalog.
    while (found.length < 240) {
      const { message } = await findWatched(
        { intent: { textSearch: 'sprocket' }, limit: 240, offset: found.length },
        longestLargeBlockMs,
      );
      expect(message.catalogs).toHaveLength(1);
      expect(message.catalogs[0].offers).toHaveLength(600);
      expect(resourceIds({ message })).toHaveLength(120);
      found.push(...resourceIds({ message }));
    }
    expect(found).toEqual([...ids, ...ids]);
  });
});

describe('20,000 resources and 30,000 offers on all of them', () => {
  const resources = many(20_000, (index) => ({ id: `r${index}`, descriptor: { name: 'Gadget' } }));
  const offers = many(30_000, (index) => ({
    id: `o${index}`,
    geo: { type: 'Point', coordinates: [77 + index / 100_000, 13] },
    ...(index === 29_999 && { descriptor: { name: 'Bargain' } }),
  }));

  it('are applied without stopping others', async () => {
    const { blockedMs, grownBytes } = await watchMainThread(() => push(catalog('flood', resources, offers)));
    expect(blockedMs).toBeLessThan(longestLargeBlockMs);
    expect(grownBytes).toBeLessThan(maxGrownBytes);
  });

  const around = (distanceMeters: number) => ({
    spatial: [
      {
        op: 'S_DWITHIN',
        targets: '$.catalogs[*].offers[*].geo',
        geometry: { type: 'Point', coordinates: [77.1, 13] },
        distanceMeters,
      },
    ],
  });
  it.each([
    ['a filter on offers', filter("$.catalogs[*].offers[?@.id == 'o29999']")],
    ['a filter on catalogs', filter("$.catalogs[?@.offers[?@.id == 'o29999']].resources[*]")],
    ['a word of an offer', { intent: { textSearch: 'bargain' } }],
    ['a place of some offers', { intent: around(100) }],
    ['a place of all offers', { intent: around(1_000_000) }],
    ['their name', { intent: { textSearch: 'gadget' } }],
  ])('are found by %s, the first ones with all offers', async (_, message) => {
    const found = await findWatched({ ...message, limit: 20 });
    expect(resourceIds(found)).toEqual(resources.slice(0, 20).map(({ id }) => id));
    expect(found.message.catalogs[0].offers).toHaveLength(offers.length);
    expect(found.message.pagination.total).toBe(1_001);
  });
});

describe('20 catalogs of one provider with 30,000 offers on all their resources', () => {
  const catalogs = many(20, (number) =>
    catalog(
      `part-${number}`,
      [{ id: `p${number}`, descriptor: { name: 'Fragment' } }],
      many(1_500, (index) => ({ id: `p${number}-${index}`, ...(index === 0 && { number }) })),
      'parts',
    ),
  );

  it('are found by their own offers alone, and listed with all offers, in as many answers as that takes', async () => {
    for (const each of catalogs) await push(each);
    const byOffer = await findWatched(
      { ...filter('$.catalogs[*].offers[?@.number == 19]'), limit: 20 },
      longestLargeBlockMs,
    );
    expect(byOffer.message.pagination).toMatchObject({ total: 1 });
    for (const message of [{ intent: { textSearch: 'fragment' } }]) {
      const ids: string[] = [];
      // More than 8 MiB in total: an answer ends between two resources, and its limit says where to continue.
      while (ids.length < 20) {
        const found = await findWatched({ ...message, limit: 20, offset: ids.length }, longestLargeBlockMs);
        expect(found.message.pagination).toMatchObject({ total: 20, offset: ids.length });
        for (const { offers } of found.message.catalogs) expect(offers).toHaveLength(30_000);
        ids.push(...resourceIds(found));
      }
      expect(ids).toEqual(many(20, (number) => `p${number}`));
    }
  });
});

/** The answer is made before the acknowledgement; afterwards this test reads it, which also takes long. */
async function findWatched(message: object, longestMs = longestBlockMs): Promise<Body> {
  const { result, blockedMs, grownBytes } = await watchMainThread(() => ask(message));
  expect(blockedMs).toBeLessThan(longestMs);
  expect(grownBytes).toBeLessThan(maxGrownBytes);
  return answerTo(result);
}

async function push(pushed: Catalog): Promise<void> {
  const { status } = await service.push([pushed], { visibleTo: [defaultNetwork] });
  expect(status).toBe(200);
}

async function find(message: object): Promise<Body> {
  return answerTo(await ask(message));
}

function ask(message: object): Promise<Exchange> {
  return scene.consumer.send(actions.discover, message, { to: discovery.url });
}

async function answerTo(exchange: Exchange): Promise<Body> {
  expect(exchange).toMatchObject({ status: 200 });
  return (await scene.consumer.waitFor('on_discover', exchange.messageId)).body;
}

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function catalog(id: string, resources: Resource[], offers?: Offer[], provider = id): Catalog {
  return {
    ...{ id, descriptor: { name: id }, provider: { id: provider, descriptor: { name: provider } } },
    ...{ bppId: 'flooding.example', resources, ...(offers && { offers }) },
  };
}
