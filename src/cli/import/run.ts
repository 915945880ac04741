import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { type Collector, createCollector } from '../../import/collect.ts';
import { createRowMapper } from '../../import/map-row.ts';
import type { Mapping } from '../../import/mapping.ts';
import { stationsOfOcpi } from '../../import/ocpi.ts';
import { isLoss, type PerUnit } from '../../import/station.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import type { PublishMessage } from '../../protocol/publish-messages.ts';
import { createAttributeChecker } from '../../rules/typed-attributes.ts';
import { type CommandContext, CommandError, counted } from '../command.ts';
import { withProgress } from '../progress.ts';
import { readInput, readJsonInput } from '../read-input.ts';
import { readSchemaSources } from '../schema/sources.ts';
import { readCsv } from './csv.ts';
import { compareColumns, readMapping } from './mapping.ts';
import { previewAll, renderPreviews } from './preview.ts';
import { keepOperatorsWork, readPublished, renderKept } from './published.ts';
import { renderReport, renderSummary } from './report.ts';
import { type RowSource, readGeoJson } from './rows.ts';

export interface ImportOptions {
  out?: string;
  report?: string;
  per?: PerUnit;
  /** File of the tariffs that OCPI locations name. */
  tariffs?: string;
  keepDoubtful?: boolean;
  strict?: boolean;
  network?: string[];
  dryRun?: boolean;
  json?: boolean;
}

export async function importCsv(
  mapping: string,
  file: string,
  options: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const known = await readMapping(mapping, context);
  const source = await readCsv(await readInput(file, context), known.file, file);
  await importRows(source, known, 'row', options, context);
}

export async function importGeoJson(
  mapping: string,
  file: string,
  options: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const known = await readMapping(mapping, context);
  const source = readGeoJson(await readJsonInput(file, context), file);
  await importRows(source, known, 'feature', options, context);
}

async function importRows(
  source: RowSource,
  mapping: Mapping,
  unit: 'row' | 'feature',
  options: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const collector = await startCollector({ ...options, per: options.per ?? mapping.per }, context);
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

export async function importOcpi(
  file: string,
  options: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const collector = await startCollector(options, context);
  const tariffs = options.tariffs === undefined ? [] : await readJsonInput(options.tariffs, context);
  const { stations, problems, count } = readLocations(await readJsonInput(file, context), tariffs, file);
  problems.forEach(collector.report);
  stations.forEach(collector.add);
  await finish({ count, unit: 'location' }, collector, options, context);
}

function readLocations(document: Json, tariffs: Json, file: string) {
  try {
    return stationsOfOcpi(document, tariffs);
  } catch (error) {
    throw new CommandError(
      `${file} cannot be imported: ${error instanceof Error ? error.message : error}.`,
      error,
    );
  }
}

/** The catalogs are checked against the same schemas as a publish of them. */
async function startCollector(
  { per = 'station', keepDoubtful }: ImportOptions,
  context: CommandContext,
): Promise<Collector> {
  const config = context.config();
  const sources = await readSchemaSources(config);
  return createCollector({
    per,
    keepDoubtful,
    checker: createAttributeChecker({
      schemas: sources.flatMap(({ schemas }) => schemas),
      aliases: config.SCHEMA_ALIASES,
    }),
  });
}

async function finish(
  source: { count: number; unit: string },
  collector: Collector,
  { out, report, strict, network, dryRun, json }: ImportOptions,
  context: CommandContext,
): Promise<void> {
  const collected = collector.finish();
  const { catalogs, problems } = collected;
  for (const line of renderReport(collected)) context.note(line);
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
  if (problems.some(isLoss)) {
    if (strict)
      throw new CommandError(
        'Something of the list is missing in the result: see above. Nothing was written.',
      );
    context.setExitCode(2);
  }
  const config = context.config();
  const published = await readPublished(config);
  const kept = await withProgress(context, 'Looking at what is published', () =>
    keepOperatorsWork(catalogs, published, config.WIRE_PROFILE),
  );
  for (const line of renderKept(kept)) context.note(line);
  const message = buildPublishMessage(kept.catalogs, network);
  if (dryRun) {
    const previews = await previewAll(message, published, config.WIRE_PROFILE);
    if (json) context.print(JSON.stringify(previews, null, 2));
    else for (const line of renderPreviews(previews, published)) context.print(line);
  } else if (out !== undefined) await writeLines(out, renderPublishBody(message));
  else for (const piece of renderPublishBody(message)) context.print(piece);
}

// The result of an import: one publish body, a catalog a line. However large it is, it is never one text in memory.

/** Each catalog is the whole of it (FULL), so that what a list no longer has goes away with the next publish. */
function buildPublishMessage(catalogs: Catalog[], networks: string[] = []): PublishMessage {
  const publishDirectives = catalogs.map(({ id: catalogId }) => ({
    catalogId,
    catalogType: 'REGULAR' as const,
    updateMode: 'FULL' as const,
    ...(networks.length > 0 && { visibleTo: networks }),
  }));
  return { catalogs, publishDirectives };
}

function* renderPublishBody({ catalogs, publishDirectives = [] }: PublishMessage): Generator<string> {
  yield '{"context":{"action":"catalog/publish"},"message":{"catalogs":[';
  yield* renderItems(catalogs);
  yield '],"publishDirectives":[';
  yield* renderItems(publishDirectives);
  yield ']}}';
}

function* renderItems(items: readonly object[]): Generator<string> {
  for (const [index, item] of items.entries())
    yield JSON.stringify(item) + (index < items.length - 1 ? ',' : '');
}

/** Under another name until it is complete: whoever publishes the file never meets half of it. */
async function writeLines(file: string, lines: Iterable<string>): Promise<void> {
  const draft = `${file}.${process.pid}.part`;
  try {
    await pipeline(endLines(lines), createWriteStream(draft));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${file} cannot be written: ${reason}.`, error);
  }
}

function* endLines(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}
