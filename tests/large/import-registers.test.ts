import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { register as registerImportCommand } from '../../src/cli/import.ts';
import { register as registerVerifyCommand } from '../../src/cli/verify.ts';
import { findDoubtfulPlaces } from '../../src/import/doubtful-places.ts';
import { sha256Digest } from '../../src/protocol/digest.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { publicKeyOf } from '../../src/protocol/keys.ts';
import type { PublishMessage } from '../../src/protocol/publish-messages.ts';
import type { TriggerRequest } from '../../src/protocol/trigger-messages.ts';
import { renewManifest } from '../../src/publisher/keep-manifest.ts';
import { publishCatalogs } from '../../src/publisher/publish.ts';
import { dataFile } from '../support/catalogs/data-dir.ts';
import { makeTree, servedFiles, type TestTree } from '../support/hosted/published-tree.ts';
import { runCommand } from '../support/processes/command.ts';

// From a list of charging stations to signed files that verify, and again without a change. Real registers are not part of the project.

let directory: string;
let tree: TestTree;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-register-'));
  tree = await makeTree();
});
afterEach(async () => {
  await tree.remove();
  await rm(directory, { recursive: true, force: true });
});

describe('a list of charging stations', () => {
  it('is imported, published and verified; imported again, it publishes nothing', async () => {
    await takeThrough(['csv', 'stations', 'examples/stations.csv'], {
      stations: 3,
      chargers: 6,
      catalogs: 3,
    });
  });

  it('of OCPI locations is too', async () => {
    const tariffs = ['--tariffs', 'examples/ocpi-tariffs.json'];
    const made = { stations: 1, chargers: 2, catalogs: 1 };
    await takeThrough(['ocpi', 'examples/ocpi-locations.json', ...tariffs], made);
  });
});

const geo = `${dataFile('geo')}/`;
const hasRegisters = existsSync(join(geo, 'ncr-gb-2022.csv'));

describe.skipIf(!hasRegisters)('registers of charging stations (needs the registers)', () => {
  const cases: [name: string, args: string[], made: Made][] = [
    [
      'United Kingdom, per station',
      ['csv', 'stations', `${geo}ncr-gb-2022.csv`],
      // Opened on 0000-00-00.
      { stations: 3_964, chargers: 7_698, catalogs: 3_964, exitCode: 2 },
    ],
    [
      'Germany, per operator',
      ['csv', 'stations', `${geo}bnetza-de-2019-07.csv`, '--per', 'operator'],
      {
        stations: 9_690,
        chargers: 23_289,
        catalogs: 1_219,
        // Operators with two spellings.
        exitCode: 2,
        // Wildenfels in Saxony, with coordinates in Bohemia.
        doubts: ['row 8709 (50.681519, 15.592092): is outside DE, the country of the row'],
      },
    ],
    [
      'United States, per operator',
      ['csv', 'stations', `${geo}afdc-us-detailed.csv`, '--per', 'operator'],
      {
        stations: 12_845,
        chargers: 14_058,
        catalogs: 48,
        // All of the list's stations in Alaska.
        doubts: [
          'row 2455 (60.494658, -151.045242), 5830 (60.547224, -145.758719), 5831 (60.545612, -145.760827): is far from all others',
        ],
      },
    ],
    [
      'Delhi, points and areas',
      ['geojson', 'osm', `${geo}osm-delhi-ncr-2026-01.geojson`],
      { stations: 112, chargers: 112, catalogs: 112 },
    ],
  ];

  it.each(cases)('%s', (_, args, made) => takeThrough(args, made));

  it.each(['ncr-gb-2022.csv', 'bnetza-de-2019-07.csv'])(
    'of which every fortieth row has its coordinates swapped are told so of these rows: %s',
    async (name) => {
      const rows: Record<string, string>[] = parse(await readFile(join(geo, name)), { columns: true });
      for (const withCountry of [true, false]) {
        const places = rows.map(({ latitude, longitude, country }, index) => {
          const isSwapped = index % 40 === 0;
          const [north, east] = [Number(latitude), Number(longitude)];
          const point = isSwapped
            ? { latitude: east, longitude: north }
            : { latitude: north, longitude: east };
          return { ...point, isSwapped, country: withCountry ? country : undefined };
        });
        const doubts = findDoubtfulPlaces(places).filter(({ why }) => why.includes('swapped'));
        expect(doubts.map(({ place }) => place)).toEqual(places.filter(({ isSwapped }) => isSwapped));
      }
    },
  );
});

interface Made {
  stations: number;
  chargers: number;
  catalogs: number;
  /** Reports about places that look wrong. */
  doubts?: string[];
  /** 2 if values are lost. */
  exitCode?: number;
}

async function takeThrough(
  args: string[],
  { stations, chargers, catalogs, doubts = [], exitCode = 0 }: Made,
): Promise<void> {
  const { message, notes } = await importList(args, exitCode);
  const [made = ''] = /\d[\d,]* stations?.*catalogs?/.exec(notes) ?? [];
  const counts = made
    .replace(/ and .* tariffs?/, '')
    .replaceAll(',', '')
    .match(/\d+/g);
  expect(counts?.map(Number)).toEqual([stations, chargers, catalogs]);
  expect(notes).toMatch(/; 0 \w+s left out/);
  const [, told] = /Published although the place looks wrong:\n([\s\S]*?)\n\n/.exec(notes) ?? [];
  expect(told?.split('\n').map((line) => line.trim()) ?? []).toEqual(doubts);

  await publish({ message });
  await renewManifest(tree, { url: 'https://files.example.org' });
  const published = await fingerprint();
  const vouched = ['--key', `key-1=${publicKeyOf(tree.key.privateKey)}`];
  const verifying = ['verify', tree.root, ...vouched, '--json'];
  const { exitCode: verified, out } = await runCommand(registerVerifyCommand, verifying, {
    DATA_DIR: directory,
  });
  expect(verified, out).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    holding: { manifest: 1, record: 1, index: 1, entry: catalogs, baseline: catalogs, catalog: catalogs },
    warnings: [],
  });

  await publish({ message: (await importList(args, exitCode)).message });
  expect(await fingerprint()).toBe(published);
}

/** Every served file, with the digest of its bytes. */
async function fingerprint(): Promise<string> {
  const files = await servedFiles(tree);
  return [...files].map(([path, bytes]) => `${path} ${sha256Digest(bytes)}`).join('\n');
}

async function importList(
  args: string[],
  expected: number,
): Promise<{ message: PublishMessage; notes: string }> {
  const file = join(directory, 'chargers.json');
  const importing = ['import', ...args, '--keep-doubtful', '--out', file];
  const { exitCode, notes } = await runCommand(registerImportCommand, importing, { DATA_DIR: directory });
  expect(exitCode, notes).toBe(expected);
  const { message } = parseJson(await readFile(file)) as unknown as { message: PublishMessage };
  return { message, notes };
}

async function publish(request: TriggerRequest): Promise<void> {
  const { status, results, warnings } = await publishCatalogs(tree, request);
  expect(results.filter((result) => result.status !== 'ACCEPTED' || result.version !== 1)).toEqual([]);
  expect({ status, warnings }).toEqual({ status: 'COMPLETED', warnings: undefined });
}
