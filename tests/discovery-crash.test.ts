import { it } from 'vitest';
import { pullPushesForward } from '../src/storage/catalog/pushes.ts';
import { held } from './support/discovery.ts';
import { prepareDiscovery } from './support/discovery-process.ts';
import { endLeases } from './support/leases.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './support/network.ts';
import { served } from './support/publish.ts';
import { areAllPushed } from './support/receiver.ts';
import type { ServiceProcess } from './support/service-process.ts';
import { newId, publishCatalog, resource } from './support/small-catalogs.ts';
import { takeTime, until } from './support/time.ts';

// The discovery service in a process of its own, killed while it pulls and while it is pushed to.

it('a discovery service that is killed at any moment ends in step with its catalog service', async () => {
  const network = await startNetwork({ settings: { ROLES: 'registry,catalog', PULL_INLINE_LIMIT: '10kb' } });
  let service: ServiceProcess | undefined;
  try {
    const provider = await network.actor('provider');
    const ids = Array.from({ length: 12 }, newId);
    const publishAll = (round: number) =>
      Promise.all(
        ids.map((id, index) =>
          publishCatalog(
            provider,
            {
              id,
              resources: [
                resource(`r${(index + round) % 3}`, `round ${round}`),
                resource('last', `${round}`),
              ],
            },
            { updateMode: round % 3 === 2 ? 'FULL' : 'MERGE' },
          ),
        ),
      );
    await publishAll(0);
    const start = await prepareDiscovery(network, {
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify([
        { catalogUrl: network.catalogUrl, networkIds: [defaultNetwork] },
      ]),
    });
    for (let round = 1; round <= 3; round += 1) {
      service = await start();
      const publishing = publishAll(round);
      await takeTime(Math.random() * 600);
      await service.kill();
      await publishing;
      await endLeases(network.database);
    }
    service = await start();
    await until(async () => {
      // On a slow machine it was away for so long that it would be tried again only in minutes.
      await pullPushesForward(network.database, 0);
      const inStep = await Promise.all(ids.map((id) => isInStep(network, id)));
      return inStep.every(Boolean) && (await areAllPushed(network));
    }, 'all catalogs to be in step, and all pushes to be settled');
    await service.stop();
    service = undefined;
  } finally {
    await service?.kill();
    await network.close();
  }
});

async function isInStep({ database }: TestNetwork, id: string): Promise<boolean> {
  const [copy, { resources }] = await Promise.all([held(database, id), served(database, id)]);
  const sorted = (documents: { id: string }[] = []) =>
    documents.map((document) => JSON.stringify(Object.entries(document).sort())).sort();
  return JSON.stringify(sorted(copy?.resources)) === JSON.stringify(sorted(resources));
}
