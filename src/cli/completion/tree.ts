import type { Command } from 'commander';

export interface CompletedCommand {
  /** The words that lead to it, without "signpost". */
  path: readonly string[];
  /** Subcommands, or the values that an argument may have. */
  words: readonly { word: string; about: string }[];
  options: readonly CompletedOption[];
}

export interface CompletedOption {
  long: string;
  about: string;
  takesValue: boolean;
  choices: readonly string[];
}

export function describeCommands(command: Command, path: readonly string[] = []): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const values = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => ({ word, about: description })),
  );
  const options = help
    .visibleOptions(command)
    .flatMap(({ long, description, required, argChoices = [] }) =>
      long ? [{ long: long.slice(2), about: description, takesValue: required, choices: argChoices }] : [],
    );
  const words = [...subcommands.map((one) => ({ word: one.name(), about: one.description() })), ...values];
  return [
    { path, words, options },
    ...subcommands
      .filter((one) => one.name() !== 'help')
      .flatMap((one) => describeCommands(one, [...path, one.name()])),
  ];
}
