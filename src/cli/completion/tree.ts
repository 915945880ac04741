import type { Command } from 'commander';

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** The words that lead to it, without "signpost". */
  path: readonly string[];
  /** Subcommands, or the values that an argument may have. */
  words: readonly { word: string; about: string }[];
  options: readonly CompletedOption[];
}

export interface CompletedOption {
  /** Without its dashes. */
  long: string;
  about: string;
  /** Whether a value has to follow. */
  takesValue: boolean;
  choices: readonly string[];
}

/** Every command below a program, itself first. */
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
