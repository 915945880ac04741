import { styleText } from 'node:util';
import { Command } from 'commander';
import { programVersion } from '../program-version.ts';
import type { CommandContext, Register } from './command.ts';

/** A command: its description, and its file, which is loaded on demand, because most commands load much of the system. */
type ListedCommand = readonly [about: string, load: () => Promise<{ register: Register }>];

export const commands: Readonly<Record<string, ListedCommand>> = {
  up: ['run every role with a demo network on this machine, until Ctrl-C', () => import('./up.ts')],
  serve: ['run roles of a network, until Ctrl-C', () => import('./serve.ts')],
  migrate: ['update the database to this version before its first start', () => import('./migrate.ts')],
  status: ['show roles, problems, index, deliveries and crawl on one screen', () => import('./status.ts')],
  check: ['compare catalog service, subscriptions, index and published files', () => import('./check.ts')],
  backup: [
    'copy database, keys and published files into a directory while the roles run',
    () => import('./backup.ts'),
  ],
  restore: [
    'restore a backup into an empty database and directory, and notify other services',
    () => import('./backup.ts'),
  ],
  keys: ['create, show, list and rotate signing keys', () => import('./keys.ts')],
  registry: ['manage participants of the local registry', () => import('./registry.ts')],
  send: ['sign a JSON file as an identity, send it, and show the answer', () => import('./send.ts')],
  listen: ['receive, verify, print and acknowledge callbacks and pushes', () => import('./listen.ts')],
  debug: ['explain why a signature fails', () => import('./debug.ts')],
  publish: ['publish catalogs as signed files, or to a catalog service', () => import('./publish.ts')],
  retire: ['end published catalogs permanently', () => import('./catalog-state.ts')],
  pause: ['hide published catalogs temporarily', () => import('./catalog-state.ts')],
  resume: ['make paused catalogs visible again', () => import('./catalog-state.ts')],
  refresh: [
    'sign index, manifest and Subscriber record again before their nextUpdate',
    () => import('./refresh.ts'),
  ],
  discover: ['search a discovery service as an app', () => import('./discover.ts')],
  mcp: ['let AI assistants search the network: a Model Context Protocol server', () => import('./mcp.ts')],
  catalog: [
    'show catalogs of the local catalog service, and release their ids',
    () => import('./catalog.ts'),
  ],
  deliveries: ['list, replay or skip callbacks and pushes', () => import('./deliveries.ts')],
  operators: ['create, list and revoke tokens for the console and its API', () => import('./operators.ts')],
  schema: ['list domain schemas, and check files against them', () => import('./schema.ts')],
  import: ['convert a list of charging stations to EV charger catalogs', () => import('./import.ts')],
  sync: ['keep published catalogs in sync with a source of charging stations', () => import('./sync.ts')],
  export: ['write published catalogs in the format of another standard', () => import('./export.ts')],
  verify: [
    'verify published files as a crawler does: signatures, digests, versions',
    () => import('./verify.ts'),
  ],
  conform: [
    'check a catalog service, discovery service or published tree against the specification',
    () => import('./conform.ts'),
  ],
  crawl: ['show the state and log of the crawler, or crawl a node now', () => import('./crawl.ts')],
  doctor: ['explain why catalogs of a node do not appear in discovery', () => import('./doctor.ts')],
  index: [
    'show, rebuild or check the search index of the discovery service',
    () => import('./search-index.ts'),
  ],
  config: ['check the settings of this machine, or list all settings', () => import('./config.ts')],
  completion: [
    'print a completion script for bash, zsh or fish',
    async () => ({ register: (await import('./completion.ts')).completionOf(buildWholeProgram) }),
  ],
};

/** The program with the command that the arguments name. All other commands have only names and descriptions. */
export async function buildProgram(context: CommandContext, args: readonly string[]) {
  const [first, second] = args;
  const wanted = (first === 'help' ? second : first) ?? '';
  const program = createProgram(context);
  // Started by a supervisor, never by a user.
  if (wanted === 'worker') await register(program, () => import('./worker.ts'), context);
  const [, load] = (Object.hasOwn(commands, wanted) && commands[wanted]) || [];
  if (load) await register(program, load, context);
  for (const [name, [about]] of Object.entries(commands))
    if (!has(program, name)) program.command(name).description(about);
  return program;
}

/** The program with all commands and their options, which loads slowly. */
export async function buildWholeProgram(context: CommandContext) {
  const program = createProgram(context);
  for (const [name, [, load]] of Object.entries(commands))
    if (!has(program, name)) await register(program, load, context);
  return program;
}

/** Some files have several commands. */
function has(program: Command, name: string) {
  return program.commands.some((command) => command.name() === name);
}

async function register(program: Command, load: ListedCommand[1], context: CommandContext) {
  (await load()).register(program, context);
  for (const command of program.commands) {
    const [about] = commands[command.name()] ?? [];
    if (about) command.description(about);
    offerJson(command, context);
    pointToHelp(command);
  }
}

/** Adds --json to every command, except those that always print JSON or a script. A command that defines the option describes its output. */
export function offerJson(command: Command, context: CommandContext): void {
  for (const sub of command.commands) offerJson(sub, context);
  if (command.commands.length > 0) return;
  command.hook('preAction', () => {
    context.json = command.opts().json === true;
  });
  if (['completion', 'datex', 'worker'].includes(command.name())) return;
  if (!command.options.some(({ long }) => long === '--json')) command.option('--json', 'print JSON');
}

/** After a usage error, points to the help of that command. */
function pointToHelp(command: Command, parents = 'signpost'): void {
  const name = `${parents} ${command.name()}`;
  command.showHelpAfterError(`(${name} --help shows how to use it)`);
  for (const sub of command.commands) pointToHelp(sub, name);
}

function createProgram(context: CommandContext): Command {
  return (
    new Command('signpost')
      .description('Signed catalog distribution and discovery for Beckn 2.0 networks')
      .version(programVersion())
      .showHelpAfterError('(signpost --help lists the commands)')
      .configureOutput({ writeErr: (text) => context.note(text.trimEnd()), getErrHasColors: () => false })
      // Commander removes the colours if the output does not support them.
      .configureHelp({ styleTitle: (title) => styleText('bold', title) })
      .addHelpText('after', help)
  );
}

const help = `
Examples:
  $ signpost up                              every role and a demo network, on this machine
  $ signpost serve --roles catalog           one role, for production
  $ signpost send publish.json --to http://127.0.0.1:4002 --as provider.signpost.test --wait
  $ signpost discover fast charger --near 12.97,77.64 --within 5km

Exit codes: 0 success; 1 failure or wrong usage; 2 partly done (import, sync, export); 130 Ctrl-C.
Every command but completion and export has --json. NO_COLOR switches colours off.
Settings are environment variables: see "signpost config list".`;
