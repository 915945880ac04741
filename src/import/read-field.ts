import { type Power, readDateTime, readNumber, readPower } from './cell-values.ts';
import { comparable, type Field } from './mapping.ts';
import type { Scalar } from './mapping-file.ts';
import { fillTemplate } from './template.ts';

// One field of a mapping, for one row: its text from the cells, and what the text stands for.

export type FieldResult =
  | { kind: 'value'; value: Scalar | Power; column: string; text: string }
  /** Nothing stands there. */
  | { kind: 'nothing' }
  | { kind: 'problem'; column: string; text: string; why: string };

export interface FieldOptions {
  cellOf(column: string): string;
  decimalComma: boolean;
}

export function readField(field: Field, { cellOf, decimalComma }: FieldOptions): FieldResult {
  for (const template of field.templates) {
    const text = fillTemplate(template, cellOf);
    if (text === undefined) continue;
    const column = template.columns.join(' + ') || field.name;
    const value = meaningOf(text, field, decimalComma);
    if (value !== undefined) return { kind: 'value', value, column, text };
    return { kind: 'problem', column, text, why: whyNot(field, decimalComma) };
  }
  return { kind: 'nothing' };
}

function meaningOf(text: string, field: Field, decimalComma: boolean): Scalar | Power | undefined {
  const mapped = field.values?.get(comparable(text)) ?? (field.values ? field.otherwise : text);
  if (typeof mapped !== 'string') return mapped;
  if (field.unit !== undefined) return readPower(mapped, field.unit, decimalComma);
  if (field.as === 'number') return readNumber(mapped, decimalComma);
  if (field.as === 'date-time') return readDateTime(mapped, field.format);
  return mapped;
}

function whyNot({ name, values, unit, as, format }: Field, decimalComma: boolean): string {
  if (values) return `is none of the values of ${name}`;
  if (unit !== undefined) return 'is no power';
  if (as === 'number') return `is no number${decimalComma ? ' with a decimal comma' : ''}`;
  return `is no date as ${format ?? 'YYYY-MM-DD'}`;
}
