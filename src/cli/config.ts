import { settings } from '../setting-table.ts';
import { type Kind, secretFile } from '../settings.ts';
import { type CommandContext, printResult, type Register, renderTable } from './command.ts';
import { checkSettings } from './config/check.ts';

export const register: Register = (program, context) => {
  const config = program.command('config');
  config
    .command('check')
    .description('report settings that are wrong, unknown or dangerous')
    .addHelpText('after', checkHelp)
    .action(() => check(context));

  config
    .command('list')
    .description(
      'every setting with its default and meaning, and which of them are set here; no values are shown',
    )
    .action(() => list(context));
};

const checkHelp = `
Settings come from the environment and from .env in this folder. In .env, every unknown name is reported; in the environment, only names that look
like a misspelt setting.

Exit codes: 0 nothing to report; 1 otherwise.

Examples:
  $ signpost config check
  $ CATALOG_URL=https://catalog.example.org signpost config check --json`;

function check(context: CommandContext): void {
  const findings = checkSettings(context.givenSettings(), () => context.config());
  const rows = findings.map(({ kind, setting, message }) => [
    ...[kind === 'wrong' ? 'FAULT' : 'warn', setting, message],
  ]);
  const nothing = 'The settings are valid, and nothing about them is unusual.';
  const text = rows.length === 0 ? nothing : renderTable(['', 'SETTING', 'WHAT'], rows);
  printResult(context, { findings }, text);
  if (findings.length > 0) context.setExitCode(1);
}

function list(context: CommandContext): void {
  const rows = Object.entries(settings).map(([name, kind]) => {
    const { fallback, about, unit, secret }: Kind<unknown> = kind;
    const isSet = context.isSet(name) || (secret === true && context.isSet(secretFile(name)));
    return { name, isSet, default: fallback, ...(unit && { unit }), about };
  });
  const cells = rows.map((row) => [row.name, row.isSet ? 'yes' : '', row.default, row.about]);
  printResult(context, rows, renderTable(['SETTING', 'SET', 'DEFAULT', 'MEANING'], cells));
}
