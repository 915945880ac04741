import type { Command } from 'commander';
import type { CommandContext } from './command.ts';
import { renderResults } from './publish-report.ts';
import { publishHere } from './publish-self.ts';

// retire, pause and resume: what a provider says of a published catalog without touching its content (self-hosted spec: States and transitions).

const states = [
  ['retire', 'say that published catalogs are no longer offered; this is for ever'],
  ['pause', 'say that published catalogs are not to be had for now'],
  ['resume', 'say that paused catalogs are to be had again'],
] as const;

export function registerStateCommands(program: Command, context: CommandContext): void {
  for (const [verb, description] of states) {
    program
      .command(verb)
      .description(description)
      .argument('<id...>', 'catalog ids')
      .option('--json', 'print the answer as JSON')
      .addHelpText('after', helpFor(verb))
      .action((ids: string[], { json }: { json?: boolean }) =>
        change({ [verb]: ids }, json ?? false, context),
      );
  }
}

const helpFor = (verb: string) => `
Exit code: 0 when it was done for every catalog, 1 otherwise.

Example:
  $ signpost ${verb} voltpath-indiranagar`;

async function change(request: object, json: boolean, context: CommandContext): Promise<void> {
  const { answer, by } = await publishHere(context.config(), request);
  context.note(`Done by ${by}.`);
  context.print(json ? JSON.stringify(answer, null, 2) : renderResults(answer.results));
  if (!json) for (const warning of answer.warnings ?? []) context.note(`Warning: ${warning}`);
  if (answer.results.some(({ status }) => status !== 'ACCEPTED')) context.setExitCode(1);
}
