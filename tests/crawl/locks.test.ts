import { expect, it } from 'vitest';
import { crawl } from '../support/hosted/crawl.ts';
import { openScene, type Scene } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import type { Body } from '../support/network/actor.ts';
import { startDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork } from '../support/network/network.ts';

// A node, its indexes and its catalogs are processed in parallel, and a fault of one makes the others due. All writers lock the rows in the same
// order, so that no deadlock occurs.

it('what is written of a node, its index and its entries at the same time never ends in a deadlock', async () => {
  const network = await startNetwork({ settings: { ROLES: 'registry' } });
  const settings = { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) };
  const discovery = await startDiscovery(network, [], settings);
  const scenes: Scene[] = [];
  try {
    for (let index = 0; index < 8; index += 1) {
      scenes.push(await openScene(network, { discoveryUrl: discovery.url }));
    }
    for (const [index, { provider, catalogId, offer }] of scenes.entries()) {
      await provider.publish({ message: { catalogs: [{ ...catalog, id: `${catalogId}-other` }] } });
      await offer(0, 10);
      const spoiled = (document: Body) => {
        if (document.catalogId === catalogId) document.isActive = false;
      };
      // Some have a bad entry, the others a bad file, so that they are retried.
      provider.spoil(
        index % 2 === 0
          ? forge(provider, { entry: spoiled }, { signed: { entry: 'as it was' } })
          : forge(provider, { baseline: spoiled }, { signed: { baseline: 'as it was' } }),
      );
    }
    for (let round = 0; round < 3; round += 1) await crawl(network.database);
  } finally {
    // Statistics reach the database when a session ends.
    await discovery.stop();
  }
  const { rows } = await network.database.query(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(rows).toEqual([{ deadlocks: 0 }]);
  for (const scene of scenes) await scene.end();
  await network.close();
});

const catalog = {
  ...{ descriptor: { name: 'Other' }, provider: { id: 'p', descriptor: { name: 'P' } } },
  resources: [{ id: 'r1' }],
};
