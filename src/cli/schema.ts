import type { Register } from './command.ts';
import type { CheckOptions } from './schema/run.ts';

export const register: Register = (program, context) => {
  const schema = program.command('schema');
  schema
    .command('list')
    .description('list the types that attributes are checked against')
    .addHelpText('after', listHelp)
    .action(async () => (await import('./schema/run.ts')).listTypes(context));
  schema
    .command('check')
    .description('check a publish body, catalogs or one attributes object; print each fault with its path')
    .argument('<file>', 'JSON file; - reads standard input')
    .option('--template', 'allow missing members, as in a MASTER catalog')
    .addHelpText('after', checkHelp)
    .action(async (file: string, options: CheckOptions) =>
      (await import('./schema/run.ts')).checkFile(file, options, context),
    );
};

const listHelp = `
Schemas come from the package, from SCHEMA_DIR, and from SCHEMA_HOSTS if they were fetched.

Examples:
  $ signpost schema list
  $ SCHEMA_DIR=./my-schemas signpost schema list --json`;

const checkHelp = `
Exit codes: 0 no fault; 1 otherwise.

Examples:
  $ signpost schema check publish.json
  $ jq .message.catalogs[0] publish.json | signpost schema check -
  $ signpost schema check --template master-attributes.json`;
