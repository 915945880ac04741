import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { type Collector, createCollector } from '../import/collect.ts';
import { createRowMapper } from '../import/map-row.ts';
import type { Mapping } from '../import/mapping.ts';
import { type PerUnit, perUnits } from '../import/mapping-file.ts';
import { stationsOfOcpi } from '../import/ocpi.ts';
import type { Json } from '../protocol/json.ts';
import { createAttributeChecker } from '../rules/typed-attributes.ts';
import { collectNetworks } from './arguments.ts';
import { type CommandContext, CommandError, counted } from './command.ts';
import { readCsv } from './import/csv.ts';
import { bundledNames, compareColumns, readMapping } from './import/mapping.ts';
import { publishBody, publishMessage, writeLines } from './import/output.ts';
import { previewAll, renderPreviews } from './import/preview.ts';
import { keepOperatorsWork, readPublished, renderKept } from './import/published.ts';
import { renderReport, renderSummary } from './import/report.ts';
import { type RowSource, readGeoJson } from './import/rows.ts';
import { withProgress } from './progress.ts';
import { readInput, readJsonInput } from './read-input.ts';
import { readSchemaSources } from './schema/sources.ts';

interface ImportOptions {
  out?: string;
  report?: string;
  per?: PerUnit;
  network?: string[];
  dryRun?: boolean;
  json?: boolean;
}

export function registerImportCommand(program: Command, context: CommandContext): void {
  const group = program.command('import').addHelpText('after', help);

  withOptions(group.command('csv').description('a CSV list, read by a mapping'))
    .argument('<mapping>', `YAML or JSON file, or a bundled one: ${bundledNames().join(', ')}`)
    .argument('<file>', 'CSV file; - reads standard input')
    .action(async (mapping: string, file: string, options: ImportOptions) => {
      const known = await readMapping(mapping, context);
      const source = await readCsv(await readInput(file, context), known.file, file);
      await importRows(source, known, 'row', options, context);
    });

  withOptions(group.command('geojson').description('GeoJSON features, their properties read by a mapping'))
    .argument('<mapping>', `YAML or JSON file, or a bundled one: ${bundledNames().join(', ')}`)
    .argument('<file>', 'GeoJSON file; - reads standard input')
    .action(async (mapping: string, file: string, options: ImportOptions) => {
      const known = await readMapping(mapping, context);
      const source = readGeoJson(await readJsonInput(file, context), file);
      await importRows(source, known, 'feature', options, context);
    });

  withOptions(group.command('ocpi').description('OCPI 2.2.1 locations'))
    .argument('<file>', "JSON file: one location, an array, or an endpoint's answer; - reads standard input")
    .action((file: string, options: ImportOptions) => importOcpi(file, options, context));
}

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

async function importRows(
  source: RowSource,
  mapping: Mapping,
  unit: 'row' | 'feature',
  options: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const collector = await startCollector(options.per ?? mapping.per, context);
  for (const problem of compareColumns(mapping, source.columns)) collector.report(problem);
  const mapRow = createRowMapper(mapping);
  let count = 0;
  await withProgress(context, 'Importing', async () => {
    for await (const row of source.rows(collector.report)) {
      count += 1;
      // Nothing here waits for the outside world: without a pause, nobody would hear that it goes on.
      if (count % rowsBetweenPauses === 0) await setImmediate();
      const { station, problems } = row ? mapRow(row) : { problems: [] };
      problems.forEach(collector.report);
      if (station) collector.add(station);
    }
  });
  await finish({ count, unit }, collector, options, context);
}

const rowsBetweenPauses = 1_000;

async function importOcpi(file: string, options: ImportOptions, context: CommandContext): Promise<void> {
  const collector = await startCollector(options.per, context);
  const { stations, problems, count } = readLocations(await readJsonInput(file, context), file);
  problems.forEach(collector.report);
  stations.forEach(collector.add);
  await finish({ count, unit: 'location' }, collector, options, context);
}

function readLocations(document: Json, file: string) {
  try {
    return stationsOfOcpi(document);
  } catch (error) {
    throw new CommandError(
      `${file} cannot be imported: ${error instanceof Error ? error.message : error}.`,
      error,
    );
  }
}

/** The catalogs are checked against the same schemas as a publish of them. */
async function startCollector(per: PerUnit = 'station', context: CommandContext): Promise<Collector> {
  const sources = await readSchemaSources(context.config());
  return createCollector({
    per,
    checker: createAttributeChecker({ schemas: sources.flatMap(({ schemas }) => schemas) }),
  });
}

async function finish(
  source: { count: number; unit: string },
  collector: Collector,
  { out, report, network, dryRun, json }: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const collected = collector.finish();
  const { catalogs, problems } = collected;
  for (const line of renderReport(problems)) context.note(line);
  if (report !== undefined)
    await writeLines(
      report,
      problems.map((problem) => JSON.stringify(problem)),
    );
  context.note(renderSummary(source.count, source.unit, collected));
  if (catalogs.length === 0) throw new CommandError('Nothing could be imported.');
  const { CRAWL_MAX_ENTRIES } = context.config();
  if (catalogs.length > CRAWL_MAX_ENTRIES)
    context.note(
      `Crawlers take ${counted(CRAWL_MAX_ENTRIES, 'catalog')} of one node at most: use --per operator.`,
    );
  if (problems.some(({ kind }) => kind === 'left-out')) context.setExitCode(2);
  const config = context.config();
  const published = await readPublished(config);
  const kept = await withProgress(context, 'Looking at what is published', () =>
    keepOperatorsWork(catalogs, published, config.WIRE_PROFILE),
  );
  for (const line of renderKept(kept)) context.note(line);
  const message = publishMessage(kept.catalogs, network);
  if (dryRun) {
    const previews = await previewAll(message, published, config.WIRE_PROFILE);
    if (json) context.print(JSON.stringify(previews, null, 2));
    else for (const line of renderPreviews(previews, published)) context.print(line);
  } else if (out !== undefined) await writeLines(out, publishBody(message));
  else for (const piece of publishBody(message)) context.print(piece);
}
