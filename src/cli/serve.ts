import type { Command } from 'commander';
import { roles } from '../config.ts';
import type { CommandContext } from './command.ts';
import { runProcess } from './run-process.ts';

export function registerServeCommand(program: Command, context: CommandContext): void {
  program
    .command('serve')
    .description('run roles of a network, until Ctrl-C')
    .option('--roles <list>', `comma-separated: ${roles.join(', ')}, or all (default: ROLES)`)
    .addHelpText(
      'after',
      `
Any number of processes may run the same role against one PostgreSQL (DATABASE_URL).

Examples:
  $ DATABASE_URL=postgres://… REGISTRY_URL=https://registry.example/dedi signpost serve --roles catalog
  $ ROLES=registry signpost serve`,
    )
    .action(({ roles: chosen }: { roles?: string }) =>
      runProcess(context, context.config(chosen === undefined ? {} : { ROLES: chosen })),
    );
}
