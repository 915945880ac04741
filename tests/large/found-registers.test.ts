import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { register as registerImportCommand } from '../../src/cli/import.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { dataFile } from '../support/catalogs/data-dir.ts';
import { type Discovering, filter, startDiscovering } from '../support/network/discover.ts';
import { runCommand } from '../support/processes/command.ts';

// Registers of charging stations, imported and found with discover: every connector at its place, and no other. The content of a file is counted here
// in another way than by the import.

let directory: string;
let discovering: Discovering;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-registers-'));
  discovering = await startDiscovering();
});
afterEach(async () => {
  await discovering.network.close();
  await rm(directory, { recursive: true, force: true });
});

const lists = ['ncr-gb-2022.csv', 'bnetza-de-2019-07.csv', 'afdc-us-detailed.csv'];
const features = dataFile('geo/osm-delhi-ncr-2026-01.geojson');

describe.each(lists)('%s', (name) => {
  const list = dataFile(`geo/${name}`);
  it.skipIf(!existsSync(list))('is found with every connector (needs the register)', async () => {
    const rows: Record<string, string>[] = parse(await readFile(list), { columns: true, bom: true });
    const inFile = rows.flatMap(({ connectors = '', latitude, longitude }) => {
      const each: { raw?: string }[] = JSON.parse(connectors || '[]');
      const place = [Number(longitude), Number(latitude)].join();
      return (each.length > 0 ? each : [{}]).map(({ raw = '' }) => `${raw} at ${place}`);
    });
    await importList(['csv', 'stations', list]);
    const found = (await findAll()).map(
      ({ connectorDescription = '', location }) =>
        `${connectorDescription} at ${location?.geo?.coordinates?.join()}`,
    );
    expect(inFile.length).toBeGreaterThan(5_000);
    expect(found.sort()).toEqual(inFile.sort());
  });
});

it.skipIf(!existsSync(features))(
  'charging stations of OpenStreetMap are found, each at its place (needs them)',
  async () => {
    const file: { features: { geometry: object }[] } = JSON.parse(await readFile(features, 'utf8'));
    await importList(['geojson', 'osm', features]);
    const found = (await findAll()).map(({ location }) => JSON.stringify(location?.geo));
    expect(found.sort()).toEqual(file.features.map(({ geometry }) => JSON.stringify(geometry)).sort());
  },
);

const positions = dataFile('geo/afdc-us-positions-2022.csv');
it.skipIf(!existsSync(positions))(
  'stations of which a list has names and places alone are found, each at its place (needs the list)',
  async () => {
    const rows: Record<string, string>[] = parse(await readFile(positions), { columns: true, bom: true });
    const mapping = join(directory, 'positions.yaml');
    await writeFile(
      mapping,
      [
        'operator: { id: "US:unknown", name: Unknown operator }',
        'station: { id: "{id}", name: "{name}", latitude: "{latitude}", longitude: "{longitude}", postalCode: "{postalCode}", country: US }',
        'charger: { name: "Charger at {name}" }',
      ].join('\n'),
    );
    await importList(['csv', mapping, positions]);
    const found = (await findAll()).map(({ location }) => location?.geo?.coordinates?.join());
    expect(found.sort()).toEqual(
      rows.map(({ latitude, longitude }) => [Number(longitude), Number(latitude)].join()).sort(),
    );
  },
  600_000,
);

interface Attributes {
  connectorDescription?: string;
  location?: { geo?: { coordinates?: number[] } };
}

async function importList(args: string[]): Promise<void> {
  const out = join(directory, 'out.json');
  const importing = ['import', ...args, '--per', 'region', '--keep-doubtful', '--out', out];
  const { exitCode, notes } = await runCommand(registerImportCommand, importing, { DATA_DIR: directory });
  expect(exitCode, notes).not.toBe(1);
  const { message } = JSON.parse(await readFile(out, 'utf8')) as { message: { catalogs: Catalog[] } };
  for (let index = 0; index < message.catalogs.length; index += catalogsAtOnce)
    await discovering.hold(message.catalogs.slice(index, index + catalogsAtOnce));
}

const catalogsAtOnce = 50;

async function findAll(): Promise<Attributes[]> {
  const everything = '$.catalogs[*].resources[?@.resourceAttributes.type == "EV_CHARGER"]';
  const found: Attributes[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const answer = await discovering.discover({ ...filter(everything), limit: pageSize, offset });
    if (answer.status === 202) return found;
    const { body } = await discovering.consumer.waitFor('on_discover', answer.messageId);
    for (const { resources } of body.message.catalogs)
      for (const { resourceAttributes } of resources) found.push(resourceAttributes.attributes);
  }
}

const pageSize = 1_000;
