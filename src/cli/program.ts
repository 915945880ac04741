import { styleText } from 'node:util';
import { Command } from 'commander';
import { programVersion } from '../program-version.ts';
import type { CommandContext, Register } from './command.ts';

/** One or several commands of a file, which is loaded when one of them is wanted: most of them load a good part of the system. */
interface CommandFile {
  commands: Readonly<Record<string, string>>;
  load(): Promise<{ register: Register }>;
}

const file = (load: CommandFile['load'], commands: CommandFile['commands']): CommandFile => ({
  load,
  commands,
});

export const commandFiles: readonly CommandFile[] = [
  file(() => import('./up.ts'), { up: 'run every role with a demo network on this machine, until Ctrl-C' }),
  file(() => import('./serve.ts'), { serve: 'run roles of a network, until Ctrl-C' }),
  file(() => import('./migrate.ts'), {
    migrate: 'update the database to this version before its first start',
  }),
  file(() => import('./status.ts'), {
    status: 'show roles, problems, index, deliveries and crawl on one screen',
  }),
  file(() => import('./check.ts'), {
    check: 'compare catalog service, subscriptions, index and published files',
  }),
  file(() => import('./backup.ts'), {
    backup: 'copy database, keys and published files into a directory while the roles run',
    restore: 'restore a backup into an empty database and directory, and notify other services',
  }),
  file(() => import('./keys.ts'), { keys: 'create, show, list and rotate signing keys' }),
  file(() => import('./registry.ts'), { registry: 'manage participants of the local registry' }),
  file(() => import('./send.ts'), { send: 'sign a JSON file as an identity, send it, and show the answer' }),
  file(() => import('./listen.ts'), {
    listen: 'receive, verify, print and acknowledge callbacks and pushes',
  }),
  file(() => import('./debug.ts'), { debug: 'explain why a signature fails' }),
  file(() => import('./publish.ts'), {
    publish: 'publish catalogs as signed files, or to a catalog service',
  }),
  file(() => import('./catalog-state.ts'), {
    retire: 'end published catalogs for ever',
    pause: 'hide published catalogs for now',
    resume: 'show paused catalogs again',
  }),
  file(() => import('./refresh.ts'), {
    refresh: 'renew index, manifest and Subscriber record before their announced update',
  }),
  file(() => import('./discover.ts'), { discover: 'search a discovery service as an app' }),
  file(() => import('./mcp.ts'), {
    mcp: 'let an assistant search the network: a Model Context Protocol server',
  }),
  file(() => import('./catalog.ts'), {
    catalog: 'show catalogs of the local catalog service, and release their ids',
  }),
  file(() => import('./deliveries.ts'), { deliveries: 'list, replay or skip callbacks and pushes' }),
  file(() => import('./operators.ts'), {
    operators: 'create, list and revoke tokens for the console and its API',
  }),
  file(() => import('./schema.ts'), { schema: 'list domain schemas, and check files against them' }),
  file(async () => ({ register: (await import('./import.ts')).registerImportCommand }), {
    import: 'convert a list of charging stations to EV charger catalogs',
  }),
  file(async () => ({ register: (await import('./sync.ts')).registerSyncCommand }), {
    sync: 'keep what is published equal to a source of charging stations',
  }),
  file(() => import('./export.ts'), { export: 'write what is published in the form of another standard' }),
  file(() => import('./verify.ts'), {
    verify: 'verify published files as a crawler does: signatures, digests, versions',
  }),
  file(() => import('./conform.ts'), {
    conform: 'check a catalog service, discovery service or published tree against the specification',
  }),
  file(() => import('./crawl.ts'), { crawl: 'show the state and log of the crawler, or crawl a node now' }),
  file(() => import('./doctor.ts'), {
    doctor: 'explain why catalogs of a node do not appear in discovery',
  }),
  file(() => import('./search-index.ts'), {
    index: 'show, rebuild or check the search index of the discovery service',
  }),
  file(() => import('./config.ts'), { config: 'check the settings of this machine, or list all settings' }),
  file(async () => ({ register: (await import('./completion.ts')).completionOf(buildWholeProgram) }), {
    completion: 'print a completion script for bash, zsh or fish',
  }),
];

/** Started by a supervisor, never by a person. */
const hiddenFiles: readonly CommandFile[] = [file(() => import('./worker.ts'), { worker: '' })];

/** The program with the command that the arguments after `signpost` name; of all others, only names and descriptions are there. */
export async function buildProgram(context: CommandContext, args: readonly string[]): Promise<Command> {
  const [first, second] = args;
  const wanted = first === 'help' ? second : first;
  const program = createProgram(context);
  for (const file of [...commandFiles, ...hiddenFiles]) {
    if (wanted !== undefined && Object.hasOwn(file.commands, wanted)) await register(program, file, context);
    else if (!hiddenFiles.includes(file))
      for (const [name, about] of Object.entries(file.commands)) program.command(name).description(about);
  }
  return program;
}

/** The program with every command, whatever that takes: for what has to know all options. */
export async function buildWholeProgram(context: CommandContext): Promise<Command> {
  const program = createProgram(context);
  for (const file of commandFiles) await register(program, file, context);
  return program;
}

async function register(program: Command, { commands, load }: CommandFile, context: CommandContext) {
  (await load()).register(program, context);
  for (const [name, about] of Object.entries(commands)) {
    const command = program.commands.find((one) => one.name() === name);
    if (!command) throw new Error(`no file has the command ${name}`);
    if (about) command.description(about);
    offerJson(command);
    pointToHelp(command);
  }
}

/** Every command can print JSON, except those that print a script or JSON anyway. A command that defines the option itself says what it prints. */
export function offerJson(command: Command): void {
  for (const sub of command.commands) offerJson(sub);
  if (command.commands.length > 0 || ['completion', 'datex', 'worker'].includes(command.name())) return;
  if (!command.options.some(({ long }) => long === '--json')) command.option('--json', 'print JSON');
}

/** Who calls a command in a wrong way is told where its own options stand. */
function pointToHelp(command: Command, parents = 'signpost'): void {
  const name = `${parents} ${command.name()}`;
  command.showHelpAfterError(`(${name} --help says how it is called)`);
  for (const sub of command.commands) pointToHelp(sub, name);
}

function createProgram(context: CommandContext): Command {
  return (
    new Command('signpost')
      .description('Signed catalog distribution and discovery for Beckn 2.0 networks')
      .version(programVersion())
      .showHelpAfterError('(signpost --help lists the commands)')
      .configureOutput({ writeErr: (text) => context.note(text.trimEnd()), getErrHasColors: () => false })
      // Commander takes the colours out again where there are none.
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
