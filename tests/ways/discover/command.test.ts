import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { register as registerDiscoverCommand } from '../../../src/cli/discover.ts';
import { charger, offer } from '../../support/catalogs/sample-catalogs.ts';
import { publishCatalog } from '../../support/catalogs/small-catalogs.ts';
import { startDiscovery, type TestDiscovery, withoutDiscovery } from '../../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { allPushed } from '../../support/network/receiver.ts';
import { type CommandRun, runCommand } from '../../support/processes/command.ts';
import { until } from '../../support/time.ts';

// From a publish to the table on a consumer's screen: provider → catalog service → discovery service → `signpost discover`.

const locationOfResource = '$.catalogs[*].resources[*].resourceAttributes.attributes.location.geo';

let network: TestNetwork;
let discovery: TestDiscovery;

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
  const provider = await network.actor('provider');
  discovery = await startDiscovery(network, [
    { catalogUrl: network.catalogUrl, networkIds: [defaultNetwork] },
  ]);
  await discovery.settled();
  await publishCatalog(provider, {
    id: 'indiranagar',
    descriptor: { name: 'Indiranagar' },
    provider: {
      id: 'voltpath',
      descriptor: { name: 'Voltpath' },
      availableAt: [{ geo: { type: 'Point', coordinates: [77.6408, 12.9719] } }],
    },
    resources: [charger('fast', { connectorType: 'CCS2' }), charger('slow')],
    offers: [
      offer('o1', {
        resourceIds: ['fast'],
        considerations: [
          {
            id: 'c',
            considerationAttributes: {
              '@context': 'https://x.example/p',
              '@type': 'Price',
              value: 18,
              currency: 'INR',
            },
          },
        ],
      }),
    ],
  });
  const geoAt = (latitude: number) => ({ geo: { type: 'Point' as const, coordinates: [70, latitude] } });
  await publishCatalog(provider, {
    id: 'harbour',
    descriptor: { name: 'Harbour' },
    provider: { id: 'voltpath', descriptor: { name: 'Voltpath' }, availableAt: [geoAt(20.00764)] },
    resources: [charger('quay', { location: geoAt(20.00896) })],
  });
  await allPushed(network);
});
afterAll(async () => {
  await discovery?.stop();
  await network?.close();
});

function discover(...args: string[]): Promise<CommandRun> {
  const { config, databaseUrl } = network;
  return runCommand(registerDiscoverCommand, ['discover', ...args], {
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    REGISTRY_URL: config.registryUrl,
    DISCOVERY_URL: discovery.url,
  });
}

describe('signpost discover', () => {
  it('asks as a consumer, waits for on_discover and shows a table', async () => {
    const run = await discover('--where', '@.resourceAttributes.attributes.connectorType == "CCS2"');
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.out.split('\n').slice(0, 2)).toEqual([
      'NAME          PROVIDER  PRICE   CATALOG      NODE',
      expect.stringMatching(/^Charger fast {2}Voltpath {2}18 INR {2}Indiranagar {2}provider\./),
    ]);
    expect(run.out).toContain('1 resource of 1 catalog.');
  });

  it('finds by words around a place, with distances', async () => {
    const run = await discover(
      'charger',
      '--near',
      '12.97,77.64',
      '--within',
      '5km',
      '--network',
      defaultNetwork,
    );
    expect(run.notes).not.toContain('refused');
    expect(run.out).toMatch(/Charger slow +Voltpath +\d+ m +- +Indiranagar +provider\./);
  });

  it('shows the distance to the place that matched: never more than was asked for', async () => {
    const { out } = await discover('--near', '20,70', '--within', '900m');
    expect(out).toMatch(/Charger quay +Voltpath +850 m /);
    const byResource = await discover('--near', '20,70', '--within', '1km', '--target', locationOfResource);
    expect(byResource.out).toMatch(/Charger quay +Voltpath +996 m /);
  });

  it('asks a service that refuses a limit again without one', async () => {
    const limits: unknown[] = [];
    const strict = createServer(async (request, response) => {
      const { limit } = JSON.parse(Buffer.concat(await request.toArray()).toString()).message;
      limits.push(limit);
      response.writeHead(limit === undefined ? 503 : 400).end();
    }).listen(0, '127.0.0.1');
    await once(strict, 'listening');
    onTestFinished(() => void strict.close());
    const to = `http://127.0.0.1:${(strict.address() as AddressInfo).port}`;
    const run = await discover('--near', '20,70', '--to', to);
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('503') });
    expect(limits).toEqual([1_000, undefined]);
  });

  it('prints the message as JSON for a program', async () => {
    const run = await discover('--where', '@.id == "slow"', '--json', '--limit', '1');
    const { catalogs } = JSON.parse(run.out);
    expect(catalogs[0]).toMatchObject({
      bppId: expect.stringContaining('provider.'),
      resources: [{ id: 'slow' }],
    });
  });

  it('says that nothing was found, which is no failure', async () => {
    expect(await discover('--where', '@.id == "nothing like it"')).toMatchObject({
      exitCode: 0,
      out: 'Nothing found.\n',
    });
    const far = await discover('--near', '0,0', '--within', '1km');
    expect(far).toMatchObject({ exitCode: 0, out: 'Nothing found within 1.0 km.\n' });
    expect((await discover('--where', '@.id == "nothing"', '--json')).out).toContain('"catalogs": []');
  });

  it('says what came close where nothing was found', async () => {
    const run = await discover('--where', '@.resourceAttributes.attributes.connectortype == "CCS2"');
    expect(run.out).toMatch(/^Nothing found\.\nIn a sample of .*attributes\.connectorType/);
    const { reason } = JSON.parse((await discover('--near', '77.64,12.97', '--json')).out);
    expect(reason).toContain('longitude and latitude are swapped');
  });

  it('says what is wrong with a condition, and where', async () => {
    const run = await discover('--where', '@.id = "x"');
    expect(run.exitCode).toBe(1);
    expect(run.notes).toContain('SCH_INVALID_JSONPATH');
    expect(run.notes).toContain('Check --where');
    expect(run.notes).toContain('$.catalogs[*].resources[?@.id = "x"]');
  });

  it('says what to do when nobody answers there, or when no on_discover comes', async () => {
    const nobody = await discover('x', '--to', 'http://127.0.0.1:1');
    expect(nobody).toMatchObject({ exitCode: 1, notes: expect.stringContaining('Is signpost running?') });

    const silent = createServer((_request, response) => response.end('{"message":{"status":"ACK"}}'));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const late = await discover('x', '--to', `http://127.0.0.1:${port}`, '--wait', '1');
    await new Promise((resolve) => silent.close(resolve));
    expect(late).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('No on_discover came within 1 s.'),
    });
  });

  it.each([
    ['a web server', 200, '<html>'],
    ['a webhook, which takes everything', 202, ''],
  ])('says at once that the address is that of %s, not of a discovery service', async (_of, status, body) => {
    const website = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => website.listen(0, '127.0.0.1', resolve));
    const { port } = website.address() as AddressInfo;
    const run = await discover('x', '--to', `http://127.0.0.1:${port}`);
    await new Promise((resolve) => website.close(resolve));
    expect(run).toMatchObject({
      exitCode: 1,
      notes: `http://127.0.0.1:${port}/discover answered ${status}, but acknowledged nothing. Is that the address of a discovery service?\n`,
    });
  });

  it('explains how an intent is evaluated: what led, how long each step took, how much was left', async () => {
    const run = await discover(
      '--where',
      '@.resourceAttributes.attributes.connectorType == "CCS2"',
      '--explain',
    );
    expect(run.exitCode).toBe(0);
    expect(run.out).toMatch(/STEP +MS +WHAT/);
    expect(run.out).toMatch(/lead .*by: filter/);
    expect(run.out).toMatch(/read page .*counted: 1, resources: 1/);
    expect(run.out).toContain('Resources in the answer: 1');

    const elsewhere = await discover(
      '--near',
      '12.97,77.64',
      '--target',
      '$.catalogs[*].provider.availableAt.geo',
      '--explain',
      '--json',
    );
    const { steps } = JSON.parse(elsewhere.out);
    expect(steps).toContainEqual({
      step: 'near miss',
      code: 'unknown-target',
      says: expect.stringContaining('There is no geometry at $.catalogs[*].provider.availableAt.geo'),
      path: '$.message.intent.spatial[0].targets',
      close: ['$.catalogs[*].provider.availableAt[*].geo', locationOfResource],
    });
    expect((await discover('--where', '@.id = 1', '--explain')).notes).toContain('SCH_INVALID_JSONPATH');
  });

  it('announces that it reads the index while it explains, so that a rebuild for a newer version waits for it', async () => {
    const { database } = network;
    const count = async () => (await database.query('select from discovery.index_process')).rowCount;
    const others = await count();
    let explaining: Promise<CommandRun> | undefined;
    await database.transaction(async (tx) => {
      // It cannot read any list until the lock is released.
      await tx.query('lock table index_1.run in access exclusive mode');
      explaining = discover('--where', '@.id == "fast"', '--explain');
      await until(async () => (await count()) === others + 1);
    });
    expect(await explaining).toMatchObject({ exitCode: 0 });
    expect(await count()).toBe(others);
  });

  it('explains nothing on an index of a version that it does not know', async () => {
    const { database } = network;
    const { rows } = await database.query<{ version: number }>('select version from discovery.generation');
    const known = rows[0]?.version;
    const setVersion = (version: number | undefined) =>
      database.query('update discovery.generation set version = $1', [version]);
    await setVersion(99);
    const run = await discover('--where', '@.id == "fast"', '--explain').finally(() => setVersion(known));
    expect(run).toMatchObject({ exitCode: 1, out: '' });
    expect(run.notes).toMatch(
      new RegExp(`The index has entries of version 99; this program knows ${known}\\.`),
    );
  });

  it('asks for something to look for', async () => {
    expect((await discover()).notes).toContain('Say what to look for');
    expect((await discover('x', '--near', 'here')).notes).toContain('latitude,longitude');
  });
});
