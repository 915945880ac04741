import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildMessage } from '../../../src/cli/discover/intent.ts';
import { register as registerImportCommand } from '../../../src/cli/import.ts';
import type { Catalog, Resource } from '../../../src/protocol/catalog.ts';
import { parseJson } from '../../../src/protocol/json.ts';
import type { PublishMessage } from '../../../src/protocol/publish-messages.ts';
import { dataFile } from '../../support/catalogs/data-dir.ts';
import { type Discovering, startDiscovering } from '../../support/network/discover.ts';
import { runCommand } from '../../support/processes/command.ts';

// Feeds of charging operators, imported and found with discover: every station, EVSE, connector and price of the file, and no other. The content of a
// file is counted here in another way than by the import.

let directory: string;
let discovering: Discovering;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-feeds-'));
  discovering = await startDiscovering();
});
afterAll(async () => {
  await discovering.network.close();
  await rm(directory, { recursive: true, force: true });
});

const feed = dataFile('charging/ocpi-chargecloud-ludwigsburg.json');

describe.skipIf(!existsSync(feed))('an OCPI feed with tariffs (needs the feed)', () => {
  let file: FeedLocation[];
  let catalogs: Catalog[];
  beforeAll(async () => {
    file = JSON.parse(await readFile(feed, 'utf8')).items;
    await discovering.hold(await importFile(['ocpi', feed]));
    catalogs = await findAll('$.catalogs[*].resources[?@.resourceAttributes.type == "EV_CHARGER"]');
  });

  it('is found with every station, EVSE and connector', () => {
    expect(catalogs.map(({ id }) => id).sort()).toEqual(file.map(stationId).sort());
    const inFile = file.flatMap((location) =>
      location.evses.flatMap((evse) => evse.connectors.map(() => evse.evse_id)),
    );
    expect(resourcesOf(catalogs).map(evseIdOf).sort()).toEqual(inFile.sort());
  });

  it('is found with every price of every EVSE', () => {
    const inFile = file.flatMap(({ evses }) =>
      evses.flatMap(({ evse_id, tariffs }) =>
        tariffs.flatMap(({ currency, elements }) =>
          elements.flatMap(({ price_components }) =>
            price_components.map(({ type, price, step_size }) =>
              [evse_id, type, price, step_size, currency].join(),
            ),
          ),
        ),
      ),
    );
    const found = catalogs.flatMap((catalog) =>
      resourcesOf([catalog]).flatMap((resource) =>
        componentsFor(catalog, resource).map(({ type, value, step, currency }) =>
          [evseIdOf(resource), type, value, step?.value, currency].join(),
        ),
      ),
    );
    expect(inFile.length).toBeGreaterThan(1_000);
    expect(found.sort()).toEqual(inFile.sort());
  });

  it('is filtered by its price', async () => {
    const energy = (location: FeedLocation) =>
      location.evses.map(({ evse_id, tariffs }) => {
        const prices = tariffs.flatMap(({ elements }) => elements.flatMap((one) => one.price_components));
        return [
          evse_id,
          Math.max(...prices.filter(({ type }) => type === 'ENERGY').map(({ price }) => price)),
        ] as const;
      });
    const cheap = file.flatMap(energy).filter(([, price]) => price <= 0.59);
    const { filters } = buildMessage([], { where: 'price.energy <= 0.59 EUR' }).intent;
    const found = resourcesOf(await findAll(filters?.expression ?? '')).map(evseIdOf);
    expect(cheap.length).toBeGreaterThan(0);
    expect(cheap.length).toBeLessThan(273);
    expect(found.sort()).toEqual(cheap.map(([id]) => id).sort());
  });
});

const table = dataFile('charging/datex2_enbw_static_reduced.json');
const status = dataFile('charging/datex2_enbw_realtime_reduced.json');

describe.skipIf(!existsSync(table))('a DATEX II feed with tariffs and statuses (needs the feed)', () => {
  let points: FeedPoint[];
  let stationIds: string[];
  let found: Catalog[];
  beforeAll(async () => {
    const { payload } = JSON.parse(await readFile(table, 'utf8'));
    const [{ energyInfrastructureSite: sites }] =
      payload.aegiEnergyInfrastructureTablePublication.energyInfrastructureTable;
    const stations = sites.flatMap(
      (site: { energyInfrastructureStation: object[] }) => site.energyInfrastructureStation,
    );
    stationIds = stations.map(({ idG }: { idG: string }) => `DE*EBW*${idG}`);
    points = stations.flatMap(
      ({ refillPoint }: { refillPoint: { aegiElectricChargingPoint: FeedPoint }[] }) =>
        refillPoint.map(({ aegiElectricChargingPoint }) => aegiElectricChargingPoint),
    );
    await discovering.hold(await importFile(['datex', table, '--status', status]));
    const expression =
      '$.catalogs[*].resources[?match(@.resourceAttributes.attributes.evseId, "DE\\\\*EBW.*")]';
    found = await findAll(expression);
  });

  it('is found with every station, charging point and connector', () => {
    expect(found.map(({ id }) => id).sort()).toEqual(stationIds.sort());
    expect(resourcesOf(found).map(evseIdOf).sort()).toEqual(
      points.flatMap(({ idG, connector }) => connector.map(() => idG)).sort(),
    );
  });

  it('is found with every price, per hour instead of per minute', () => {
    const inFile = points.flatMap(({ idG, electricEnergy }) =>
      electricEnergy.flatMap(({ energyRate }) =>
        energyRate.flatMap(({ energyPrice, applicableCurrency }) =>
          energyPrice.map(({ priceType, value }) => {
            const isHourly = priceType.value === 'pricePerMinute';
            const [type, amount] = isHourly ? ['TIME', value * 60] : ['ENERGY', value];
            return [idG, type, amount, applicableCurrency[0]].join();
          }),
        ),
      ),
    );
    const priced = found.flatMap((catalog) =>
      resourcesOf([catalog]).flatMap((resource) =>
        componentsFor(catalog, resource).map(({ type, value, currency }) =>
          [evseIdOf(resource), type, value, currency].join(),
        ),
      ),
    );
    expect(inFile).toHaveLength(114);
    expect(priced.sort()).toEqual(inFile.sort());
  });

  it('is found with every status that its status publication has', async () => {
    const text = await readFile(status, 'utf8');
    const inFile = [
      ...text.matchAll(/"idG": "(DE\*EBW[^"]+)"\}, "lastUpdated": "[^"]+", "status": \{"value": "(\w+)"/g),
    ]
      .map(([, id, value]) => [id, value])
      .filter(([id]) => points.some(({ idG }) => idG === id));
    const words: Record<string, string> = {
      available: 'AVAILABLE',
      charging: 'CHARGING',
      occupied: 'BLOCKED',
      faulted: 'OUTOFORDER',
    };
    const statuses = resourcesOf(found).flatMap(({ resourceAttributes }) => {
      const { evseId, availability } = (resourceAttributes?.attributes ?? {}) as {
        evseId?: string;
        availability?: { status: string };
      };
      return availability ? [[evseId, availability.status].join()] : [];
    });
    expect(inFile.length).toBeGreaterThan(10);
    expect(statuses.sort()).toEqual(inFile.map(([id, value = '']) => [id, words[value]].join()).sort());
  });
});

interface FeedPoint {
  idG: string;
  connector: object[];
  electricEnergy: {
    energyRate: {
      applicableCurrency: string[];
      energyPrice: { priceType: { value: string }; value: number }[];
    }[];
  }[];
}

interface FeedLocation {
  id: string;
  country_code: string;
  party_id: string;
  evses: {
    evse_id: string;
    connectors: object[];
    tariffs: {
      currency: string;
      elements: { price_components: { type: string; price: number; step_size: number }[] }[];
    }[];
  }[];
}

interface Component {
  type: string;
  value: number;
  currency: string;
  step?: { value: number };
}

const stationId = ({ country_code, party_id, id }: FeedLocation) => `${country_code}*${party_id}*${id}`;
const resourcesOf = (catalogs: readonly Catalog[]) => catalogs.flatMap(({ resources = [] }) => resources);
const evseIdOf = ({ resourceAttributes }: Resource) =>
  (resourceAttributes?.attributes as { evseId?: string } | undefined)?.evseId;

function componentsFor({ offers = [] }: Catalog, { id }: Resource): Component[] {
  return offers
    .filter(({ resourceIds }) => resourceIds?.includes(id))
    .flatMap(({ considerations = [] }) => considerations)
    .flatMap(({ considerationAttributes }) => considerationAttributes?.components as Component[]);
}

async function importFile(args: string[]): Promise<Catalog[]> {
  const out = join(directory, 'out.json');
  const importing = ['import', ...args, '--out', out];
  const { exitCode, notes } = await runCommand(registerImportCommand, importing, { DATA_DIR: directory });
  expect(exitCode, notes).toBe(0);
  const { message } = parseJson(await readFile(out)) as unknown as { message: PublishMessage };
  return message.catalogs;
}

/** Page by page. A catalog may be on several pages. */
async function findAll(expression: string): Promise<Catalog[]> {
  const found = new Map<string, Catalog>();
  for (let offset = 0; ; offset += pageSize) {
    const filters = { type: 'jsonpath', expression };
    const { message } = await discovering.found({ intent: { filters }, limit: pageSize, offset });
    for (const catalog of message.catalogs as Catalog[]) {
      const { resources = [] } = found.get(catalog.id) ?? {};
      found.set(catalog.id, { ...catalog, resources: [...resources, ...(catalog.resources ?? [])] });
    }
    if (offset + pageSize >= message.pagination.total) return [...found.values()];
  }
}

const pageSize = 100;
