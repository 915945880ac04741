import { type CommandContext, printResult, renderTable } from '../command.ts';
import { readJsonInput } from '../read-input.ts';
import { checkDocument } from './check.ts';
import { createSourceChecker, readSchemaSources } from './sources.ts';

export interface CheckOptions {
  template?: boolean;
}

export async function listTypes(context: CommandContext): Promise<void> {
  const config = context.config();
  const sources = await readSchemaSources(config);
  const { types, problems } = createSourceChecker(sources, config);
  const sourceOf = (address: string) =>
    sources.findLast(({ schemas }) => schemas.some((schema) => schema.address === address))?.name ?? '';
  const rows = types.map(({ type, address }) => ({ type, address, from: sourceOf(address) }));
  const text = renderTable(['TYPE', 'ADDRESS', 'FROM'], rows.map(Object.values));
  printResult(context, { types: rows, problems }, text);
  for (const { type, address, reason } of problems)
    context.note(`${type} of ${address} cannot be used: ${reason}`);
}

export async function checkFile(file: string, { template = false }: CheckOptions, context: CommandContext) {
  const config = context.config();
  const sources = await readSchemaSources(config);
  const unknown = new Set<string>();
  const checker = createSourceChecker(sources, config, (name) => unknown.add(name));
  const document = await readJsonInput(file, context);
  const { subject, faults } = checkDocument(document, { checker, isTemplate: template });
  if (faults.length > 0) context.setExitCode(1);
  if (context.json)
    return context.print(JSON.stringify({ subject, faults, unknownContexts: [...unknown] }, null, 2));
  for (const { code, message, details } of faults)
    context.print(`${details?.path ?? '$'}  ${code}  ${message}`);
  if (faults.length === 0) context.print(`${subject}: no fault`);
  else context.note(`${subject}: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`);
  for (const name of unknown) context.note(`not checked, because no schema is known: ${name}`);
}
