import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerDoctorCommand } from '../../../src/cli/doctor.ts';
import { chargerContext } from '../../../src/import/charger-resource.ts';
import { crawl } from '../../support/hosted/crawl.ts';
import { consoleOf } from '../../support/network/console.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type Provider, startProvider } from '../../support/network/provider.ts';
import { runCommand } from '../../support/processes/command.ts';

// Two nodes publish the same chargers: the real publishers, crawled by the real discovery service.

let network: TestNetwork;
let one: Provider;
let other: Provider;

beforeAll(async () => {
  network = await startNetwork({
    settings: {
      ROLES: 'registry,discovery,console',
      DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
    },
  });
  one = await startProvider(network, 'operator');
  other = await startProvider(network, 'roaming');
  await one.publish({
    message: {
      catalogs: [
        station('north', { evseId: 'DE*ABC*E1', latitude: 48.9 }),
        station('south', { evseId: 'DE*ABC*E2', latitude: 48.1 }),
        station('paused', { evseId: 'DE*ABC*E3', latitude: 48.5 }),
      ],
    },
  });
  await one.publish({ pause: ['paused'] });
  await other.publish({
    message: {
      catalogs: [
        station('region', { evseId: 'deabce1', latitude: 48.9001, operator: 'abc charging', isRegion: true }),
        station('near', { latitude: 48.1001, operator: 'Somebody else' }),
        station('again', { evseId: 'DE*ABC*E3', latitude: 48.5 }),
        station('unnamed', { evseId: 'unknown', latitude: 10 }),
      ],
    },
  });
  await crawl(network.database);
});
afterAll(async () => {
  await one?.stop();
  await other?.stop();
  await network?.close();
});

/** In the per-region form, the place is part of the charger. */
function station(
  id: string,
  {
    evseId,
    latitude,
    operator = 'ABC Charging',
    isRegion = false,
  }: { evseId?: string; latitude: number; operator?: string; isRegion?: boolean },
) {
  const location = { geo: { type: 'Point' as const, coordinates: [9.19, latitude] } };
  const attributes = {
    ...{ connectorType: 'CCS2', ratedPower: { value: 150, unit: 'kW' }, ...(evseId && { evseId }) },
    ...(isRegion && { location }),
  };
  return {
    id,
    descriptor: { name: id },
    provider: { id, descriptor: { name: operator }, ...(!isRegion && { availableAt: [location] }) },
    resources: [
      {
        id: `${id}-1`,
        resourceAttributes: {
          ...{ '@context': chargerContext, '@type': 'EnergyResourceEVCharger' },
          ...{ id: `${id}-1`, type: 'EV_CHARGER', attributes },
        },
      },
    ],
  };
}

const expected = () =>
  `1 EVSE id and 1 place of the same operator are published by both ${one.identity} and ${other.identity}, for example `;

describe('chargers that two nodes publish', () => {
  it('are a warning of signpost doctor, with what to do', async () => {
    const { exitCode, out } = await runCommand(
      registerDoctorCommand,
      ['doctor', one.id, '--network', defaultNetwork],
      {
        ...{ REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true' },
        ...{ DATABASE_URL: network.databaseUrl, DATA_DIR: network.config.DATA_DIR },
      },
    );
    expect(out).toContain(`! catalog   ${expected()}`);
    expect(out).toMatch(
      /for example (DE\*ABC\*E1|deabce1); ABC Charging at 48\.9, 9\.19\. Ask them which one is right\. \(published-twice\)/,
    );
    expect(exitCode).toBe(0);
  });

  it('do not keep the doctor from its work where the database cannot be read', async () => {
    const { exitCode, out, notes } = await runCommand(
      registerDoctorCommand,
      ['doctor', one.id, '--network', defaultNetwork],
      {
        ...{ REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true' },
        ...{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATA_DIR: network.config.DATA_DIR },
      },
    );
    expect(notes).toContain('Chargers that several nodes publish were not looked for.');
    expect(out).not.toContain('published-twice');
    expect(exitCode).toBe(0);
  });

  it('are listed in the health of the console, and are both found', async () => {
    const { items } = await consoleOf(network).get('/api/health/duplicates');
    expect(items).toEqual([
      {
        nodes: [one.identity, other.identity],
        what: expect.stringContaining(expected()),
        next: expect.stringContaining('Ask both nodes'),
      },
    ]);
    const count = await network.database.value<number>(
      `select count(*)::int from discovery.resource where evse = 'DEABCE1'`,
    );
    expect(count).toBe(2);
  });
});
