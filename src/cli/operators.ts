import { InvalidArgumentError, Option } from 'commander';
import { audited } from '../console/audited.ts';
import { conflict, notFound } from '../console/errors.ts';
import { firstOperatorName, operatorName } from '../console/operator-token.ts';
import { hashSecret, newToken } from '../secret-file.ts';
import {
  createOperator,
  listOperators,
  type OperatorRole,
  operatorRoles,
  revokeOperator,
} from '../storage/console/operators.ts';
import { type CommandContext, printResult, type Register, renderTable } from './command.ts';
import { act, withDatabase } from './database.ts';

// Users of the console and its API, besides the first operator with the operator token.

export const register: Register = (program, context) => {
  const operators = program.command('operators').addHelpText('after', examples);

  operators
    .command('create')
    .description('create an operator, and print the token; it is not shown again')
    .argument('<name>', 'name in the audit log', parseName)
    .addOption(
      new Option('--role <role>', 'what the operator may do').choices(operatorRoles).makeOptionMandatory(),
    )
    .action((name: string, options: { role: OperatorRole }) => create(context, name, options));

  operators
    .command('list')
    .description('list operators with their roles')
    .action(() => list(context));

  operators
    .command('revoke')
    .description('remove an operator: the token and all sessions stop working at once')
    .argument('<name>', 'as listed')
    .action((name: string) => revoke(context, name));
};

const examples = `
Roles, each with the rights of those before it:
  read      see everything, also on an address that is not loopback
  operate   replay and skip deliveries, crawl now, clear the inbox
  publish   sign and publish catalogs

Examples:
  $ signpost operators create anna --role operate
  $ signpost operators list
  $ signpost operators revoke anna

The token in OPERATOR_TOKEN or DATA_DIR/operator-token belongs to the operator "${firstOperatorName}", who may do everything.
These commands use DATABASE_URL, or the embedded database in DATA_DIR.`;

function parseName(text: string): string {
  if (text === firstOperatorName)
    throw new InvalidArgumentError(`"${firstOperatorName}" is the name of the operator token's owner.`);
  if (operatorName.test(text)) return text;
  throw new InvalidArgumentError('A name has 1 to 64 letters, digits or . _ @ -');
}

async function create(context: CommandContext, name: string, { role }: { role: OperatorRole }) {
  const token = newToken();
  const created = { action: 'operators.create', target: `${name} (${role})` };
  await act(context, `To replace the token: signpost operators revoke ${name}`, (acting) =>
    audited(acting, acting.by, created, async () => {
      if (!(await createOperator(acting.database, { name, role, tokenHash: hashSecret(token) })))
        throw conflict(`An operator ${name} already exists.`);
    }),
  );
  const text = `token (keep it secret; it is not shown again)  ${token}\n${name} signs in at the console with it, or sends it as "Authorization: Bearer …".`;
  printResult(context, { name, role, token }, text);
}

async function list(context: CommandContext): Promise<void> {
  const operators = await withDatabase(context, (database) => listOperators(database));
  const rows = operators.map(({ name, role, createdAt }) => [name, role, createdAt.toISOString()]);
  const none = 'There are no operators except the one with the operator token.';
  const text = rows.length > 0 ? renderTable(['NAME', 'ROLE', 'CREATED'], rows) : none;
  printResult(context, { operators }, text);
}

async function revoke(context: CommandContext, name: string): Promise<void> {
  await act(context, 'To list them: signpost operators list', (acting) =>
    audited(acting, acting.by, { action: 'operators.revoke', target: name }, async () => {
      if (!(await revokeOperator(acting.database, name))) throw notFound(`There is no operator ${name}.`);
    }),
  );
  printResult(context, { name }, `The token and the sessions of ${name} no longer work.`);
}
