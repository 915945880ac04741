import type { JsonObject } from '../../protocol/json.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';
import { type CommandContext, CommandError, counted, joinSome, withProgress } from '../command.ts';
import { readJsonInput } from '../read-input.ts';
import type { PublicCheck } from './check.ts';
import {
  countCatalogs,
  type DirectiveOptions,
  listCatalogIds,
  readPublishFile,
  splitRequest,
} from './input.ts';
import { renderResults } from './report.ts';
import { publishHere } from './self.ts';
import type { PublishToOptions } from './to.ts';

export interface PublishOptions extends DirectiveOptions, Omit<PublishToOptions, 'to'> {
  to?: string;
  self?: boolean;
  index?: string;
  forceBaseline?: boolean;
}

export async function publish(files: readonly string[], options: PublishOptions, context: CommandContext) {
  const { to } = options;
  refuseOptionsOfOther(options);
  const outcome: Outcome = { results: [], warnings: new Set(), isAnswered: true };
  try {
    for (const [index, file] of files.entries()) {
      const request = readPublishFile(file, await readJsonInput(file, context), options);
      const position = files.length > 1 ? `${index + 1} of ${files.length}, ` : '';
      const { catalogs, resources } = countCatalogs(request);
      const what = `${counted(catalogs, 'catalog')} with ${counted(resources, 'resource')}`;
      await withProgress(context, `${position}${file}: publishing ${what}`, () =>
        to === undefined
          ? publishAsFiles(request, options, outcome, context)
          : publishToService(request, { ...options, to }, outcome, context),
      );
    }
  } catch (error) {
    // Reports the files before a wrong one, which were published.
    if (outcome.results.length > 0) report(outcome, context);
    throw error;
  }
  const accepted = outcome.results.filter(({ status }) => status === 'ACCEPTED');
  // Checks the published files at their public address.
  if (to === undefined && accepted.length > 0) {
    const { checkPublic } = await import('./check.ts');
    outcome.public = await checkPublic(context.config(), accepted as TriggerResult[], context);
  }
  report(outcome, context);
}

/** Rejects options without effect, because they are misunderstandings. */
function refuseOptionsOfOther(options: PublishOptions): void {
  const { to, self } = options;
  if (to !== undefined && self) throw new CommandError('Give either --to or --self, not both.');
  const others: readonly (keyof PublishOptions)[] = to === undefined ? optionsOfServices : optionsOfFiles;
  const name = others.find((option) => options[option] !== undefined);
  if (name === undefined) return;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new CommandError(`${flag} has no effect ${to === undefined ? 'without' : 'with'} --to.`);
}

const optionsOfFiles = ['index', 'forceBaseline'] as const;
const optionsOfServices = ['as', 'keyId', 'key', 'listen', 'uri'] as const;

function report({ results, warnings, isAnswered, public: shown }: Outcome, context: CommandContext): void {
  if (context.json)
    context.print(JSON.stringify({ results, warnings: [...warnings], public: shown }, null, 2));
  else if (results.length > 0) context.print(renderResults(results));
  if (!context.json) for (const warning of warnings) context.note(`Warning: ${warning}`);
  if (!context.json && shown) context.note(shown.message);
  if (!isAnswered || results.some(({ status }) => status !== 'ACCEPTED')) context.setExitCode(1);
}

interface Outcome {
  results: (PublishResult | TriggerResult)[];
  warnings: Set<string>;
  /** Whether there is a result for every catalog. */
  isAnswered: boolean;
  public?: PublicCheck;
}

async function publishAsFiles(
  request: JsonObject,
  { index, forceBaseline }: PublishOptions,
  { results, warnings }: Outcome,
  context: CommandContext,
): Promise<void> {
  const body = forceBaseline ? { ...request, forceBaseline } : request;
  const { answer, by } = await publishHere(context.config(), body, index);
  context.note(`Published by ${by}.`);
  results.push(...answer.results);
  for (const warning of answer.warnings ?? []) warnings.add(warning);
}

async function publishToService(
  request: JsonObject,
  options: PublishToOptions,
  outcome: Outcome,
  context: CommandContext,
): Promise<void> {
  const { publishTo } = await import('./to.ts');
  for (const part of splitRequest(request, context.config().BODY_SIZE_LIMIT - envelopeBytes)) {
    const message = await publishTo(part, options, context);
    const { results = [] } = message ?? {};
    outcome.results.push(...results);
    const answered = new Set(results.map(({ catalogId }) => catalogId));
    const unanswered = listCatalogIds(part).filter((id) => !answered.has(id));
    if (unanswered.length > 0) outcome.isAnswered = false;
    if (message && unanswered.length > 0)
      context.note(`The on_publish has no result for ${joinSome(unanswered)}.`);
  }
}

/** Room for the context of a request. */
const envelopeBytes = 16 * 1024;
