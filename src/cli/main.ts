#!/usr/bin/env node
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { type Config, readConfig } from '../config.ts';
import { SettingsError } from '../settings.ts';
import { coloured, paint, plain } from './colour.ts';
import { type CommandContext, CommandError, printable } from './command.ts';
import { buildProgram } from './program.ts';

// The command line, and the only file that reads the environment. It also reads a .env file of the working directory.

const fromFile = existsSync('.env') ? Object.keys(parseEnv(readFileSync('.env', 'utf8'))) : [];
if (fromFile.length > 0) process.loadEnvFile('.env');

// The reader of the output is gone (terminal or pipe), but there may still be work to finish.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

const context: CommandContext = {
  config: (overrides = {}): Config => readConfig({ ...process.env, ...overrides }),
  isSet: (name) => (process.env[name] ?? '') !== '',
  givenSettings: () => ({ environment: Object.keys(process.env), file: fromFile }),
  print: (text) => write(process.stdout, text),
  json: false,
  isTerminal: process.stdout.isTTY ?? false,
  note: (text) => write(process.stderr, text),
  readStdin: () => buffer(process.stdin),
  confirm: async (question) => (process.stdin.isTTY && process.stderr.isTTY ? ask(question) : undefined),
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

const leftOpenMs = 2_000;

try {
  const program = await buildProgram(context, process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  const isForPerson = error instanceof CommandError || error instanceof SettingsError;
  context.note(`${paint('bad', 'signpost:')} ${isForPerson ? error.message : renderUnexpected(error)}`);
  // Open resources of a failed command must not keep the process alive.
  setTimeout(() => process.exit(), leftOpenMs).unref();
}

/** Uses colours if the terminal supports them; respects NO_COLOR and FORCE_COLOR. */
function write(stream: NodeJS.WriteStream, text: string): void {
  const shown = printable(text);
  stream.write(`${stream.isTTY && stream.hasColors() ? coloured(shown) : plain(shown)}\n`);
}

/** End of input is not a yes. */
async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = once(terminal, 'close').then(() => '');
    const answered = terminal.question(`${printable(question)} [y/N] `).catch(() => '');
    const answer = await Promise.race([answered, ended]);
    return /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    terminal.close();
  }
}

function renderUnexpected(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
