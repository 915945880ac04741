import type { TriggerResult } from '../protocol/trigger-messages.ts';
import {
  type CommandContext,
  CommandError,
  counted,
  printResult,
  type Register,
  renderTable,
} from './command.ts';
import { renderProblems } from './publish/report.ts';

// retire, pause and resume change the state of a published catalog without its content (self-hosted spec: States and transitions).

const outcomes = { retire: 'RETIRED', pause: 'PAUSED', resume: 'RESUMED' } as const;
type Verb = keyof typeof outcomes;

export const register: Register = (program, context) => {
  for (const verb of Object.keys(outcomes) as Verb[]) {
    const command = program
      .command(verb)
      .argument('<id...>', 'catalog ids')
      .option('--json', 'print the answer as JSON')
      .addHelpText('after', helpFor(verb))
      .action((ids: string[], { yes = false }: { yes?: boolean }) => change(verb, ids, yes, context));
    if (verb === 'retire') command.option('--yes', 'do it without asking');
  }
};

const helpFor = (verb: string) => `
Exit codes: 0 done for every catalog; 1 otherwise.

Example:
  $ signpost ${verb} voltpath-indiranagar`;

async function change(
  verb: Verb,
  ids: readonly string[],
  yes: boolean,
  context: CommandContext,
): Promise<void> {
  if (verb === 'retire' && !yes) await confirmRetirement(ids, context);
  const { publishHere } = await import('./publish/self.ts');
  const { answer, by } = await publishHere(context.config(), { [verb]: ids });
  const { results, warnings = [] } = answer;
  context.note(`Published by ${by}.`);
  printResult(context, answer, renderStates(results, outcomes[verb]));
  if (!context.json) for (const warning of warnings) context.note(`Warning: ${warning}`);
  if (results.some(({ status }) => status !== 'ACCEPTED')) context.setExitCode(1);
}

async function confirmRetirement(ids: readonly string[], context: CommandContext): Promise<void> {
  const what = ids.length === 1 ? ids[0] : `${counted(ids.length, 'catalog')} (${ids.join(', ')})`;
  const answer = await context.confirm(
    `Retire ${what}? This is permanent: nothing can be published under ${ids.length === 1 ? 'this id' : 'these ids'} again.`,
  );
  if (answer === true) return;
  throw new CommandError(
    answer === false
      ? 'Nothing was retired.'
      : 'Retiring is permanent, and there is no terminal to confirm it. To retire anyway, add --yes.',
  );
}

function renderStates(results: readonly TriggerResult[], outcome: string): string {
  const rows = results.map(({ catalogId, status, unchanged }) => [
    catalogId,
    status === 'ACCEPTED' ? outcome : status,
    unchanged ? 'unchanged' : '',
  ]);
  return [renderTable(['CATALOG', 'STATUS', ''], rows), ...results.flatMap(renderProblems)].join('\n');
}
