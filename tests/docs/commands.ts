import type { CompletedCommand } from '../../src/cli/completion.ts';
import { isTaken, readInlineCode, readSteps } from './blocks.ts';

// Commands in documents that are not run: in the text, and in blocks that are not run. They are compared with the existing commands, options and npm scripts.

export function readCommands(document: string): string[] {
  const blocks = readSteps(document).filter(({ kind, language }) => !isTaken(kind) && language === 'sh');
  const lines = blocks.flatMap(({ text }) => text.split('\n'));
  return [...readInlineCode(document), ...lines].flatMap((line) => {
    const [command] = /(?<![^\s(])(?:signpost(?= [a-z-])|npm (?:run|test|start)\b).*/.exec(line) ?? [];
    return command === undefined ? [] : [command];
  });
}

/** Describes the fault of a command; undefined if it has none. */
export function findFault(
  command: string,
  known: readonly CompletedCommand[],
  scripts: Readonly<Record<string, string>>,
): string | undefined {
  const [program, ...words] = command.split(/\s+/);
  if (program === 'signpost') return findFaultOfWords(words, known);
  const name = words[0] === 'run' ? words[1] : words[0];
  return name !== undefined && name in scripts ? undefined : 'there is no such script';
}

function findFaultOfWords(words: readonly string[], known: readonly CompletedCommand[]): string | undefined {
  const find = (path: readonly string[]) => known.find((one) => one.path.join(' ') === path.join(' '));
  let path: readonly string[] = [];
  let isSubcommandLast = false;
  for (const word of words) {
    if (word === '#') return undefined;
    if (word === '…') continue;
    const current = find(path);
    const option = /^--([a-z-]+)/.exec(word)?.[1];
    if (option !== undefined) {
      if (!current?.options.some(({ long }) => long === option)) return `there is no option --${option}`;
    } else if (word === '|') {
      // An alternative to the previous word.
      if (isSubcommandLast) path = path.slice(0, -1);
    } else {
      isSubcommandLast = find([...path, word]) !== undefined;
      if (isSubcommandLast) path = [...path, word];
      else if (path.length === 0 || hasOnlySubcommands(path, known)) return `there is no command ${word}`;
    }
  }
  return undefined;
}

const hasOnlySubcommands = (path: readonly string[], known: readonly CompletedCommand[]) =>
  known.some((one) => one.path.length === path.length + 1 && path.every((word, at) => one.path[at] === word));
