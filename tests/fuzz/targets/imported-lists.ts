import { readFileSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse as parseCsv } from 'csv-parse/sync';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { PublishMessage } from '../../../src/protocol/publish-messages.ts';
import { findFaults } from '../../../src/protocol/validate.ts';
import { type Changed, renderChanged } from '../changed.ts';
import { byteMutations, mutateBytes } from '../mutate-bytes.ts';
import { mutate, mutations } from '../mutate-json.ts';
import { network } from '../participants.ts';
import { type Folder, runCommand, withFolder } from '../run-command.ts';
import type { Scene } from '../scene.ts';
import { accepted, Fault, type Target } from '../target.ts';

// Lists of charging stations and OCPI locations to import, with changes to the cells, rows, members or bytes of a good file, and to the mapping that
// reads it.

interface ImportCase {
  format: Format;
  file: Changed;
  mapping: Changed;
  /** Options of the command. */
  options: readonly string[];
}

const formats = ['csv', 'geojson', 'ocpi'] as const;
type Format = (typeof formats)[number];

const none = fc.constant<never[]>([]);
const unchanged = fc.constant<Changed>({ content: [], bytes: [] });
const changed: fc.Arbitrary<Changed> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ content: mutations, bytes: none }) },
  { weight: 2, arbitrary: fc.record({ content: none, bytes: byteMutations }) },
);

export const importedLists: Target<ImportCase> = {
  name: 'lists of charging stations and OCPI, imported',
  weight: 10,
  concurrency: 4,
  cases: fc.record({
    format: fc.constantFrom(...formats),
    file: changed,
    mapping: fc.oneof({ weight: 2, arbitrary: unchanged }, { weight: 1, arbitrary: changed }),
    options: fc.constantFrom(...[[], ['--per', 'operator'], ['--network', network], ['--dry-run', '--json']]),
  }),
  run: (scene, one) => withFolder(scene, (folder) => runImport(scene, one, folder)),
};

async function runImport(scene: Scene, one: ImportCase, folder: Folder): Promise<string> {
  const { format, options } = one;
  const file = await folder.write(`list.${format}`, render(format, one.file));
  const mapping =
    format === 'ocpi' ? [] : [await folder.write('mapping.yaml', renderMapping(format, one.mapping))];
  const isPreview = options.includes('--dry-run');
  const out = join(folder.path, 'out.json');
  const where = isPreview ? [] : ['--out', out];
  const outcome = await runCommand(
    scene,
    ['import', format, ...mapping, file, ...options, ...where],
    settingsIn(folder),
  );
  if (outcome.exitCode === 1) {
    if (await isThere(out)) throw new Fault('a failed import has written its file');
    return 'exit code 1';
  }
  if (isPreview) JSON.parse(outcome.out);
  else checkBody(JSON.parse(await readFile(out, 'utf8')));
  return outcome.exitCode === 0 ? accepted : `exit code ${outcome.exitCode}`;
}

/** A separate directory with nothing published. */
export function settingsIn(folder: Folder): Record<string, string> {
  return { DATA_DIR: join(folder.path, 'data'), PUBLISHER_DIR: join(folder.path, 'publisher') };
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

const findMessageFaults = findFaults(PublishMessage);

/** The result of an import is a publish body that a catalog service accepts. */
function checkBody({ message }: { message: unknown }): void {
  const faults = findMessageFaults(message, ['message']);
  if (faults.length > 0)
    throw new Fault(`the import is no publish body: ${JSON.stringify(faults).slice(0, 600)}`);
}

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));

const rows: unknown = parseCsv(read('examples/stations.csv'));
const locations: unknown = JSON.parse(read('examples/ocpi-locations.json').toString());
const feature = {
  type: 'Feature',
  id: 'node/1',
  properties: {
    ...{ '@id': 'node/1', amenity: 'charging_station', operator: 'Voltpath', name: 'Voltpath Indiranagar' },
    ...{ 'addr:street': '100 Feet Road', 'addr:city': 'Bengaluru', 'addr:country': 'IN', capacity: '4' },
    ...{ 'socket:type2': '2', 'socket:type2:output': '22 kW', 'socket:chademo': '1', access: 'yes' },
  },
  geometry: { type: 'Point', coordinates: [77.6408, 12.9719] },
};
const features = {
  type: 'FeatureCollection',
  features: [feature, { ...feature, id: 'node/2', properties: { ...feature.properties, '@id': 'node/2' } }],
};

function render(format: Format, how: Changed): Buffer {
  if (format !== 'csv') return renderChanged(format === 'ocpi' ? locations : features, how);
  return mutateBytes(Buffer.from(renderRows(mutate(rows, how.content))), how.bytes);
}

function renderRows(table: unknown): string {
  const lines = Array.isArray(table) ? table : [table];
  return lines.map((cells) => [cells].flat().map(renderCell).join(',')).join('\n');
}

function renderCell(cell: unknown): string {
  const text = typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? '');
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const mappings = { csv: read('mappings/stations.yaml'), geojson: read('mappings/osm.yaml') };

/** JSON is also YAML. */
function renderMapping(format: 'csv' | 'geojson', how: Changed): Buffer {
  const file = mappings[format];
  return how.content.length === 0
    ? mutateBytes(file, how.bytes)
    : renderChanged(parseYaml(file.toString()), how);
}
