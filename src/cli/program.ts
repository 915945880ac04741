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
    commands: { migrate: 'bring the database to the tables of this version, before its first start' },
    load: async () => (await import('./migrate.ts')).registerMigrateCommand,
  },
  {
    commands: { status: 'one screen: roles, index, deliveries, crawl' },
    load: async () => (await import('./status.ts')).registerStatusCommand,
  },
  {
    commands: {
      check: 'compare catalog service, subscriptions, index and published files, and name every difference',
    },
    load: async () => (await import('./check.ts')).registerCheckCommand,
  },
  {
    commands: {
      backup: 'copy database, keys and published files into a directory, while all goes on',
      restore: 'put a backup into an empty database and directory, and have others told what is in it',
    },
    load: async () => (await import('./backup.ts')).registerBackupCommands,
  },
  {
    commands: { keys: 'make, show and list signing keys, and change to a new one' },
    load: async () => (await import('./keys.ts')).registerKeysCommand,
  },
  {
    commands: { registry: 'register, list and revoke participants of our own registry' },
    load: async () => (await import('./registry.ts')).registerRegistryCommand,
  },
  {
    commands: { send: 'sign a JSON file as an identity, send it, and show the answer' },
    load: async () => (await import('./send.ts')).registerSendCommand,
  },
  {
    commands: { listen: 'receive callbacks and pushes: verify them, print them, acknowledge them' },
    load: async () => (await import('./listen.ts')).registerListenCommand,
  },
  {
    commands: { debug: 'find out why a signature does not hold' },
    load: async () => (await import('./debug.ts')).registerDebugCommand,
  },
  {
    commands: { publish: 'publish catalogs: as signed files of our own, or to a catalog service' },
    load: async () => (await import('./publish.ts')).registerPublishCommand,
  },
  {
    commands: {
      retire: 'say that published catalogs are no longer offered; this is for ever',
      pause: 'say that published catalogs are not to be had for now',
      resume: 'say that paused catalogs are to be had again',
    },
    load: async () => (await import('./catalog-state.ts')).registerStateCommands,
  },
  {
    commands: {
      refresh: 'renew index, manifest and Subscriber record, before the update that they announce',
    },
    load: async () => (await import('./refresh.ts')).registerRefreshCommand,
  },
  {
    commands: { discover: 'find resources as a consumer does, and show what a discovery service answers' },
    load: async () => (await import('./discover.ts')).registerDiscoverCommand,
  },
  {
    commands: { mcp: 'let an assistant search the network: a Model Context Protocol server' },
    load: async () => (await import('./mcp.ts')).registerMcpCommand,
  },
  {
    commands: { catalog: 'catalogs of the own catalog service' },
    load: async () => (await import('./catalog.ts')).registerCatalogCommand,
  },
  {
    commands: { deliveries: 'callbacks and pushes: what was delivered, what waits, what is parked' },
    load: async () => (await import('./deliveries.ts')).registerDeliveriesCommand,
  },
  {
    commands: { schema: 'look at domain schemas, and check files against them' },
    load: async () => (await import('./schema.ts')).registerSchemaCommand,
  },
  {
    commands: { import: 'turn a list of charging stations into EV charger catalogs, ready to publish' },
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
    commands: { verify: 'verify published catalogs as a crawler would: every signature, digest and version' },
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
      crawl: 'self-hosted catalogs: how the crawl stands, what it did not take, a look at a node now',
    },
    load: async () => (await import('./crawl.ts')).registerCrawlCommand,
  },
  {
    commands: { doctor: 'find out why catalogs of a node do not appear in discovery' },
    load: async () => (await import('./doctor.ts')).registerDoctorCommand,
  },
  {
    commands: {
      index:
        'the index of the discovery service: its version, a rebuild by hand, a check against the documents',
    },
    load: async () => (await import('./search-index.ts')).registerIndexCommand,
  },
  {
    commands: { config: 'check the settings of this machine, and list all that there are' },
    load: async () => (await import('./config.ts')).registerConfigCommand,
  },
  {
    commands: { completion: 'print a script that has bash, zsh or fish complete commands and options' },
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

Exit codes: 0 it was done; 1 it was refused, failed, or was called in a wrong way; 2 only a part was done (import); 130 interrupted by Ctrl-C.
Every command but completion takes --json, for programs. On a terminal, what it prints is coloured, unless NO_COLOR is set.
Settings are environment variables; .env.example lists them all.`;
