import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settled } from '../support/hosted/crawl.ts';
import { catalogOf, openScene, type Scene } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { kindOf } from '../support/hosted/tampering.ts';
import { startTamperingProxy, type TamperingProxy } from '../support/hosted/tampering-proxy.ts';
import type { Body } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { until } from '../support/time.ts';

// Finding changes only by polling: there are no hints, and no test makes anything due.

const crawled = { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) };

const isHeld = (network: TestNetwork, id: string) => async () =>
  (await held(network.database, id)) !== undefined;

describe('a crawler that polls every second', () => {
  let network: TestNetwork;
  let provider: Provider;
  /** At an address in DISCOVERY_NODES. */
  let place: TamperingProxy;
  const empty = createServer((_request, response) => response.writeHead(404).end());
  /** The log of the process, as JSON texts. */
  const logged: string[] = [];

  beforeAll(async () => {
    const keep = new Writable({
      write(line, _encoding, done) {
        logged.push(String(line));
        done();
      },
    });
    place = await startTamperingProxy();
    await new Promise<void>((resolve) => empty.listen(0, '127.0.0.1', resolve));
    place.passTo(`http://127.0.0.1:${(empty.address() as AddressInfo).port}`);
    const settings = {
      ...{ ...crawled, CRAWL_INTERVAL_SECONDS: '1', CRAWL_MIN_INTERVAL_SECONDS: '1' },
      DISCOVERY_NODES: JSON.stringify([place.url]),
    };
    network = await startNetwork({ settings, logger: pino({ level: 'info' }, keep) });
    provider = await startProvider(network, 'provider');
  });
  afterAll(async () => {
    await provider?.stop();
    await network?.close();
    await place?.stop();
    empty.close();
  });

  const warnings = () => logged.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  const logLines = async (node: string) => {
    const { rows } = await network.database.query('select from discovery.crawl_log where node = $1', [node]);
    return rows.length;
  };

  it('looks again and again at a node that hosts nothing yet, without a complaint, and finds what it publishes then', async () => {
    await provider.register();
    await until(() => provider.requests.length >= 6, 'a node that hosts nothing to be looked at three times');
    expect(provider.requests.every(({ path, status }) => kindOf(path) === 'manifest' && status === 404)).toBe(
      true,
    );
    expect(await logLines(provider.identity)).toBe(0);
    expect(warnings().filter((line) => JSON.stringify(line).includes(provider.identity))).toEqual([]);

    await provider.publish({ message: { catalogs: [catalogOf('first', 0, 3)] } });
    await until(isHeld(network, 'first'), 'its first catalog');
  });

  it('finds a new index of a node that it knows', async () => {
    await provider.publish({ message: { catalogs: [catalogOf('second', 0, 3)] } }, 'another');
    await until(isHeld(network, 'second'), 'the catalog of its second index');
    expect(await logLines(provider.identity)).toBe(0);
  });

  it('finds a node that has joined the network meanwhile', async () => {
    const newcomer = await startProvider(network, 'newcomer');
    try {
      await newcomer.publish({ message: { catalogs: [catalogOf('third', 0, 3)] } });
      await until(isHeld(network, 'third'), 'the catalog of a new node');
    } finally {
      await newcomer.stop();
    }
  });

  it('looks again at an address of DISCOVERY_NODES without a manifest, says so, and finds what is published there then', async () => {
    const atPlace = () => logged.filter((line) => line.includes(place.url));
    await until(() => atPlace().length >= 2, 'the address to be looked at twice');
    expect(JSON.parse(atPlace()[0] ?? '')).toMatchObject({
      ...{ level: 30, msg: 'there is no manifest at this address of DISCOVERY_NODES yet' },
    });
    expect(await logLines('')).toBe(0);
    const settler = await startProvider(network, 'settler', { networks: [] });
    try {
      await settler.publish({ message: { catalogs: [catalogOf('fourth', 0, 3)] } });
      place.passTo(settler.url);
      await until(isHeld(network, 'fourth'), 'the catalog of the node at that address');
    } finally {
      await settler.stop();
    }
  });
});

describe('an index without next_update', () => {
  let network: TestNetwork;
  let scene: Scene;
  beforeAll(async () => {
    network = await startNetwork({ settings: { ...crawled, CRAWL_INTERVAL_SECONDS: '200' } });
    scene = await openScene(network);
  });
  afterAll(async () => {
    await scene?.end();
    await network?.close();
  });

  /** The seconds until the next poll. */
  const pollIn = async () => {
    const { rows } = await network.database.query<{ seconds: number }>(
      'select extract(epoch from due_at - now())::float8 as seconds from discovery.crawl_index',
    );
    return rows[0]?.seconds;
  };

  it('is polled after CRAWL_INTERVAL_SECONDS, whether it was read or has not changed', async () => {
    const index = (document: Body) => {
      delete document.next_update;
    };
    scene.provider.spoil(forge(scene.provider, { index }));
    await scene.publish(0, 3);
    expect(await scene.lines()).toEqual([]);
    expect(await pollIn()).toBeGreaterThan(180);
    await scene.look();
    await settled(network.database);
    expect(scene.provider.requests.filter(({ path }) => kindOf(path) === 'index')).toHaveLength(2);
    expect(await pollIn()).toBeGreaterThan(180);
    expect(await pollIn()).toBeLessThanOrEqual(220);
  });
});
