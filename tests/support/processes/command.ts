import { Command } from 'commander';
import { plain } from '../../../src/cli/colour.ts';
import { type CommandContext, CommandError } from '../../../src/cli/command.ts';
import { offerJson } from '../../../src/cli/program.ts';
import { readConfig } from '../../../src/config.ts';

// Runs a command of the command line in this process, as if it had been typed.

export interface CommandRun {
  exitCode: number;
  /** The printed result. */
  out: string;
  /** The notes and the error. */
  notes: string;
}

export async function runCommand(
  register: (program: Command, context: CommandContext) => void,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = '',
  /** The answer of the user at the terminal; undefined: there is no terminal. */
  confirms?: boolean,
): Promise<CommandRun> {
  const run: CommandRun = { exitCode: 0, out: '', notes: '' };
  const context: CommandContext = {
    json: false,
    config: (overrides = {}) => readConfig({ ...env, ...overrides }),
    isSet: (name) => (env[name] ?? '') !== '',
    givenSettings: () => ({ environment: Object.keys(env), file: [] }),
    print: (text) => {
      run.out += `${plain(text)}\n`;
    },
    isTerminal: false,
    note: (text) => {
      run.notes += `${plain(text)}\n`;
    },
    readStdin: async () => Buffer.from(stdin),
    confirm: async (question) => {
      if (confirms !== undefined) context.note(question);
      return confirms;
    },
    setExitCode: (code) => {
      run.exitCode = code;
    },
  };
  const program = new Command('signpost')
    .exitOverride()
    .configureOutput({ writeOut: context.print, writeErr: context.note });
  register(program, context);
  offerJson(program, context);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    run.exitCode = 1;
    // Commander has already printed its own errors.
    if (error instanceof CommandError) context.note(error.message);
    else if (!(error instanceof Error && 'exitCode' in error)) throw error;
  }
  return run;
}

/** For commands that print nothing and read no settings. */
export function silentContext(): CommandContext {
  return {
    json: false,
    config: () => readConfig({}),
    isSet: () => false,
    givenSettings: () => ({ environment: [], file: [] }),
    print: () => undefined,
    isTerminal: false,
    note: () => undefined,
    readStdin: async () => Buffer.alloc(0),
    confirm: async () => undefined,
    setExitCode: () => undefined,
  };
}
