import { join } from 'node:path';
import { isConnectorColumn } from '../../import/connectors.ts';
import { type Mapping, MappingFault, parseMapping } from '../../import/mapping.ts';
import type { Problem } from '../../import/station.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import { parseJson } from '../../protocol/json.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { readInput } from '../read-input.ts';
import { bundledMappings, listBundledMappings } from './bundled.ts';

export async function readMapping(name: string, context: CommandContext): Promise<Mapping> {
  const file = listBundledMappings().includes(name) ? join(bundledMappings, `${name}.yaml`) : name;
  const bytes = await readInput(file, context);
  try {
    if (file.endsWith('.json')) return parseMapping(parseJson(bytes));
    // Loads YAML for the first mapping that needs it.
    const { parse } = await import('yaml');
    return parseMapping(parse(bytes.toString('utf8')));
  } catch (error) {
    if (error instanceof MappingFault)
      throw new CommandError(`The mapping ${name} cannot be used:\n${error.message}`, error);
    // A ReferenceError comes from an unknown alias, or from an excessive number of aliases.
    const isUnreadable =
      error instanceof ProtocolError ||
      (error instanceof Error && ['YAMLParseError', 'ReferenceError'].includes(error.name));
    if (isUnreadable) throw new CommandError(`The mapping ${name} cannot be read: ${error.message}`, error);
    throw error;
  }
}

/** Reports columns that only the mapping or only the list has, each once. This reveals spelling mistakes in either. */
export function compareColumns(mapping: Mapping, columns: readonly string[]): Problem[] {
  const { connectors, ignore } = mapping;
  const isUsed = (column: string) =>
    mapping.columns.has(column) || (connectors !== undefined && isConnectorColumn(column, connectors));
  const unused = columns.filter((column) => !isUsed(column));
  const named = [...mapping.columns, ...(connectors?.json === undefined ? [] : [connectors.json])];
  return [
    ...(ignore === '*'
      ? noteAbout(unused, 'not imported, because the mapping ignores everything that it does not name')
      : noteAbout(
          unused.filter((column) => !ignore.has(column)),
          'not imported, because the mapping does not name them',
        )),
    ...noteAbout(
      named.filter((column) => !isMade(column) && !columns.includes(column)),
      'named by the mapping, but not in the file',
    ),
    ...noteAbout(
      columns.filter((column, index) => isUsed(column) && columns.indexOf(column) < index),
      'repeated: the first that is not empty is used',
    ),
  ];
}

function noteAbout(columns: readonly string[], why: string): Problem[] {
  if (columns.length === 0) return [];
  return [{ at: 'columns', why: `"${[...new Set(columns)].join(', ')}" (${why})`, kind: 'note' }];
}

/** Names that templates may use without a column. */
function isMade(column: string): boolean {
  return column.startsWith('connector.') || column === 'feature.id';
}
