import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Action, actions } from '../../src/protocol/actions.ts';
import type { Resource } from '../../src/protocol/catalog.ts';
import type { Geometry } from '../../src/protocol/geojson.ts';
import { signRequest } from '../../src/protocol/request-signature.ts';
import { sphereBox } from '../../src/rules/geometry/sphere-box.ts';
import { indexFormats, newestOf } from '../../src/search/entries/index-format.ts';
import { keyOf } from '../../src/search/keys.ts';
import { createListRemovals } from '../../src/search/lists/remove.ts';
import { createIndexChanges } from '../../src/search/write/index-changes.ts';
import type { Actor } from '../support/network/actor.ts';
import { held, startDiscovery, type TestDiscovery, withoutDiscovery } from '../support/network/discovery.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type PlayedService, playService } from '../support/network/played-service.ts';
import { expectNobodyHeldUp, mainThreadCost, rounds } from '../support/processes/blocked.ts';

// The largest accepted geometries, and other participants: they block the process for only a small part of the time that the same work takes in place.

const retail = 'net.example/retail';

let network: TestNetwork;
let service: PlayedService;
let consumer: Actor;
let discovery: TestDiscovery;

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
  service = await playService(network, 'service', () => discovery.url);
  consumer = await network.actor('shopper');
  const subscriptions = [{ catalogUrl: service.actor.url, networkIds: [retail] }];
  discovery = await startDiscovery(network, subscriptions, { DISCOVER_TIMEOUT_MS: '60000' });
  await discovery.settled();
});
afterAll(async () => {
  await discovery?.stop();
  await network?.close();
});

const newest = newestOf(indexFormats);

describe('a push of the largest geometries', () => {
  it('is applied without holding others up', async () => {
    const resource = { id: 'r', areas: [1, 2].map((size) => circle(50_000, size)) } as Resource;
    const id = randomUUID();
    const [aside, inPlace]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const catalog = {
        ...{ id, descriptor: { name: `Round ${round}` }, provider: { id: 'p', descriptor: { name: 'P' } } },
        resources: [{ ...resource, round }],
      };
      const directive = { catalogId: id, catalogType: 'REGULAR', updateMode: 'FULL', visibleTo: [retail] };
      const send = prepare(service.actor, actions.push, {
        catalogs: [catalog],
        publishDirectives: [directive],
      });
      aside.push((await mainThreadCost(send)).longestMs);
      const indexed = async () =>
        createIndexChanges({
          number: 1,
          index: 'index_1',
          format: newest,
          removals: createListRemovals('index_1'),
        }).add(keyOf(1, 1), undefined, {
          ...resource,
        });
      inPlace.push((await mainThreadCost(indexed)).longestMs);
    }
    expect(await held(network.database, id)).toMatchObject({ networks: [retail], served: true });
    expectNobodyHeldUp(aside, inPlace);
  }, 300_000);
});

describe('a search in a MultiPolygon of 12,500 parts', () => {
  it('is answered without holding others up', async () => {
    const here = catalogAt('here', [10.05, 50.05]);
    expect((await service.push([here], { visibleTo: [retail] })).status).toBe(200);
    const geometry = manyParts(12_500);
    const spatial = [
      { op: 'S_INTERSECTS', targets: '$.catalogs[*].provider.availableAt[*].geo', geometry },
      { op: 'S_DWITHIN', targets: '$.catalogs[*].provider.availableAt[*].geo', geometry, distanceMeters: 10 },
    ];
    const [aside, inPlace]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const send = prepare(consumer, actions.discover, { intent: { spatial: [spatial[round % 2]] } });
      aside.push((await mainThreadCost(send)).longestMs);
      const looked = async () => structuredClone([sphereBox(geometry), geometry]);
      inPlace.push((await mainThreadCost(looked)).longestMs);
    }
    expectNobodyHeldUp(aside, inPlace);
  }, 300_000);
});

/** Does all work of the sender in advance: only sending the bytes and the answer 200 remain. */
function prepare(sender: Actor, action: Action, message: object): () => Promise<void> {
  const messageId = randomUUID();
  const context = {
    ...{ version: '2.0.0', action: action.name, messageId, transactionId: messageId },
    ...{ timestamp: new Date().toISOString(), bppId: sender.id, bppUri: sender.url },
    ...{ bapId: sender.id, bapUri: sender.url },
  };
  const body = Buffer.from(JSON.stringify({ context, message }));
  const authorization = signRequest(sender.key, body, { now: new Date() });
  return async () => {
    const url = `${discovery.url}${action.path}`;
    const answer = await fetch(url, { method: 'POST', headers: { authorization }, body });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"ACK"')]);
  };
}

function catalogAt(id: string, coordinates: number[]) {
  const provider = {
    id,
    descriptor: { name: id },
    availableAt: [{ geo: { type: 'Point' as const, coordinates } }],
  };
  return { id, descriptor: { name: id }, provider, resources: [{ id: `${id}-1` }] };
}

function circle(points: number, size: number): Geometry {
  const at = (index: number) => {
    const angle = (2 * Math.PI * (index % points)) / points;
    return [77 + size * Math.cos(angle), 12 + size * Math.sin(angle)];
  };
  return { type: 'Polygon', coordinates: [Array.from({ length: points + 1 }, (_, index) => at(index))] };
}

/** Squares, the first of them around a place at 10.05, 50.05. */
function manyParts(count: number): Geometry {
  const square = (index: number) => {
    const [west, south] = [10 + (index % 200) * 0.2, 50 - Math.floor(index / 200) * 0.2];
    const corners = [
      [west, south],
      [west + 0.1, south],
      [west + 0.1, south + 0.1],
      [west, south + 0.1],
    ];
    return [[...corners, [west, south]]];
  };
  return { type: 'MultiPolygon', coordinates: Array.from({ length: count }, (_, index) => square(index)) };
}
