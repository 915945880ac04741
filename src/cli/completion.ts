import { Argument, type Command } from 'commander';
import type { CommandContext } from './command.ts';
import { type Shell, shells } from './completion/shells.ts';
import { describeCommands } from './completion/tree.ts';

export function registerCompletionCommand(
  program: Command,
  context: CommandContext,
  buildWholeProgram: (context: CommandContext) => Promise<Command>,
): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'whose script').choices(Object.keys(shells)))
    .addHelpText('after', help)
    .action(async (shell: Shell) =>
      context.print(shells[shell](describeCommands(await buildWholeProgram(context))).trimEnd()),
    );
}

const help = `
Prints a script that has the shell complete commands and options. It is made from the commands of this version.

Examples:
  $ signpost completion bash >> ~/.bashrc
  $ signpost completion zsh > "\${fpath[1]}/_signpost"
  $ signpost completion fish > ~/.config/fish/completions/signpost.fish`;
