import { styleText } from 'node:util';
import { Command } from 'commander';
import { programVersion } from '../program-version.ts';
import type { CommandContext } from './command.ts';

type Register = (program: Command, context: CommandContext) => void;

/** One or several commands of a file, which is loaded when one of them is wanted: most of them load a good part of the system. */
interface CommandFile {
  /** Every command of the file by its name, with what the list of commands says of it. */
  commands: Readonly<Record<string, string>>;
  load(): Promise<Register>;
}

/** All commands in the order in which they are listed. */
export const commandFiles: readonly CommandFile[] = [
  {
    commands: { up: 'run every role with a demo network on this machine, until Ctrl-C' },
    load: async () => (await import('./up.ts')).registerUpCommand,
  },
  {
    commands: { serve: 'run roles of a network, until Ctrl-C' },
    load: async () => (await import('./serve.ts')).registerServeCommand,
  },
  {
    commands: { migrate: 'update the database to this version before its first start' },
    load: async () => (await import('./migrate.ts')).registerMigrateCommand,
  },
  {
    commands: { status: 'show roles, problems, index, deliveries and crawl on one screen' },
    load: async () => (await import('./status.ts')).registerStatusCommand,
  },
  {
    commands: {
      check: 'compare catalog service, subscriptions, index and published files',
    },
    load: async () => (await import('./check.ts')).registerCheckCommand,
  },
  {
    commands: {
      backup: 'copy database, keys and published files into a directory while the roles run',
      restore: 'restore a backup into an empty database and directory, and notify other services',
    },
    load: async () => (await import('./backup.ts')).registerBackupCommands,
  },
  {
    commands: { keys: 'create, show, list and rotate signing keys' },
    load: async () => (await import('./keys.ts')).registerKeysCommand,
  },
  {
    commands: { registry: 'manage participants of the local registry' },
    load: async () => (await import('./registry.ts')).registerRegistryCommand,
  },
  {
    commands: { send: 'sign a JSON file as an identity, send it, and show the answer' },
    load: async () => (await import('./send.ts')).registerSendCommand,
  },
  {
    commands: { listen: 'receive, verify, print and acknowledge callbacks and pushes' },
    load: async () => (await import('./listen.ts')).registerListenCommand,
  },
  {
    commands: { debug: 'explain why a signature fails' },
    load: async () => (await import('./debug.ts')).registerDebugCommand,
  },
  {
    commands: { publish: 'publish catalogs as signed files, or to a catalog service' },
    load: async () => (await import('./publish.ts')).registerPublishCommand,
  },
  {
    commands: {
      retire: 'end published catalogs for ever',
      pause: 'hide published catalogs for now',
      resume: 'show paused catalogs again',
    },
    load: async () => (await import('./catalog-state.ts')).registerStateCommands,
  },
  {
    commands: {
      refresh: 'renew index, manifest and Subscriber record before their announced update',
    },
    load: async () => (await import('./refresh.ts')).registerRefreshCommand,
  },
  {
    commands: { discover: 'search a discovery service as an app' },
    load: async () => (await import('./discover.ts')).registerDiscoverCommand,
  },
  {
    commands: { mcp: 'let an assistant search the network: a Model Context Protocol server' },
    load: async () => (await import('./mcp.ts')).registerMcpCommand,
  },
  {
    commands: { catalog: 'show catalogs of the local catalog service, and release their ids' },
    load: async () => (await import('./catalog.ts')).registerCatalogCommand,
  },
  {
    commands: { deliveries: 'list, replay or skip callbacks and pushes' },
    load: async () => (await import('./deliveries.ts')).registerDeliveriesCommand,
  },
  {
    commands: { operators: 'create, list and revoke tokens for the console and its API' },
    load: async () => (await import('./operators.ts')).registerOperatorsCommand,
  },
  {
    commands: { schema: 'list domain schemas, and check files against them' },
    load: async () => (await import('./schema.ts')).registerSchemaCommand,
  },
  {
    commands: { import: 'convert a list of charging stations to EV charger catalogs' },
    load: async () => (await import('./import.ts')).registerImportCommand,
  },
  {
    commands: { sync: 'keep what is published equal to a source of charging stations' },
    load: async () => (await import('./sync.ts')).registerSyncCommand,
  },
  {
    commands: { export: 'write what is published in the form of another standard' },
    load: async () => (await import('./export.ts')).registerExportCommand,
  },
  {
    commands: { verify: 'verify published files as a crawler does: signatures, digests, versions' },
    load: async () => (await import('./verify.ts')).registerVerifyCommand,
  },
  {
    commands: {
      conform: 'check a catalog service, discovery service or published tree against the specification',
    },
    load: async () => (await import('./conform.ts')).registerConformCommand,
  },
  {
    commands: {
      crawl: 'show the state and log of the crawler, or crawl a node now',
    },
    load: async () => (await import('./crawl.ts')).registerCrawlCommand,
  },
  {
    commands: { doctor: 'explain why catalogs of a node do not appear in discovery' },
    load: async () => (await import('./doctor.ts')).registerDoctorCommand,
  },
  {
    commands: {
      index: 'show, rebuild or check the search index of the discovery service',
    },
    load: async () => (await import('./search-index.ts')).registerIndexCommand,
  },
  {
    commands: { config: 'check the settings of this machine, or list all settings' },
    load: async () => (await import('./config.ts')).registerConfigCommand,
  },
  {
    commands: { completion: 'print a completion script for bash, zsh or fish' },
    load: async () => {
      const { registerCompletionCommand } = await import('./completion.ts');
      return (program, context) => registerCompletionCommand(program, context, buildWholeProgram);
    },
  },
];

/** Started by a supervisor, never by a person. */
const hiddenFiles: readonly CommandFile[] = [
  { commands: { worker: '' }, load: async () => (await import('./worker.ts')).registerWorkerCommand },
];

/**
 * The program with the command that the arguments name; of all others, only names and descriptions are there.
 *
 * @param args what was typed after `signpost`
 */
export async function buildProgram(context: CommandContext, args: readonly string[]): Promise<Command> {
  const wanted = findWanted(args);
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

/** `signpost help publish` asks for publish as `signpost publish --help` does. */
function findWanted([first, second]: readonly string[]): string | undefined {
  return first === 'help' ? second : first;
}

async function register(
  program: Command,
  { commands, load }: CommandFile,
  context: CommandContext,
): Promise<void> {
  (await load())(program, context);
  for (const command of program.commands) {
    const about = commands[command.name()];
    if (about) command.description(about);
    pointToHelp(command);
  }
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
