import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { register as registerSyncCommand } from '../../../src/cli/sync.ts';
import { actions } from '../../../src/protocol/actions.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { freePort } from '../../support/free-port.ts';
import { smallCatalog } from '../../support/hosted/publisher.ts';
import type { Actor, Body } from '../../support/network/actor.ts';
import { filter } from '../../support/network/discover.ts';
import { startDiscovery, type TestDiscovery } from '../../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { served } from '../../support/network/publish.ts';
import {
  type OcpiObject,
  type OcpiServer,
  ocpiLocation,
  ocpiTariff,
  startOcpiServer,
} from '../../support/peers/ocpi-server.ts';
import { runCommand } from '../../support/processes/command.ts';
import { publish, type Settings } from '../../support/processes/publish-command.ts';
import { until } from '../../support/time.ts';

// An operator's OCPI endpoint → sync --to a catalog service → a discovery service that subscribes to it → a consumer.

let directory: string;
let network: TestNetwork;
let discovery: TestDiscovery;
let consumer: Actor;
let settings: Settings;
let server: OcpiServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'signpost-sync-to-'));
  writeFileSync(join(directory, 'token'), 'secret\n');
  network = await startNetwork({
    settings: { ROLES: 'registry,catalog,publisher', LOG_LEVEL: 'silent', BODY_SIZE_LIMIT: '40kb' },
  });
  discovery = await startDiscovery(network, [
    { catalogUrl: network.catalogUrl, networkIds: [defaultNetwork] },
  ]);
  await discovery.settled();
  consumer = await network.actor('driver');
  const { config } = network;
  settings = {
    DATA_DIR: config.DATA_DIR,
    REGISTRY_URL: config.registryUrl,
    PUBLISHER_PORT: String(config.PUBLISHER_PORT),
    PUBLISHER_TRIGGER_PORT: String(config.PUBLISHER_TRIGGER_PORT),
    ALLOW_PRIVATE_ADDRESSES: 'true',
    BODY_SIZE_LIMIT: '40kb',
    SYNC_SECONDS: '1',
  };
  // Others also publish there: the sync finds its own catalogs on later pages.
  const others = Array.from({ length: 25 }, (_, index) => charger(smallCatalog(`other-${index}`)));
  const file = write('others.json', others);
  expect((await publish([file, '--to', network.catalogUrl], settings)).exitCode).toBe(0);
});
afterAll(async () => {
  await discovery.stop();
  await network.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => () => server.close());

/** Each test has a separate operator. */
async function open(party: string, ids: readonly string[]): Promise<void> {
  server = await startOcpiServer();
  server.tariffs = [{ ...ocpiTariff('T1', 0.5), party_id: party }];
  server.locations = ids.map((id) => location(party, id));
}

const location = (
  party: string,
  id: string,
  statuses = ['AVAILABLE', 'AVAILABLE'],
  more = {},
): OcpiObject => {
  const given = ocpiLocation(id, { tariff: 'T1', statuses, party_id: party, ...more });
  return JSON.parse(JSON.stringify(given).replaceAll('DE*ABC*', `DE*${party}*`));
};
const later = (seconds: number) => ({ updated: `2026-02-01T08:00:${String(seconds).padStart(2, '0')}Z` });

function write(name: string, content: unknown): string {
  const file = join(directory, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

function charger(catalog: Catalog): Catalog {
  const context = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';
  const [first] = catalog.resources ?? [];
  const attributes = { connectorType: 'CCS2', ratedPower: { value: 50, unit: 'kW' } };
  const resourceAttributes = {
    ...{ '@context': context, '@type': 'EnergyResourceEVCharger', id: 'c', type: 'EV_CHARGER' },
    attributes,
  };
  return { ...catalog, resources: [{ id: `${catalog.id} charger`, ...first, resourceAttributes }] };
}

const run = (args: string[]) =>
  runCommand(
    registerSyncCommand,
    [
      ...['sync', 'ocpi', server.url, '--token-file', join(directory, 'token')],
      ...['--to', network.catalogUrl, ...args],
    ],
    settings,
  );

async function sync(...args: string[]): Promise<string> {
  const { exitCode, notes, out } = await run(['--yes', ...args]);
  expect(exitCode, notes + out).toBe(0);
  return out;
}

const inService = async (id: string) => (await served(network.database, id)) as Body;
const idsOf = (items: Body[] = []) => items.map(({ id }) => id).sort();

/** A consumer's view of an operator: each charger with its status and its price per kWh. */
async function find(party: string): Promise<string[]> {
  const expression = `$.catalogs[*].resources[?match(@.resourceAttributes.attributes.evseId, "DE\\\\*${party}.*")]`;
  const message = { ...filter(expression), limit: 1_000 };
  const answer = await consumer.send(actions.discover, message, { to: discovery.url });
  if (answer.status === 202) return [];
  const { body } = await consumer.waitFor('on_discover', answer.messageId);
  return body.message.catalogs
    .flatMap(({ resources, offers = [] }: Body) =>
      resources.map(({ id, resourceAttributes }: Body) => {
        const { availability } = resourceAttributes.attributes;
        const [offer] = offers.filter(({ resourceIds }: Body) => resourceIds?.includes(id));
        return [id, availability?.status, offer?.considerations?.[0].considerationAttributes.value].join(' ');
      }),
    )
    .sort();
}

async function untilFound(party: string, expected: string[]): Promise<void> {
  let found: string[] = [];
  await until(async () => {
    found = await find(party);
    return JSON.stringify(found) === JSON.stringify(expected);
  }, 'what the operator has to be found').catch(() => expect(found).toEqual(expected));
}

describe('signpost sync --to a catalog service', () => {
  it('is found with price and status, then with what has changed', async () => {
    await open('ONE', []);
    server.locations = ['A', 'B'].map((id) => location('ONE', id, ['AVAILABLE']));
    expect(await sync()).toContain('2 catalogs: 2 added');
    await untilFound('ONE', ['DE*ONE*A-1*1 AVAILABLE 0.5', 'DE*ONE*B-1*1 AVAILABLE 0.5']);
    expect(await sync()).toContain('2 unchanged');
    server.tariffs = [{ ...ocpiTariff('T1', 0.6, later(1).updated), party_id: 'ONE' }];
    server.locations[1] = location('ONE', 'B', ['CHARGING'], later(1));
    await sync();
    await untilFound('ONE', ['DE*ONE*A-1*1 AVAILABLE 0.6', 'DE*ONE*B-1*1 CHARGING 0.6']);
  });

  it('takes away a charger and a tariff that are gone, and keeps offers and a pause made by hand', async () => {
    await open('TWO', ['A', 'B']);
    await sync();
    const { descriptor, provider } = await inService('DE*TWO*A');
    const offer = { id: 'by-hand', descriptor: { name: 'Night' }, resourceIds: ['DE*TWO*A-1*1'] };
    const hand = { id: 'DE*TWO*A', descriptor, provider, isActive: false, offers: [offer] };
    const file = write('hand.json', hand);
    expect((await publish([file, '--to', network.catalogUrl], settings)).exitCode).toBe(0);
    server.locations[0] = location('TWO', 'A', ['CHARGING'], later(1));
    server.locations[1] = location('TWO', 'B', ['AVAILABLE'], { ...later(1), tariff: undefined });
    expect(await sync()).toContain('2 changed');
    const [a, b] = [await inService('DE*TWO*A'), await inService('DE*TWO*B')];
    expect(idsOf(a.resources)).toEqual(['DE*TWO*A-1*1']);
    expect(idsOf(a.offers)).toEqual(['DE*TWO*A:tariff:T1', 'by-hand']);
    expect(a.isActive).toBe(false);
    expect(idsOf(b.resources)).toEqual(['DE*TWO*B-1*1']);
    expect(b.offers ?? []).toEqual([]);
  });

  it('keeps what was made by hand when its memory is lost, and takes away what is gone', async () => {
    await open('TRI', ['A']);
    await sync();
    const { descriptor, provider } = await inService('DE*TRI*A');
    const file = write('hand.json', { id: 'DE*TRI*A', descriptor, provider, offers: [{ id: 'by-hand' }] });
    expect((await publish([file, '--to', network.catalogUrl], settings)).exitCode).toBe(0);
    server.locations[0] = location('TRI', 'A', ['CHARGING'], later(1));
    rmSync(join(settings.DATA_DIR ?? '', 'sync'), { recursive: true });
    await sync();
    const { resources, offers } = await inService('DE*TRI*A');
    expect(idsOf(resources)).toEqual(['DE*TRI*A-1*1']);
    expect(idsOf(offers)).toEqual(['DE*TRI*A:tariff:T1', 'by-hand']);
  });

  it('makes a station inactive that is gone, and active when it is back', async () => {
    await open('FOR', ['A', 'B']);
    await sync();
    const [a, b] = server.locations as [(typeof server.locations)[0], (typeof server.locations)[0]];
    server.locations = [b];
    expect(await sync('--grace', '0')).toContain('1 retired');
    expect((await inService('DE*FOR*A')).isActive).toBe(false);
    expect(await sync('--grace', '0')).toContain('0 retired, 1 unchanged.');
    server.locations = [a, b];
    expect(await sync()).toContain('1 changed');
    expect((await inService('DE*FOR*A')).isActive).toBe(true);
    expect(await sync()).toContain('2 unchanged');
  });

  it('sends a catalog that is larger than a request in parts', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `S${index}`);
    await open('FIV', ids);
    await sync('--per', 'region');
    const [, ...rest] = server.locations;
    server.locations = rest;
    expect((await inService('DE*FIV:deu-71')).resources).toHaveLength(120);
    expect(await sync('--per', 'region')).toContain('1 changed');
    const { resources, offers } = await inService('DE*FIV:deu-71');
    expect(idsOf(resources)).toEqual(
      ids
        .slice(1)
        .flatMap((id) => [`DE*FIV*${id}-1*1`, `DE*FIV*${id}-2*1`])
        .sort(),
    );
    expect(offers).toHaveLength(59);
  });

  it('with --watch follows the source until it is interrupted, and goes on after a failure', async () => {
    await open('SIX', ['A']);
    const say = (status: string, second: number) => {
      server.locations = [location('SIX', 'A', [status], later(second))];
    };
    say('AVAILABLE', 1);
    const port = await freePort();
    const watching = run(['--watch', '--metrics', String(port)]);
    await untilFound('SIX', ['DE*SIX*A-1*1 AVAILABLE 0.5']);
    server.interfere = (_request, response) => Boolean(response.writeHead(403).end());
    const failed = server.requests.length;
    await until(() => server.requests.length > failed, 'a round that fails');
    server.interfere = undefined;
    say('CHARGING', 2);
    await untilFound('SIX', ['DE*SIX*A-1*1 CHARGING 0.5']);
    const metrics = await until(async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return text.includes('signpost_sync_catalogs_total{change="changed"} 1') && text;
    }, 'the change to be counted');
    expect(metrics).toContain('signpost_sync_catalogs_total{change="added"} 1');
    expect(metrics).toContain('signpost_sync_round_seconds_count{outcome="failure"} 1');
    expect(metrics).toContain('signpost_sync_catalogs{state="current"} 1');
    process.emit('SIGINT');
    const { exitCode, notes } = await watching;
    expect(exitCode).toBe(130);
    expect(notes).toContain('Failed, 1 in a row');
  });
});
