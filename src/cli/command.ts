import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { paint, paintWord, plain } from './colour.ts';

export interface CommandContext {
  /** Reads the settings on demand, so that a command without settings works even if they are wrong. */
  config(overrides?: Readonly<Record<string, string>>): Config;
  isSet(name: string): boolean;
  /** Names of the variables that are set in the environment, and in the .env file of the working directory. */
  givenSettings(): { environment: readonly string[]; file: readonly string[] };
  print(text: string): void;
  /** Whether --json was given (program.ts). */
  json: boolean;
  /** Whether standard output is a terminal. Secrets are shown only there, because pipes and logs are kept. */
  isTerminal: boolean;
  /** Writes lines to standard error, for progress instead of results. */
  note(text: string): void;
  readStdin(): Promise<Buffer>;
  /** Asks the user for a yes; undefined without a terminal. */
  confirm(question: string): Promise<boolean | undefined>;
  /** For results that are an answer and not a failure, such as a NACK. */
  setExitCode(code: number): void;
}

export type Register = (program: Command, context: CommandContext) => void;

/** Its message is for the user and says what to do. It is shown without a stack; exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

/** For a `catch`: an error of this class becomes a CommandError with this sentence; any other is thrown again. */
export function explainError<E>(kind: new (...given: never[]) => E, say: (error: E) => string) {
  return (error: unknown): never => {
    throw error instanceof kind ? new CommandError(say(error), error) : error;
  };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a command may read nodes at private addresses. By default, it may if the registry is on this machine, because then the nodes are too. */
export function allowsPrivate({ ALLOW_PRIVATE_ADDRESSES }: Config, { isSet }: Pick<CommandContext, 'isSet'>) {
  return ALLOW_PRIVATE_ADDRESSES || !(isSet('REGISTRY_URL') || isSet('ALLOW_PRIVATE_ADDRESSES'));
}

/** Whether there is a database to read. A command that only reads does not create one. */
export function hasDatabase({ DATABASE_URL, DATA_DIR }: Config): boolean {
  return DATABASE_URL !== undefined || existsSync(join(DATA_DIR, 'postgres'));
}

/** Escapes terminal commands in texts from outside, in JSON's notation, which keeps the meaning of JSON. */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, escapeCharacter);
}

export function oneLine(text: string): string {
  return text.replace(/[\n\t\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Prints the value with --json, otherwise the text. */
export function printResult({ json, print }: CommandContext, value: object, text: string) {
  print(json ? JSON.stringify(value, null, 2) : text);
}

const progressAfterMs = 2_000;
const progressEveryMs = 5_000;

/** Prints a note every few seconds while the work lasts. */
export async function withProgress<T>(context: CommandContext, what: string, work: () => Promise<T>) {
  const started = performance.now();
  const tell = () => {
    context.note(`${what}, ${Math.round((performance.now() - started) / 1_000)} s …`);
    timer = setTimeout(tell, progressEveryMs);
  };
  let timer = setTimeout(tell, progressAfterMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

export function joinSome(ids: readonly string[]): string {
  const more = ids.length - shownIds;
  return ids.slice(0, shownIds).join(', ') + (more > 0 ? ` and ${more.toLocaleString('en-US')} more` : '');
}

const shownIds = 5;

export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = header.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => plain(row[column] ?? '').length)),
  );
  const render = (row: readonly string[], paintCell: (cell: string) => string) =>
    row
      .map((cell, column) => {
        const space = Math.max(0, (widths[column] ?? 0) - plain(cell).length);
        return `${cell === '' ? '' : paintCell(cell)}${' '.repeat(space)}`;
      })
      .join('  ')
      .trimEnd();
  return [render(header, (name) => paint('bold', name)), ...cells.map((row) => render(row, paintWord))].join(
    '\n',
  );
}

export { counted } from '../counted.ts';
