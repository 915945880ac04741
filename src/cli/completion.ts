import { Argument, type Command } from 'commander';
import type { CommandContext, Register } from './command.ts';

export const completionOf =
  (buildWholeProgram: (context: CommandContext) => Promise<Command>): Register =>
  (program, context) =>
    program
      .command('completion')
      .addArgument(new Argument('<shell>', 'whose script').choices(Object.keys(shells)))
      .addHelpText('after', help)
      .action(async (shell: keyof typeof shells) =>
        context.print(shells[shell](describeCommands(await buildWholeProgram(context))).trimEnd()),
      );

const help = `
Prints a script that lets the shell complete commands and options of this version.

Examples:
  $ signpost completion bash >> ~/.bashrc
  $ signpost completion zsh > "\${fpath[1]}/_signpost"
  $ signpost completion fish > ~/.config/fish/completions/signpost.fish`;

// A script for each shell. It finds the command on the line and offers its subcommands, values and options, otherwise files.

const shells = { bash: renderBash, zsh: renderZsh, fish: renderFish };

function renderBash(commands: readonly CompletedCommand[]): string {
  const offered = commands.map(({ path, words, options }) => {
    const all = [...words.map(({ word }) => word), ...options.map(({ long }) => `--${long}`)];
    return `    ${quote(place(path))}) offered=${quote(all.join(' '))} ;;`;
  });
  const values = valueCases(commands).map(
    ({ pattern, choices }) => `    ${pattern}) offered=${quote(choices.join(' '))} ;;`,
  );
  return `# bash completion for signpost: signpost completion bash
_signpost() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at='' offered='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${leadingPlaces(commands)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${offered.join('\n')}
  esac
  case "$at $previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o bashdefault -o default -F _signpost signpost
`;
}

function renderZsh(commands: readonly CompletedCommand[]): string {
  const described = (word: string, about: string) => quote(`${word.replaceAll(':', '\\:')}:${about}`);
  const offered = commands.map(({ path, words, options }) => {
    const named = words.map(({ word, about }) => described(word, about));
    const dashed = options.map(({ long, about }) => described(`--${long}`, about));
    return `    ${quote(place(path))}) named=(${named.join(' ')}) dashed=(${dashed.join(' ')}) ;;`;
  });
  const values = valueCases(commands).map(
    ({ pattern, choices }) =>
      `    ${pattern}) ${choices.length > 0 ? `compadd -- ${choices.map(quote).join(' ')}` : '_files'}; return ;;`,
  );
  return `#compdef signpost
# zsh completion for signpost: signpost completion zsh
_signpost() {
  local at='' word
  local -a named dashed
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${leadingPlaces(commands)}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$at" in
${offered.join('\n')}
  esac
  _describe -t commands command named
  _describe -o -t options option dashed
  (( \${#named} )) || _files
}
compdef _signpost signpost
`;
}

function renderFish(commands: readonly CompletedCommand[]): string {
  const offered = commands.flatMap(({ path, words, options }) => {
    const here = `complete -c signpost -n ${quote(`__signpost_at ${quote(place(path))}`)}`;
    return [
      ...words.map(({ word, about }) => `${here} -f -a ${quote(word)} -d ${quote(about)}`),
      ...options.map((option) => `${here} ${fishOption(option)} -d ${quote(option.about)}`),
    ];
  });
  return `# fish completion for signpost: signpost completion fish
function __signpost_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${leadingPlaces(commands).replaceAll(' | ', ' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${offered.join('\n')}
`;
}

function fishOption({ long, takesValue, choices }: CompletedOption): string {
  if (choices.length > 0) return `-l ${long} -x -a ${quote(choices.join(' '))}`;
  return takesValue ? `-l ${long} -r` : `-l ${long}`;
}

/** The position of a command on the line: ` keys new`. */
function place(path: readonly string[]): string {
  return path.map((word) => ` ${word}`).join('');
}

function leadingPlaces(commands: readonly CompletedCommand[]): string {
  return commands
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => quote(place(path)))
    .join(' | ');
}

/** Options that need a value. */
function valueCases(commands: readonly CompletedCommand[]) {
  return commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ long, choices }) => ({ pattern: quote(`${place(path)} --${long}`), choices })),
  );
}

/** In single quotes, these shells interpret no character but the quote. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export interface CompletedCommand {
  /** The words of the command, without "signpost". */
  path: readonly string[];
  /** Subcommands, or the possible values of an argument. */
  words: readonly { word: string; about: string }[];
  options: readonly CompletedOption[];
}

interface CompletedOption {
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
