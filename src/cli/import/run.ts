import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { type Collected, type CollectorOptions, createCollector } from '../../import/collect.ts';
import { isLoss, type PerUnit } from '../../import/station.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { PublishMessage } from '../../protocol/publish-messages.ts';
import { createAttributeChecker } from '../../rules/typed-attributes.ts';
import {
  type CommandContext,
  CommandError,
  counted,
  printResult,
  reasonOf,
  withProgress,
} from '../command.ts';
import { readSchemaSources } from '../schema/sources.ts';
import { messageOf } from '../sync/submission.ts';
import { previewAll, renderPreviews } from './preview.ts';
import { createKeeper, readPublished } from './published.ts';
import { renderReport, renderSummary } from './report.ts';
import { type ListSource, type Reading, readList } from './sources.ts';

export interface ImportOptions {
  out?: string;
  report?: string;
  per?: PerUnit;
  keepDoubtful?: boolean;
  strict?: boolean;
  network?: string[];
  dryRun?: boolean;
}

export async function importList(source: ListSource, options: ImportOptions, context: CommandContext) {
  const reading = await readList(source, context);
  const per = options.per ?? reading.per ?? 'station';
  const collected = await collect(reading, { ...options, per }, context);
  await finish(reading, collected, options, context);
}

export async function collect(
  { stations, problems }: Reading,
  options: Omit<CollectorOptions, 'checker'>,
  context: CommandContext,
): Promise<Collected> {
  const config = context.config();
  // The same schemas as in a publish.
  const schemas = (await readSchemaSources(config)).flatMap((source) => source.schemas);
  const checker = createAttributeChecker({ schemas, aliases: config.SCHEMA_ALIASES });
  const collector = createCollector({ ...options, checker });
  await withProgress(context, 'Making catalogs', async () => {
    let count = 0;
    for (const station of stations) {
      // Lets the progress be shown.
      if (count % stationsBetweenPauses === 0) await setImmediate();
      collector.add(station);
      count += 1;
    }
  });
  problems.forEach(collector.report);
  return collector.finish();
}

const stationsBetweenPauses = 1_000;

async function finish(
  source: Reading,
  collected: Collected,
  { out, report, strict, network, dryRun }: ImportOptions,
  context: CommandContext,
): Promise<void> {
  await reportCollected(source, collected, { report, strict }, context);
  const { catalogs } = collected;
  const config = context.config();
  const { CRAWL_MAX_ENTRIES } = config;
  if (catalogs.length > CRAWL_MAX_ENTRIES)
    context.note(
      `Crawlers take ${counted(CRAWL_MAX_ENTRIES, 'catalog')} of one node at most: use --per operator.`,
    );
  const published = await readPublished(config);
  const keeper = createKeeper(config.WIRE_PROFILE);
  const wholes: Catalog[] = [];
  await withProgress(context, 'Reading the published catalogs', async () => {
    for (const { id, unpack } of catalogs) wholes.push(keeper.keep(unpack(), await published.find(id)));
  });
  for (const line of keeper.render()) context.note(line);
  // Each catalog is complete (FULL), so that things missing in the list disappear with the next publish.
  const submissions = wholes.map((catalog) => ({ catalog, updateMode: 'FULL' as const }));
  const message = messageOf(submissions, network);
  if (dryRun) {
    const previews = await previewAll(message, published, config.WIRE_PROFILE);
    printResult(context, previews, renderPreviews(previews, published).join('\n'));
  } else if (out !== undefined) await writeLines(out, renderPublishBody(message));
  else for (const piece of renderPublishBody(message)) context.print(piece);
}

/** Reports losses. Throws if nothing is left, or if losses are not allowed. */
export async function reportCollected(
  { count, unit }: Pick<Reading, 'count' | 'unit'>,
  collected: Collected,
  { report, strict }: Pick<ImportOptions, 'report' | 'strict'>,
  context: CommandContext,
): Promise<void> {
  const { catalogs, problems, heldBack } = collected;
  for (const line of renderReport(collected)) context.note(line);
  if (report !== undefined)
    await writeLines(
      report,
      problems.map((problem) => JSON.stringify(problem)),
    );
  context.note(renderSummary(count, unit, collected));
  if (catalogs.length === 0) throw new CommandError('Nothing could be imported.');
  if (!problems.some(isLoss) && heldBack.length === 0) return;
  if (strict)
    throw new CommandError('Part of the source is missing from the result: see above. Nothing was written.');
  context.setExitCode(2);
}

// The result of an import: one publish body, one catalog per line. It is never a single string in memory.

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

/** Writes to a temporary name first, so that nobody publishes half a file. */
async function writeLines(file: string, lines: Iterable<string>): Promise<void> {
  const draft = `${file}.${process.pid}.part`;
  try {
    await pipeline(endLines(lines), createWriteStream(draft));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CommandError(`${file} cannot be written: ${reasonOf(error)}.`, error);
  }
}

function* endLines(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}
