import { type Power, readDateTime, readNumber, readPower } from './cell-values.ts';
import type { Cells } from './connectors.ts';
import { comparable, type Field, type Mapping, type StationMember } from './mapping.ts';
import type { Scalar } from './mapping-file.ts';
import { type Problem, reporter } from './station.ts';
import { fillTemplate } from './template.ts';

export interface Row {
  /** Its place in the file: `row 17`. */
  at: string;
  cells: Cells;
  geometry?: unknown;
}

/** Reads the fields of one row or of one of its connectors, and records unreadable values. */
export type RowReader = ReturnType<typeof createRowReader>;

export function createRowReader(
  row: Row,
  mapping: Mapping,
  problems: Problem[],
  connector: Cells = new Map(),
) {
  const { decimalComma = false, nothing = [] } = mapping.file;
  const isNothing = new Set(nothing);

  function cellOf(column: string): string {
    const cell = column.startsWith(connectorPrefix)
      ? connector.get(column.slice(connectorPrefix.length))
      : row.cells.get(column);
    const text = cell?.trim() ?? '';
    return isNothing.has(text) ? '' : text;
  }
  const report = reporter(row.at, problems);
  function read(field: Field): FieldResult {
    const result = readField(field, cellOf, decimalComma);
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
    text(member: StationMember): string | undefined {
      const found = value(member);
      return found === undefined ? undefined : String(found);
    },
    needed(field: Field): string | undefined {
      const result = read(field);
      if (result.kind === 'value') return String(result.value);
      const columns = field.templates.flatMap((template) => template.columns);
      report(`leaves ${field.name} empty`, { column: columns.join(' + ') || undefined, kind: 'left-out' });
      return undefined;
    },
  };
}

const connectorPrefix = 'connector.';

type FieldResult =
  | { kind: 'value'; value: Scalar | Power; column: string; text: string }
  | { kind: 'nothing' }
  | { kind: 'problem'; column: string; text: string; why: string };

type CellOf = (column: string) => string;

function readField(field: Field, cellOf: CellOf, decimalComma: boolean): FieldResult {
  for (const template of field.templates) {
    const text = fillTemplate(template, cellOf);
    if (text === undefined) continue;
    const column = template.columns.join(' + ') || field.name;
    const value = meaningOf(text, field, decimalComma);
    if (value === null) return { kind: 'nothing' };
    if (value !== undefined) return { kind: 'value', value, column, text };
    return { kind: 'problem', column, text, why: whyNot(field, decimalComma) };
  }
  return { kind: 'nothing' };
}

function meaningOf(text: string, field: Field, decimalComma: boolean): Scalar | Power | null | undefined {
  const known = field.values?.get(comparable(text));
  const mapped = known !== undefined ? known : field.values ? field.otherwise : text;
  if (typeof mapped !== 'string') return mapped;
  if (field.unit !== undefined) return readPower(mapped, field.unit, decimalComma);
  if (field.as === 'number') return readNumber(mapped, decimalComma);
  if (field.as === 'date-time') return readDateTime(mapped, field.format);
  return mapped;
}

function whyNot({ name, values, unit, as, format }: Field, decimalComma: boolean): string {
  if (values) return `is not a value of ${name}`;
  if (unit !== undefined) return 'is not a power';
  if (as === 'number') return `is not a number${decimalComma ? ' with a decimal comma' : ''}`;
  return `is not a date such as ${format ?? 'YYYY-MM-DD'}`;
}
