import type { Cells } from './connectors.ts';
import type { Field, Mapping, StationMember } from './mapping.ts';
import { type FieldResult, readField } from './read-field.ts';
import type { Problem } from './station.ts';

export interface Row {
  /** Where it stands in the file: `row 17`. */
  at: string;
  cells: Cells;
  /** Where the file has geometries of its own. */
  geometry?: unknown;
}

/** Reads the fields of one row, for one of its connectors where they are about one, and takes down what cannot be read. */
export interface RowReader {
  read(field: Field): FieldResult;
  value(member: StationMember): unknown;
  text(member: StationMember): string | undefined;
  /** A field without which there is no station or charger. */
  needed(field: Field): string | undefined;
  report(why: string, more?: Partial<Problem>): void;
}

export function createRowReader(
  row: Row,
  mapping: Mapping,
  problems: Problem[],
  connector: Cells = new Map(),
): RowReader {
  const { decimalComma = false, nothing = [] } = mapping.file;
  const isNothing = new Set(nothing);

  function cellOf(column: string): string {
    const cell = column.startsWith(connectorPrefix)
      ? connector.get(column.slice(connectorPrefix.length))
      : row.cells.get(column);
    const text = cell?.trim() ?? '';
    return isNothing.has(text) ? '' : text;
  }
  function report(why: string, more: Partial<Problem> = {}): void {
    problems.push({ at: row.at, why, kind: 'value', ...more });
  }
  function read(field: Field): FieldResult {
    const result = readField(field, { cellOf, decimalComma });
    if (result.kind === 'problem') report(result.why, { column: result.column, value: result.text });
    return result;
  }
  function value(member: StationMember): unknown {
    const field = mapping.station[member];
    const result = field && read(field);
    return result?.kind === 'value' ? result.value : undefined;
  }
  return {
    read,
    report,
    value,
    text(member) {
      const found = value(member);
      return found === undefined ? undefined : String(found);
    },
    needed(field) {
      const result = read(field);
      if (result.kind === 'value') return String(result.value);
      const columns = field.templates.flatMap((template) => template.columns);
      report(`leaves ${field.name} empty`, { column: columns.join(' + ') || undefined, kind: 'left-out' });
      return undefined;
    },
  };
}

const connectorPrefix = 'connector.';
