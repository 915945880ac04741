import type { Command } from 'commander';
import type { JsonObject } from '../protocol/json.ts';
import type { PublishResult } from '../protocol/publish-messages.ts';
import type { TriggerResult } from '../protocol/trigger-messages.ts';
import {
  collectNetworks,
  parseCatalogType,
  parseIndexName,
  parseKeyId,
  parseListen,
  parseMode,
  parseSeconds,
  parseSubscriber,
  parseUrl,
} from './arguments.ts';
import { type CommandContext, CommandError, counted } from './command.ts';
import { listed } from './import/published.ts';
import { withProgress } from './progress.ts';
import { checkPublic, type PublicCheck } from './publish/check.ts';
import {
  countCatalogs,
  type DirectiveOptions,
  listCatalogIds,
  readPublishFile,
  splitRequest,
} from './publish/input.ts';
import { renderResults } from './publish/report.ts';
import { publishHere } from './publish/self.ts';
import { type PublishToOptions, publishTo } from './publish/to.ts';
import { readJsonInput } from './read-input.ts';
import { usualWaitSeconds } from './send/exchange.ts';

interface PublishOptions extends DirectiveOptions, Omit<PublishToOptions, 'to'> {
  to?: string;
  self?: boolean;
  index?: string;
  forceBaseline?: boolean;
  json?: boolean;
}

export function registerPublishCommand(program: Command, context: CommandContext): void {
  program
    .command('publish')
    .argument('<file...>', 'a publish request, a catalog, or an array of catalogs; - reads standard input')
    .option('--self', 'as signed files, through the publisher that runs here or directly (the default)')
    .option('--to <url>', 'to the catalog service at this base address, and wait for on_publish', parseUrl)
    .option(
      '--type <type>',
      'REGULAR or MASTER, for catalogs that come without a directive',
      parseCatalogType,
    )
    .option('--mode <mode>', 'FULL or MERGE, likewise (as files: FULL, to a service: MERGE)', parseMode)
    .option('--network <id>', 'network that may see them, likewise; may be given again', collectNetworks)
    .option('--index <name>', 'as files: the index that new catalogs come into (catalogs)', parseIndexName)
    .option('--force-baseline', 'as files: write whole catalogs instead of changes')
    .option('--as <subscriber>', 'to a service: who signs (default: PUBLISHER_ID)', parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--wait <seconds>', 'how long to wait for on_publish', parseSeconds, usualWaitSeconds)
    .option('--listen <address>', 'where to wait for it: host:port', parseListen)
    .option('--uri <url>', 'base address to give as our bppUri', parseUrl)
    .option('--json', 'print the results as JSON')
    .addHelpText('after', examples)
    .action((files: string[], options: PublishOptions) => publish(files, options, context));
}

const examples = `
Published as files, they are read back and verified through PUBLISHER_URL, as a crawler would; where they are not to be seen there,
because they have to be copied to a host first, it says so. The discovery services of CRAWL_HINT_URLS are told to look sooner.
Exit code: 0 when every catalog was accepted as it is, 1 otherwise.

Examples:
  $ signpost publish chargers.json
  $ signpost publish stations/*.json --network example.org/ev --index bangalore
  $ signpost import csv afdc stations.csv | signpost publish -
  $ signpost publish chargers.json --to https://catalog.example.org --mode FULL`;

async function publish(
  files: readonly string[],
  options: PublishOptions,
  context: CommandContext,
): Promise<void> {
  const { to } = options;
  refuseOptionsOfOther(options);
  const outcome: Outcome = { results: [], warnings: new Set(), isAnswered: true };
  try {
    for (const [place, file] of files.entries()) {
      const request = readPublishFile(file, await readJsonInput(file, context), options);
      const position = files.length > 1 ? `${place + 1} of ${files.length}, ` : '';
      await withProgress(context, `${position}${file}: ${describe(request)}`, () =>
        to === undefined
          ? publishAsFiles(request, options, outcome, context)
          : publishToService(request, { ...options, to }, outcome, context),
      );
    }
  } catch (error) {
    // What came before is published all the same.
    if (outcome.results.length > 0) report(outcome, options, context);
    throw error;
  }
  if (to === undefined) outcome.public = await checkAccepted(outcome, context);
  report(outcome, options, context);
}

/** Files are published where readers find them. */
async function checkAccepted(
  { results }: Outcome,
  context: CommandContext,
): Promise<PublicCheck | undefined> {
  const accepted = results.filter(({ status }) => status === 'ACCEPTED') as TriggerResult[];
  return accepted.length === 0 ? undefined : checkPublic(context.config(), accepted, context);
}

/** An option that would do nothing is a misunderstanding. */
function refuseOptionsOfOther(options: PublishOptions): void {
  const { to, self } = options;
  if (to !== undefined && self) throw new CommandError('Give either --to or --self, not both.');
  const others = to === undefined ? optionsOfServices : optionsOfFiles;
  const [, flag] = others.find(([name]) => options[name] !== undefined) ?? [];
  if (flag !== undefined)
    throw new CommandError(`${flag} means nothing ${to === undefined ? 'without' : 'with'} --to.`);
}

type Flag = [name: keyof PublishOptions, flag: string];
const optionsOfFiles: readonly Flag[] = [
  ['index', '--index'],
  ['forceBaseline', '--force-baseline'],
];
const optionsOfServices: readonly Flag[] = [
  ['as', '--as'],
  ['keyId', '--key-id'],
  ['key', '--key'],
  ['listen', '--listen'],
  ['uri', '--uri'],
];

function report(
  { results, warnings, isAnswered, public: shown }: Outcome,
  { json }: PublishOptions,
  context: CommandContext,
): void {
  if (json) context.print(JSON.stringify({ results, warnings: [...warnings], public: shown }, null, 2));
  else if (results.length > 0) context.print(renderResults(results));
  if (!json) for (const warning of warnings) context.note(`Warning: ${warning}`);
  if (!json && shown) context.note(shown.message);
  if (!isAnswered || results.some(({ status }) => status !== 'ACCEPTED')) context.setExitCode(1);
}

interface Outcome {
  results: (PublishResult | TriggerResult)[];
  warnings: Set<string>;
  /** Whether there is a result for every catalog. */
  isAnswered: boolean;
  /** What readers find of what was published as files. */
  public?: PublicCheck;
}

function describe(request: JsonObject): string {
  const { catalogs, resources } = countCatalogs(request);
  return `publishing ${counted(catalogs, 'catalog')} with ${counted(resources, 'resource')}`;
}

async function publishAsFiles(
  request: JsonObject,
  { index, forceBaseline }: PublishOptions,
  { results, warnings }: Outcome,
  context: CommandContext,
): Promise<void> {
  const body = forceBaseline ? { ...request, forceBaseline } : request;
  const { answer, by } = await publishHere(context.config(), body, index);
  context.note(`Done by ${by}.`);
  results.push(...answer.results);
  for (const warning of answer.warnings ?? []) warnings.add(warning);
}

async function publishToService(
  request: JsonObject,
  options: PublishToOptions,
  outcome: Outcome,
  context: CommandContext,
): Promise<void> {
  for (const part of splitRequest(request, context.config().BODY_SIZE_LIMIT - envelopeBytes)) {
    const message = await publishTo(part, options, context);
    const { results = [] } = message ?? {};
    outcome.results.push(...results);
    const answered = new Set(results.map(({ catalogId }) => catalogId));
    const unanswered = listCatalogIds(part).filter((id) => !answered.has(id));
    if (unanswered.length > 0) outcome.isAnswered = false;
    if (message && unanswered.length > 0)
      context.note(`The on_publish says nothing of ${listed(unanswered)}.`);
  }
}

/** Room for the context of a request. */
const envelopeBytes = 16 * 1024;
