import { afterAll, beforeAll, expect, it } from 'vitest';
import { splitIdentity } from '../../src/protocol/identity.ts';
import {
  addMembership,
  registerParticipant,
  removeMembership,
} from '../../src/storage/registry/participants.ts';
import { crawl, logged } from '../support/hosted/crawl.ts';
import { catalogOf } from '../support/hosted/crawl-scene.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';

// The registry's record of a node changes, but nothing that the node itself publishes.

let network: TestNetwork;
let provider: Provider;

beforeAll(async () => {
  const settings = { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]), NETWORK_MEMBERSHIP: 'enforce' };
  network = await startNetwork({ settings });
  provider = await startProvider(network, 'provider');
  await provider.publish({
    message: {
      catalogs: [catalogOf('catalog', 0, 3)],
      publishDirectives: [
        { catalogId: 'catalog', catalogType: 'REGULAR', visibleTo: [defaultNetwork, another] },
      ],
    },
  });
});
afterAll(async () => {
  await provider?.stop();
  await network?.close();
});

const another = 'elsewhere.org/retail';

/** Crawls everything in a process that has not asked the registry before. */
async function look(): Promise<boolean | undefined> {
  await network.restart();
  await crawl(network.database);
  return (await held(network.database, 'catalog'))?.served;
}

it('a catalog is served as soon as its publisher is a member of all networks that it names, and no longer', async () => {
  const subscriber = splitIdentity(provider.identity);
  expect(await look()).toBeFalsy();
  expect(await logged(network.database, provider.identity)).toEqual(['not-a-member']);
  await addMembership(network.database, subscriber, another);
  expect(await look()).toBe(true);
  await removeMembership(network.database, subscriber, another);
  expect(await look()).toBe(false);
});

it('a participant with an impossible name does not hide the others of its network', async () => {
  const key = { recordId: 'key-1', publicKey: 'x'.repeat(43) };
  await registerParticipant(network.database, {
    ...{
      namespace: 'odd.signpost.test',
      registryName: network.config.REGISTRY_NAME,
      subscriberId: 'no host:x',
    },
    ...{ type: 'BPP', networkIds: [defaultNetwork], key },
  });
  const other = await startProvider(network, 'other');
  try {
    await other.publish({ message: { catalogs: [catalogOf('another', 0, 3)] } });
    await look();
    expect(await held(network.database, 'another')).toMatchObject({ served: true });
  } finally {
    await other.stop();
  }
});
