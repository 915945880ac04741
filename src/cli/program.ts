import { Command } from 'commander';
import { programVersion } from '../program-version.ts';
import { registerCatalogCommand } from './catalog.ts';
import { registerStateCommands } from './catalog-state.ts';
import type { CommandContext } from './command.ts';
import { registerCrawlCommand } from './crawl.ts';
import { registerDeliveriesCommand } from './deliveries.ts';
import { registerDiscoverCommand } from './discover.ts';
import { registerDoctorCommand } from './doctor.ts';
import { registerImportCommand } from './import.ts';
import { registerKeysCommand } from './keys.ts';
import { registerPublishCommand } from './publish.ts';
import { registerRefreshCommand } from './refresh.ts';
import { registerRegistryCommand } from './registry.ts';
import { registerSchemaCommand } from './schema.ts';
import { registerIndexCommand } from './search-index.ts';
import { registerSendCommand } from './send.ts';
import { registerServeCommand } from './serve.ts';
import { registerUpCommand } from './up.ts';
import { registerVerifyCommand } from './verify.ts';
import { registerWorkerCommand } from './worker.ts';

/** All commands, each of which lives in a file of its own. */
export function buildProgram(context: CommandContext): Command {
  const program = new Command('signpost')
    .description('Signed catalog distribution and discovery for Beckn 2.0 networks')
    .version(programVersion())
    .showHelpAfterError('(signpost --help lists the commands)')
    .configureOutput({ writeErr: (text) => context.note(text.trimEnd()) })
    .addHelpText(
      'after',
      `
Examples:
  $ signpost up                              every role and a demo network, on this machine
  $ signpost serve --roles catalog           one role, for production
  $ signpost send publish.json --to http://127.0.0.1:4002 --as provider.signpost.test --wait
  $ signpost discover fast charger --near 12.97,77.64 --within 5km

Settings are environment variables; .env.example lists them all.`,
    );
  registerUpCommand(program, context);
  registerServeCommand(program, context);
  registerKeysCommand(program, context);
  registerRegistryCommand(program, context);
  registerSendCommand(program, context);
  registerPublishCommand(program, context);
  registerStateCommands(program, context);
  registerRefreshCommand(program, context);
  registerDiscoverCommand(program, context);
  registerCatalogCommand(program, context);
  registerDeliveriesCommand(program, context);
  registerSchemaCommand(program, context);
  registerImportCommand(program, context);
  registerVerifyCommand(program, context);
  registerCrawlCommand(program, context);
  registerDoctorCommand(program, context);
  registerIndexCommand(program, context);
  registerWorkerCommand(program, context);
  return program;
}
