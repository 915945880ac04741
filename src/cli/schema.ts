import type { Command } from 'commander';
import { createAttributeChecker } from '../rules/typed-attributes.ts';
import { type CommandContext, renderTable } from './command.ts';
import { readJsonInput } from './read-input.ts';
import { checkDocument } from './schema/check.ts';
import { readSchemaSources } from './schema/sources.ts';

interface ListOptions {
  json?: boolean;
}

interface CheckOptions extends ListOptions {
  template?: boolean;
}

export function registerSchemaCommand(program: Command, context: CommandContext): void {
  const schema = program.command('schema');
  schema
    .command('list')
    .description('list the types that attributes are checked against')
    .option('--json', 'print JSON')
    .addHelpText('after', listHelp)
    .action((options: ListOptions) => list(options, context));
  schema
    .command('check')
    .description('check a publish body, catalogs or one attributes object; print each fault with its path')
    .argument('<file>', 'JSON file; - reads standard input')
    .option('--template', 'missing members are no fault, as in a MASTER catalog')
    .option('--json', 'print JSON')
    .addHelpText('after', checkHelp)
    .action((file: string, options: CheckOptions) => check(file, options, context));
}

const listHelp = `
Schemas come with the package, from SCHEMA_DIR, and from SCHEMA_HOSTS as far as they were fetched.

Examples:
  $ signpost schema list
  $ SCHEMA_DIR=./my-schemas signpost schema list --json`;

const checkHelp = `
Exit code: 0 when there is no fault, 1 otherwise.

Examples:
  $ signpost schema check publish.json
  $ jq .message.catalogs[0] publish.json | signpost schema check -
  $ signpost schema check --template master-attributes.json`;

async function list({ json }: ListOptions, context: CommandContext): Promise<void> {
  const sources = await readSchemaSources(context.config());
  const { types, problems } = createAttributeChecker({ schemas: sources.flatMap(({ schemas }) => schemas) });
  const sourceOf = (address: string) =>
    sources.findLast(({ schemas }) => schemas.some((schema) => schema.address === address))?.name ?? '';
  const rows = types.map(({ type, address }) => ({ type, address, from: sourceOf(address) }));
  if (json) context.print(JSON.stringify({ types: rows, problems }, null, 2));
  else
    context.print(
      renderTable(
        ['TYPE', 'ADDRESS', 'FROM'],
        rows.map(({ type, address, from }) => [type, address, from]),
      ),
    );
  for (const { type, address, reason } of problems)
    context.note(`${type} of ${address} cannot be used: ${reason}`);
}

async function check(
  file: string,
  { template = false, json }: CheckOptions,
  context: CommandContext,
): Promise<void> {
  const config = context.config();
  const sources = await readSchemaSources(config);
  const unknown = new Set<string>();
  const checker = createAttributeChecker({
    schemas: sources.flatMap(({ schemas }) => schemas),
    unknownContext: config.UNKNOWN_CONTEXT,
    onUnknownContext: (name) => unknown.add(name),
  });
  const { subject, faults } = checkDocument(await readJsonInput(file, context), {
    checker,
    isTemplate: template,
  });
  if (faults.length > 0) context.setExitCode(1);
  if (json) {
    context.print(JSON.stringify({ subject, faults, unknownContexts: [...unknown] }, null, 2));
    return;
  }
  for (const { code, message, details } of faults)
    context.print(`${details?.path ?? '$'}  ${code}  ${message}`);
  if (faults.length === 0) context.print(`${subject}: no fault`);
  else context.note(`${subject}: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`);
  for (const name of unknown) context.note(`not checked, because no schema is known: ${name}`);
}
