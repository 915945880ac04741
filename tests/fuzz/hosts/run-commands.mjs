// Runs commands of the command line in one process, as if they had been typed, and reports how each ended.
import { CommanderError } from 'commander';
import { CommandError } from '../../../dist/cli/command.js';
import { buildProgram } from '../../../dist/cli/program.js';
import { readConfig } from '../../../dist/config.js';
import { SettingsError } from '../../../dist/settings.js';

process.on('message', async ({ question, args, env }) => {
  if (question !== undefined) process.send({ question, answer: await run(args, env) });
});
process.on('SIGTERM', () => process.exit());
// Runs until it is stopped, or the suite is gone.
process.channel.ref();
process.send('ready');

/** Like dist/cli/main.js. */
async function run(args, env) {
  const outcome = { exitCode: 0, out: '', notes: '' };
  const context = {
    config: (overrides = {}) => readConfig({ ...env, ...overrides }),
    isSet: (name) => (env[name] ?? '') !== '',
    json: false,
    givenSettings: () => ({ environment: Object.keys(env), file: [] }),
    print: (text) => {
      outcome.out += `${text}\n`;
    },
    note: (text) => {
      outcome.notes += `${text}\n`;
    },
    readStdin: async () => Buffer.alloc(0),
    confirm: async () => undefined,
    setExitCode: (code) => {
      outcome.exitCode = code;
    },
  };
  try {
    const program = await buildProgram(context, args);
    throwInsteadOfExit(program);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    outcome.exitCode = 1;
    const isForPerson = [CommandError, SettingsError, CommanderError].some((kind) => error instanceof kind);
    if (isForPerson) outcome.refusal = error.message;
    else outcome.unexpected = error?.stack ?? String(error);
  }
  return outcome;
}

function throwInsteadOfExit(command) {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  command.commands.forEach(throwInsteadOfExit);
}
