/** Our additions to JSON Schema: formats, `x-geojson` for positions, `x-enum-any-case`. Without Ajv, for the compiled validators of the client package. */
import type { ErrorObject, FuncKeywordDefinition } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { findGeometryFault } from './geojson.ts';
import { isDate, isDateOrDateTime, isDateTime, isDuration, isTimeOfDay } from './time.ts';

const { uri } = fullFormats;
if (typeof uri !== 'function') throw new TypeError('ajv-formats gives uri as a function');

export const formats = {
  uri: (text: string) => uri(text) && URL.canParse(text),
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  'date-time': isDateTime,
  date: isDate,
  'date-or-date-time': isDateOrDateTime,
  'time-of-day': isTimeOfDay,
  duration: isDuration,
};

export const checkGeometry: KeywordCheck = (_schema, geometry, _parent, cursor) => {
  const fault = findGeometryFault(geometry);
  if (!fault) return true;
  checkGeometry.errors = [
    {
      keyword: 'x-geojson',
      instancePath: `${cursor?.instancePath ?? ''}${fault.at.map((segment) => `/${segment}`).join('')}`,
      message: fault.message,
      params: { code: fault.code },
    },
  ];
  return false;
};

type KeywordCheck = NonNullable<FuncKeywordDefinition['validate']> & { errors?: Partial<ErrorObject>[] };

export function isOneOfAnyCase(values: string[], text: string): boolean {
  return values.includes(text.toUpperCase());
}
