import { isSigningRole } from '../config.ts';
import { roles } from '../setting-table.ts';
import { workersHelp } from './arguments.ts';
import { type CommandContext, CommandError, type Register } from './command.ts';

export const register: Register = (program, context) =>
  program
    .command('serve')
    .option('--roles <list>', `comma-separated: ${roles.join(', ')}, or all (default: ROLES)`)
    .option('--workers <number>', workersHelp)
    .option('--json', 'print the addresses as one JSON object when everything is up')
    .addHelpText(
      'after',
      `
Any number of processes may run the same role against one PostgreSQL (DATABASE_URL); while it is down, they wait for it.
Each role that signs needs its id: CATALOG_ID, DISCOVERY_ID, PUBLISHER_ID. The log and /ready report
a key that the registry does not know. /health, /ready, /metrics and /docs are at OPERATIONS_HOST and OPERATIONS_PORT (${operationsPort}).

Examples:
  $ DATABASE_URL=postgres://… REGISTRY_URL=https://registry.example/dedi CATALOG_ID=catalog.example.org signpost serve --roles catalog
  $ PUBLISHER_ID=bpp.example.org PUBLISHER_URL=https://bpp.example.org signpost serve --roles publisher
  $ EMBEDDED_DATABASE=true ROLES=registry signpost serve`,
    )
    .action(async (options: ServeOptions) => {
      const { runProcess } = await import('./run-process.ts');
      await runProcess(context, await serveConfig(context, options), { showPublic: true });
    });

interface ServeOptions {
  roles?: string;
  workers?: string;
}

const operationsPort = 4006;

/** In a network, the defaults of one machine do not apply: the operator must set identities and the place of the data. */
async function serveConfig(context: CommandContext, { roles: chosen, workers }: ServeOptions) {
  const { keepsData } = await import('../main.ts');
  const config = context.config({
    ...(chosen !== undefined && { ROLES: chosen }),
    ...(workers !== undefined && { WORKERS: workers }),
    ...(!context.isSet('OPERATIONS_PORT') && { OPERATIONS_PORT: String(operationsPort) }),
  });
  const missing = config.roles
    .filter(isSigningRole)
    .map((role) => `${role.toUpperCase()}_ID`)
    .filter((name) => !context.isSet(name));
  if (missing.length > 0)
    throw new CommandError(
      `Set ${missing.join(' and ')}: "serve" must know under which subscriberId the registry has ${missing.length > 1 ? 'each of these roles' : 'this role'}.`,
    );
  if (config.DATABASE_URL === undefined && !config.EMBEDDED_DATABASE && config.roles.some(keepsData))
    throw new CommandError(
      'Set DATABASE_URL to a PostgreSQL, such as postgres://user:password@host:5432/database, or EMBEDDED_DATABASE=true to try things out on the one that comes with Signpost (a beta build, not for production).',
    );
  return config;
}
