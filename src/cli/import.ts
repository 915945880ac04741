import { type Command, Option } from 'commander';
import { perUnits } from '../import/station.ts';
import { collectNetworks } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { listBundledMappings } from './import/bundled.ts';
import type { ImportOptions } from './import/run.ts';

export function registerImportCommand(program: Command, context: CommandContext): void {
  const group = program.command('import').addHelpText('after', help);

  withOptions(group.command('csv').description('a CSV list, read by a mapping'))
    .argument('<mapping>', `YAML or JSON file, or a bundled one: ${listBundledMappings().join(', ')}`)
    .argument('<file>', 'CSV file; - reads standard input')
    .action(async (mapping: string, file: string, options: ImportOptions) =>
      (await load()).importCsv(mapping, file, options, context),
    );

  withOptions(group.command('geojson').description('GeoJSON features, their properties read by a mapping'))
    .argument('<mapping>', `YAML or JSON file, or a bundled one: ${listBundledMappings().join(', ')}`)
    .argument('<file>', 'GeoJSON file; - reads standard input')
    .action(async (mapping: string, file: string, options: ImportOptions) =>
      (await load()).importGeoJson(mapping, file, options, context),
    );

  withOptions(group.command('ocpi').description('OCPI 2.2.1 locations'))
    .argument('<file>', "JSON file: one location, an array, or an endpoint's answer; - reads standard input")
    .action(async (file: string, options: ImportOptions) =>
      (await load()).importOcpi(file, options, context),
    );
}

/** Readers of files and validators, which help does without. */
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
    .option('--network <id>', 'network that the catalogs are for; may be repeated', collectNetworks)
    .option('--json', 'with --dry-run: print JSON; the publish body is JSON in any case')
    .addOption(
      new Option(
        '--dry-run',
        'print what a publish as files would change instead of the publish body',
      ).conflicts('out'),
    );
}

const help = `
The result is a publish body. What could not be taken over is told, with its row, column and value.
Offers that were added to a catalog since it was published are kept, and a catalog that is paused stays so, where
PUBLISHER_DIR is the directory that it is published in.
Exit code: 0 when every station became part of a catalog, 2 when some were left out, 1 when nothing could be made.

Examples:
  $ signpost import csv stations my-stations.csv --out chargers.json
  $ signpost import csv my-mapping.yaml export.csv --per operator --out chargers.json
  $ signpost import geojson osm delhi.geojson --out chargers.json
  $ signpost import csv stations my-stations.csv --dry-run
  $ signpost import ocpi locations.json --network nfh.global/beckn-nodes --out chargers.json
  $ signpost publish chargers.json --self`;
