import { isConnectorColumn } from '../../import/connectors.ts';
import { datexFields } from '../../import/datex-fields.ts';
import type { FieldTable } from '../../import/field-table.ts';
import type { Mapping } from '../../import/mapping.ts';
import { objectsOf } from '../../import/ocpi.ts';
import { ocpiFields } from '../../import/ocpi-fields.ts';
import { isJsonObject, type Json } from '../../protocol/json.ts';
import { type CommandContext, CommandError, printResult, reasonOf, renderTable } from '../command.ts';
import { parseJsonInput, readInput } from '../read-input.ts';
import { listBundledMappings } from './bundled.ts';
import { readCsv } from './csv.ts';
import { readMapping } from './mapping.ts';
import { featuresOf, type RowSource, readGeoJson } from './rows.ts';

export interface ExplainOptions {
  mapping?: string;
}

interface Explained {
  field: string;
  filled: number;
  example: string;
  goesTo?: string;
}

export async function explainFile(file: string, { mapping }: ExplainOptions, context: CommandContext) {
  const bytes = await readInput(file, context);
  const { title, fields } = await explain(bytes, file, mapping, context);
  const rows = fields.map(({ field, filled, example, goesTo = '(nowhere)' }) => {
    return [field, `${filled}`, example, goesTo];
  });
  const table = renderTable(['FIELD', 'FILLED', 'EXAMPLE', 'GOES TO'], rows);
  printResult(context, { title, fields }, `${title}\n\n${table}`);
}

async function explain(bytes: Buffer, file: string, mapping: string | undefined, context: CommandContext) {
  const isJson = /^\s*[[{]/.test(bytes.subarray(0, sniffedBytes).toString());
  const document = isJson ? parseJsonInput(file, bytes) : undefined;
  if (isJsonObject(document) && ('payload' in document || 'messageContainer' in document))
    return { title: 'DATEX II', fields: explainObjects([document], datexFields) };
  const isGeoJson = isJsonObject(document) && 'features' in document;
  if (document !== undefined && !isGeoJson) return { title: 'OCPI', fields: explainOcpi(document, file) };
  const open: Open = (known) =>
    isGeoJson ? readGeoJson(featuresOf(document), file) : readCsv(bytes, known.file, file);
  const { name, known } =
    mapping === undefined
      ? await findMapping(open, context)
      : { name: mapping, known: await readMapping(mapping, context) };
  return { title: `Mapping: ${name}`, fields: await explainRows(await open(known), known) };
}

type Open = (known: Mapping) => RowSource | Promise<RowSource>;

async function findMapping(open: Open, context: CommandContext) {
  const found: { name: string; known: Mapping; used: number }[] = [];
  for (const name of listBundledMappings()) {
    const known = await readMapping(name, context);
    const columns = await columnsOf(open, known);
    const used = columns.filter((column) => goesTo(column, known) !== undefined).length;
    if (known.station.id.templates.some((template) => template.columns.every((one) => columns.includes(one))))
      found.push({ name, known, used });
  }
  const [best] = found.sort((one, other) => other.used - one.used);
  if (best) return best;
  throw new CommandError('No bundled mapping fits these columns: name yours by --mapping.');
}

async function columnsOf(open: Open, known: Mapping): Promise<readonly string[]> {
  try {
    return (await open(known)).columns;
  } catch (error) {
    // This mapping cannot read the file.
    if (error instanceof CommandError) return [];
    throw error;
  }
}

async function explainRows({ columns, rows }: RowSource, mapping: Mapping): Promise<Explained[]> {
  const seen = new Map(columns.map((column) => [column, { filled: 0, example: '' }]));
  for await (const row of rows(() => {})) {
    for (const [column, text] of row?.cells ?? []) note(seen, column, text);
  }
  return [...seen].map(([field, found]) => ({ field, ...found, goesTo: goesTo(field, mapping) }));
}

function goesTo(column: string, { connectors, fields, only }: Mapping): string | undefined {
  const uses = fields.filter(({ templates }) => templates.some(({ columns }) => columns.includes(column)));
  const names = [
    ...uses.map(({ name }) => name),
    ...(connectors && isConnectorColumn(column, connectors) ? ['connectors'] : []),
    ...(only.has(column) ? ['only: which rows are imported'] : []),
  ];
  return names.length > 0 ? names.join(', ') : undefined;
}

function explainOcpi(document: Json, file: string): Explained[] {
  try {
    const objects = objectsOf(document).map((object) => {
      const isTariff = isJsonObject(object) && 'elements' in object;
      return isTariff ? { tariffs: object } : object;
    });
    const below = (path: string, name: string) =>
      path === 'evses' && name === 'tariffs' ? name : ocpiFields.below(path, name);
    return explainObjects(objects, { ...ocpiFields, below });
  } catch (error) {
    throw new CommandError(`${file} cannot be explained: ${reasonOf(error)}.`, error);
  }
}

function explainObjects(objects: readonly Json[], { destinations, below }: FieldTable): Explained[] {
  const seen = new Map<string, { filled: number; example: string }>();
  const visit = (value: Json, path: string): void => {
    if (value === null || value === '') return;
    if (Array.isArray(value)) for (const item of value) visit(item, path);
    else if (isJsonObject(value) && !destinations.has(path)) {
      for (const [name, member] of Object.entries(value)) visit(member, below(path, name));
    } else note(seen, path, isJsonObject(value) ? JSON.stringify(value) : String(value));
  };
  for (const object of objects) visit(object, '');
  return [...seen].map(([field, found]) => ({ field, ...found, goesTo: destinations.get(field) }));
}

function note(seen: Map<string, { filled: number; example: string }>, field: string, text: string): void {
  const { filled = 0, example = text.slice(0, shownCharacters) } = seen.get(field) ?? {};
  seen.set(field, { filled: filled + 1, example: example === '' ? text.slice(0, shownCharacters) : example });
}

const shownCharacters = 30;
/** Enough to recognise the format of a file. */
const sniffedBytes = 64;
