import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, offer, publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import type { Actor } from '../support/network/actor.ts';
import {
  held,
  names,
  startDiscovery,
  type TestDiscovery,
  withoutDiscovery,
} from '../support/network/discovery.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { served } from '../support/network/publish.ts';
import { allPushed } from '../support/network/receiver.ts';
import { until, watchFor } from '../support/time.ts';

// The real discovery service and the real catalog service: it subscribes, pulls existing catalogs, and then follows pushes.

const retail = 'a.example/retail';
const energy = 'b.example/energy';
const other = 'c.example/other';

let network: TestNetwork;
let provider: Actor;
let discovery: TestDiscovery;

beforeAll(async () => {
  // A low limit turns even small results into downloads, so that the test covers both forms.
  network = await startNetwork({ settings: { ...withoutDiscovery, PULL_INLINE_LIMIT: '20kb' } });
  provider = await network.actor('provider');
  await publishCatalog(
    provider,
    { id: 'before', resources: [resource('r1'), resource('r2')], offers: [offer('o1')], isActive: false },
    { visibleTo: [retail, energy, other] },
  );
  await publishCatalog(
    provider,
    { id: 'master', resources: [resource('template')] },
    { catalogType: 'MASTER', visibleTo: [retail] },
  );
  await publishCatalog(provider, { id: 'hidden', resources: [resource('r1')] }, { visibleTo: [other] });
  for (let page = 0; page < 6; page += 1) {
    const long = 'x'.repeat(5_000);
    await publishCatalog(
      provider,
      { id: `energy-${page}`, resources: [resource('r1', long), resource('r2')] },
      { visibleTo: [energy] },
    );
  }
  discovery = await startDiscovery(network, [
    { catalogUrl: network.catalogUrl, networkIds: [retail, energy] },
  ]);
  await discovery.settled();
});
afterAll(async () => {
  await discovery?.stop();
  await network?.close();
});

/** Whether both sides have the same content. */
async function expectInStep(id: string): Promise<void> {
  await allPushed(network);
  const { resources = [], offers = [], ...head } = await served(network.database, id);
  const byId = (one: { id: string }, two: { id: string }) => (one.id < two.id ? -1 : 1);
  const copy = await held(network.database, id);
  expect({ ...copy, resources: copy.resources.sort(byId), offers: copy.offers.sort(byId) }).toMatchObject({
    head,
    resources: resources.sort(byId),
    offers: offers.sort(byId),
  });
}

describe('a discovery service that starts', () => {
  it('creates one subscription for each network that it is configured for', async () => {
    const { rows } = await network.database.query(
      'select network_ids from catalog.subscription where owner = $1 and status = $2 order by network_ids',
      [discovery.identity, 'ACTIVE'],
    );
    expect(rows).toEqual([{ network_ids: [retail] }, { network_ids: [energy] }]);
  });

  it('pulls everything that matches, inline and by download, with its networks, flags and offers', async () => {
    expect(await held(network.database, 'before')).toMatchObject({
      source: 'service:catalog.signpost.test/subscribers.beckn.one',
      owner: 'provider.signpost.test/subscribers.beckn.one',
      type: 'REGULAR',
      networks: expect.arrayContaining([retail, energy]),
      head: { isActive: false },
      resources: [{ id: 'r1' }, { id: 'r2' }],
      offers: [{ id: 'o1' }],
    });
    for (let page = 0; page < 6; page += 1) await expectInStep(`energy-${page}`);
    expect(await held(network.database, 'hidden')).toBeUndefined();
  });

  it('learns which catalogs are masters from the search', async () => {
    expect(await held(network.database, 'master')).toMatchObject({ type: 'MASTER' });
  });

  it('finds its subscriptions again after a restart, and pulls nothing that it has just pulled', async () => {
    await discovery.stop();
    await discovery.start();
    await watchFor(500);
    const { rows } = await network.database.query(
      'select count(*) from catalog.subscription where owner = $1',
      [discovery.identity],
    );
    expect(rows).toEqual([{ count: 2 }]);
    const { rowCount } = await network.database.query('select from discovery.feed where run is not null');
    expect(rowCount).toBe(0);
  });
});

describe('in step', () => {
  it('has what was published as soon as the push is acknowledged: new, merged, replaced, deactivated', async () => {
    const id = newId();
    const visibleTo = [retail];
    await publishCatalog(provider, { id, resources: [resource('a'), resource('b')] }, { visibleTo });
    await expectInStep(id);
    await publishCatalog(
      provider,
      { id, resources: [resource('b', 'new')], offers: [offer('o')] },
      { visibleTo },
    );
    await expectInStep(id);
    await publishCatalog(provider, { id, resources: [resource('c')] }, { visibleTo, updateMode: 'FULL' });
    await expectInStep(id);
    expect(await names(network.database, id)).toEqual(['c']);
    await publishCatalog(provider, { id, isActive: false, resources: [] }, { visibleTo });
    await expectInStep(id);
  });

  it('finds drift by pulling everything, mends it, and rewrites only what differs', async () => {
    const id = newId();
    const resources = ['a', 'b', 'c'].map((name) => resource(name));
    await publishCatalog(provider, { id, resources }, { visibleTo: [energy] });
    await expectInStep(id);
    // The service changes without a push.
    const { database } = network;
    const ofCatalog = 'catalog_key = (select key from catalog.catalog where id = $1)';
    await database.query(
      `update catalog.resource set own = '{"id":"b","descriptor":{"name":"drifted"}}' where id = 'b' and ${ofCatalog}`,
      [id],
    );
    await database.query(
      `update catalog.resource set id = 'd', own = '{"id":"d"}' where id = 'c' and ${ofCatalog}`,
      [id],
    );
    const versions = async () => {
      const { rows } = await database.query(
        `select catalog.id, document.id as resource, document.xmin::text
         from discovery.resource as document join discovery.catalog on catalog.key = catalog_key
         where catalog.id = 'before' or catalog.id = $1 and document.id = 'a' order by 1, 2`,
        [id],
      );
      return rows;
    };
    const before = await versions();
    await discovery.pull();
    await expectInStep(id);
    expect(await versions()).toEqual(before);
  });

  it('takes a catalog for gone only when two complete pulls in a row miss it', async () => {
    const id = newId();
    await publishCatalog(provider, { id, resources: [resource('a')] }, { visibleTo: [retail] });
    await expectInStep(id);
    await network.database.query('delete from catalog.catalog where id = $1', [id]);
    await discovery.pull();
    expect(await held(network.database, id)).toBeDefined();
    await discovery.pull();
    expect(await held(network.database, id)).toBeUndefined();
    const { rows } = await network.database.query(
      `select (select count(*) from discovery.resource where catalog_key not in (select key from discovery.catalog)) as resources,
         (select count(*) from index_1.run where list > -(1::bigint << 51) and first::bigint >> 26 not in (select key from discovery.catalog)) as places`,
    );
    expect(rows).toEqual([{ resources: 0, places: 0 }]);
  });

  it('knows that a catalog left one of its networks and is still in the other', async () => {
    const id = newId();
    await publishCatalog(provider, { id, resources: [resource('a')] }, { visibleTo: [retail, energy] });
    await expectInStep(id);
    await network.database.query('update catalog.catalog set visible_to = $2 where id = $1', [id, [energy]]);
    await discovery.pull();
    await discovery.pull();
    expect(await held(network.database, id)).toMatchObject({ networks: [energy] });
  });

  it('pulls everything after more than a minute of absence, and not after less', async () => {
    // The service has a catalog for us that it will never push.
    const id = 'hidden';
    await discovery.stop();
    await network.database.query('update catalog.catalog set visible_to = $2 where id = $1', [id, [retail]]);
    await discovery.start();
    await watchFor(500);
    expect(await held(network.database, id)).toBeUndefined();

    await discovery.stop();
    await network.database.query("update discovery.presence set seen_at = now() - interval '61 seconds'");
    await discovery.start();
    await until(async () => (await held(network.database, id)) !== undefined, 'the catalog to be pulled');
    await discovery.settled();
  });
});

it('cancels what the settings do not name any more, and lets go of what came by it alone', async () => {
  const id = newId();
  await publishCatalog(provider, { id, resources: [resource('a')] }, { visibleTo: [retail] });
  await publishCatalog(
    provider,
    { id: `${id}-both`, resources: [resource('a')] },
    { visibleTo: [retail, energy] },
  );
  await expectInStep(id);
  await expectInStep(`${id}-both`);
  await discovery.stop();
  await discovery.start([{ catalogUrl: network.catalogUrl, networkIds: [energy] }]);
  await discovery.settled();
  expect(await held(network.database, id)).toBeUndefined();
  expect(await held(network.database, `${id}-both`)).toMatchObject({ networks: [energy] });
  const { rows } = await network.database.query(
    'select network_ids, status from catalog.subscription where owner = $1 order by status',
    [discovery.identity],
  );
  expect(rows).toEqual([
    { network_ids: [energy], status: 'ACTIVE' },
    { network_ids: [retail], status: 'INACTIVE' },
  ]);
});

it('converges when either side is restarted while catalogs are published', async () => {
  const ids = Array.from({ length: 5 }, newId);
  for (let round = 0; round < 6; round += 1) {
    const publishing = Promise.all(
      ids.map((id, index) =>
        publishCatalog(
          provider,
          {
            id,
            resources: [resource(`r${(index + round) % 3}`, `round ${round}`), resource('last', `${round}`)],
          },
          { visibleTo: [energy], updateMode: round % 3 === 2 ? 'FULL' : 'MERGE' },
        ),
      ),
    );
    if (round === 1 || round === 3) {
      await discovery.stop();
      await discovery.start([{ catalogUrl: network.catalogUrl, networkIds: [energy] }]);
    }
    await publishing;
    if (round === 2 || round === 4) await network.restart();
  }
  for (const id of ids) await expectInStep(id);
});
