import type { Config } from '../config.ts';

/** What a command has of the world outside. */
export interface CommandContext {
  /** Read when it is needed, so that a command that needs no settings works whatever they are. */
  config(overrides?: Readonly<Record<string, string>>): Config;
  /** Whether the environment gives a setting a value. */
  isSet(name: string): boolean;
  /** Writes lines to standard output. */
  print(text: string): void;
  /** Writes lines to standard error: what happens meanwhile, not the result. */
  note(text: string): void;
  readStdin(): Promise<Buffer>;
  /** For results that are an answer and no failure, such as a NACK. */
  setExitCode(code: number): void;
}

/** The message is for the person at the terminal and says what to do; shown without a stack, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

/** Columns as wide as their widest cell. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `1 charger`, `12,845 chargers`. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}
