import { type Command, Option } from 'commander';
import { perUnits } from '../import/station.ts';
import { collectNetworks } from './arguments.ts';
import type { Register } from './command.ts';
import { listBundledMappings } from './import/bundled.ts';
import type { ExplainOptions } from './import/explain.ts';
import type { ImportOptions } from './import/run.ts';

export const register: Register = (program, context) => {
  const group = program.command('import').addHelpText('after', help);

  for (const [kind, about, format] of mapped)
    withOptions(group.command(kind).description(about))
      .argument('<mapping>', `YAML or JSON file, or a bundled one: ${listBundledMappings().join(', ')}`)
      .argument('<file>', `${format} file; - reads standard input`)
      .action(async (mapping: string, file: string, options: ImportOptions) =>
        (await load()).importList({ kind, mapping, file }, options, context),
      );

  withOptions(group.command('ocpi').description('OCPI 2.2.1 and 2.3.0 locations'))
    .argument('<file>', "JSON file: one location, an array, or an endpoint's answer; - reads standard input")
    .option('--tariffs <file>', 'JSON file of the tariffs that the locations name, in the same forms')
    .action(async (file: string, { tariffs, ...options }: ImportOptions & { tariffs?: string }) =>
      (await load()).importList({ kind: 'ocpi', file, tariffs }, options, context),
    );

  withOptions(group.command('datex').description('DATEX II v3 EnergyInfrastructure, as JSON'))
    .argument('<file>', 'JSON file of the table publication; - reads standard input')
    .option('--status <file>', 'JSON file of the status publication')
    .action(async (file: string, { status, ...options }: ImportOptions & { status?: string }) =>
      (await load()).importList({ kind: 'datex', file, status }, options, context),
    );

  group
    .command('explain')
    .description('show where each column or field of a file goes, and which are not used')
    .argument('<file>', 'CSV, GeoJSON, OCPI or DATEX II file; - reads standard input')
    .option(
      '--mapping <name>',
      'of a CSV or GeoJSON file (default: the bundled one that names most of its columns)',
    )
    .action(async (file: string, options: ExplainOptions) =>
      (await import('./import/explain.ts')).explainFile(file, options, context),
    );
};

const mapped = [
  ['csv', 'a CSV file, read with a mapping', 'CSV'],
  ['geojson', 'GeoJSON features, with a mapping for their properties', 'GeoJSON'],
] as const;

/** Loads file readers and validators only when needed: help works without them. */
const load = () => import('./import/run.ts');

function withOptions(command: Command): Command {
  return command
    .option('--out <file>', 'write the publish body there instead of printing it')
    .option('--report <file>', 'write every finding there, one JSON object a line')
    .addOption(
      new Option(
        '--per <unit>',
        'what becomes one catalog (default: as the mapping says, or station)',
      ).choices(perUnits),
    )
    .option('--keep-doubtful', 'publish stations whose place looks wrong, which are otherwise held back')
    .option('--strict', 'fail, and write nothing, when anything is lost')
    .option('--network <id>', 'network that the catalogs are for; repeatable', collectNetworks)
    .option('--json', 'with --dry-run: print JSON; the publish body is JSON in any case')
    .addOption(
      new Option(
        '--dry-run',
        'print what a publish as files would change instead of the publish body',
      ).conflicts('out'),
    );
}

const help = `
The result is a publish body. Prices become offers. Everything that could not be imported is reported with its row, column and value.
If PUBLISHER_DIR is the directory that a catalog is published in, offers that you added to it are kept, and a paused
catalog stays paused.
Exit codes: 0 success, 1 failure, 2 some stations or values were left out or held back.

Examples:
  $ signpost import csv stations my-stations.csv --out chargers.json
  $ signpost import csv my-mapping.yaml export.csv --per operator --out chargers.json
  $ signpost import geojson osm delhi.geojson --out chargers.json
  $ signpost import csv stations my-stations.csv --dry-run
  $ signpost import explain my-stations.csv
  $ signpost import ocpi locations.json --tariffs tariffs.json --network nfh.global/beckn-nodes --out chargers.json
  $ signpost publish chargers.json --self`;
