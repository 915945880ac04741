import { afterAll, beforeAll, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import type { Actor, Body } from '../../support/network/actor.ts';
import {
  held,
  startDiscovery,
  type TestDiscovery,
  withoutDiscovery,
} from '../../support/network/discovery.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type PlayedService, playService } from '../../support/network/played-service.ts';
import { keepWarnings } from '../../support/processes/kept-log.ts';
import { star } from '../../support/values/costly-geometries.ts';

// Geometries that we refuse in a publish, from a catalog service that did not refuse them. Their catalog is stored, and searches find its resources
// by everything except these geometries, without slow searches.

const retail = 'net.example/retail';
const { logger, warnings } = keepWarnings();

let network: TestNetwork;
let service: PlayedService;
let consumer: Actor;
let discovery: TestDiscovery;

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
  service = await playService(network, 'service', () => discovery.url);
  consumer = await network.actor('shopper');
  const subscriptions = [{ catalogUrl: service.actor.url, networkIds: [retail] }];
  discovery = await startDiscovery(network, subscriptions, {}, { logger });
  await discovery.settled();
});
afterAll(async () => {
  await discovery?.stop();
  await network?.close();
});

it('a pushed geometry that is too costly is not indexed, and its resource is found by other things', async () => {
  const pushed = await service.push([catalogWithStars('pushed')], { visibleTo: [retail] });
  expect(pushed.status).toBe(200);
  expect(await held(network.database, 'pushed')).toMatchObject({ served: true });
  await expectFoundByOthers('pushed');
});

it('a pulled one neither, and the log names it by catalog, resource and path', async () => {
  service.catalogs = [catalogWithStars('pulled')];
  await discovery.pull();
  await expectFoundByOthers('pulled');
  const line = warnings.find(({ says }) => says.startsWith('geometries are not indexed'));
  expect(line).toMatchObject({
    catalogId: 'pulled',
    count: 3,
    geometries: [
      { path: '$.catalogs[*].provider.availableAt[*].geo' },
      { id: 'pulled-r', path: '$.catalogs[*].resources[*].area' },
      { id: 'pulled-o', path: '$.catalogs[*].offers[*].zones[*].area' },
    ],
  });
});

async function expectFoundByOthers(id: string): Promise<void> {
  const byWord = await discover({ textSearch: id });
  expect(byWord.status).toBe(200);
  const targets = ['provider.availableAt[*].geo', 'resources[*].area', 'offers[*].zones[*].area'].map(
    (path) => `$.catalogs[*].${path}`,
  );
  const geometry = { type: 'Point', coordinates: [10, 50] };
  const near = { op: 'S_DWITHIN', targets, geometry, distanceMeters: 1_000_000 };
  expect((await discover({ spatial: [near] })).status).toBe(202);
  expect(
    (await discover({ spatial: [{ ...near, targets: '$.catalogs[*].resources[*].place' }] })).status,
  ).toBe(200);
}

function discover(intent: object) {
  return consumer.send(actions.discover, { intent }, { to: discovery.url });
}

function catalogWithStars(id: string): Body {
  const tangled = star(101, [10, 50]);
  return {
    id,
    descriptor: { name: id },
    provider: { id: 'p', descriptor: { name: 'P' }, availableAt: [{ geo: tangled }] },
    resources: [{ id: `${id}-r`, area: tangled, place: { type: 'Point', coordinates: [10, 50] } }],
    offers: [{ id: `${id}-o`, zones: [{ area: tangled }] }],
  };
}
