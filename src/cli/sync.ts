import { type Command, Option } from 'commander';
import { perUnits } from '../import/station.ts';
import { collectNetworks, numberOf, parseListen, parseUrl, signingOptions } from './arguments.ts';
import type { Register } from './command.ts';
import { listBundledMappings } from './import/bundled.ts';
import type { SyncOptions } from './sync/run.ts';
import type { SyncSource } from './sync/source.ts';

export const register: Register = (program, context) => {
  const group = program.command('sync').addHelpText('after', help);
  const run = async (source: SyncSource, options: SyncOptions) =>
    (await import('./sync/run.ts')).sync(source, options, context);

  for (const kind of ['csv', 'geojson'] as const) {
    withOptions(
      group.command(kind).description(`a ${kind === 'csv' ? 'CSV' : 'GeoJSON'} file, read with a mapping`),
    )
      .argument('<mapping>', `YAML or JSON file, or a bundled one: ${listBundledMappings().join(', ')}`)
      .argument('<source>', 'file or address')
      .action((mapping: string, file: string, options: SyncOptions) => run({ kind, mapping, file }, options));
  }
  withOptions(
    group.command('ocpi').description('OCPI 2.2.1 or 2.3.0: the versions endpoint of an operator, or a file'),
  )
    .argument('<source>', 'address of the versions endpoint, or JSON file')
    .option('--token-file <file>', 'file with the token of the endpoint')
    .option('--tariffs <file>', 'with a file: JSON file of the tariffs that the locations name')
    .action((file: string, given: SyncOptions & Pick<SyncSource, 'tariffs' | 'tokenFile'>) => {
      const { tariffs, tokenFile, ...options } = given;
      return run({ kind: 'ocpi', file, tariffs, tokenFile }, options);
    });
  withOptions(group.command('datex').description('DATEX II v3 EnergyInfrastructure, as JSON'))
    .argument('<source>', 'file or address of the table publication')
    .option('--status <source>', 'file or address of the status publication')
    .action((file: string, { status, ...options }: SyncOptions & Pick<SyncSource, 'status'>) =>
      run({ kind: 'datex', file, status }, options),
    );
};

function withOptions(command: Command): Command {
  return signingOptions(command, {
    as: 'to a service: identity that signs (default: PUBLISHER_ID)',
    wait: 'how long to wait for on_publish',
    uri: 'base address for callbacks (bppUri)',
  })
    .option('--dry-run', 'show the plan, and publish nothing')
    .option('--yes', 'publish without asking')
    .option('--watch', 'keep running: one round every SYNC_SECONDS')
    .option(
      '--metrics <address>',
      'with --watch: serve its metrics for Prometheus at host:port/metrics',
      parseListen,
    )
    .option('--to <url>', 'to the catalog service at this base address instead of as signed files', parseUrl)
    .option('--name <name>', 'name of the source (default: its kind and address)')
    .addOption(
      new Option(
        '--per <unit>',
        'what becomes one catalog (default: station; region for more than 2,000 stations)',
      ).choices(perUnits),
    )
    .option('--grace <days>', 'retire stations missing from the source for this long', parseNumber, 7)
    .option(
      '--max-missing <percent>',
      'refuse a source that has lost more stations than this at once',
      parseNumber,
      20,
    )
    .option('--keep-doubtful', 'publish stations whose place looks wrong, which are otherwise held back')
    .option('--strict', 'fail, and publish nothing, when anything is lost')
    .option('--report <file>', 'write every finding there, one JSON object a line')
    .option('--network <id>', 'network that the catalogs are for; repeatable', collectNetworks)
    .option('--json', 'print the plan as JSON');
}

const parseNumber = numberOf(/^\d+(\.\d+)?$/, 'It is a number, such as 7.');

const help = `
Publishes the differences between a source and what was published from it (recorded in DATA_DIR/sync). Pauses and offers that
you added by hand are kept, and so are catalogs of other sources.
Exit codes: 0 success, 1 failure, 2 some stations or values were left out or held back.

Examples:
  $ signpost sync csv stations my-stations.csv --dry-run
  $ signpost sync ocpi https://cpo.example.org/ocpi/versions --token-file token.txt --watch
  $ signpost sync ocpi locations.json --tariffs tariffs.json --yes --to https://catalog.example.org`;
