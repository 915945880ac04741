/**
 * Ajv as we use it: JSON Schema 2020-12, formats asserted, and three keywords of our own. The `x-` keywords
 * are annotations to any other reader of the schemas, so that they may stand in an OpenAPI document as they
 * are.
 *
 * - `x-geojson`: the positions of a GeoJSON geometry.
 * - `x-enum-any-case`: an enumeration in upper or lower case.
 * - `x-error-code`: the code of any fault in this value; read when a fault is explained, it checks nothing.
 */
import { Ajv2020, type ErrorObject, type FuncKeywordDefinition } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { findGeometryFault } from './geojson.ts';
import { isDate, isDateOrDateTime, isDateTime, isDuration, isTimeOfDay } from './time.ts';

/** `everyFault` goes on after the first one; without it, bad input costs no more than good input. */
export function createAjv(options: { everyFault: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: options.everyFault,
    allowUnionTypes: true,
    strictTypes: false,
    verbose: true,
  });
  ajvFormats.default(ajv);
  const uri = ajv.formats.uri;
  if (typeof uri !== 'function') throw new TypeError('ajv-formats gives uri as a function');
  ajv.addFormat('uri', { type: 'string', validate: (text: string) => uri(text) && URL.canParse(text) });
  ajv.addFormat('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i);
  ajv.addFormat('date-time', isDateTime);
  ajv.addFormat('date', isDate);
  ajv.addFormat('date-or-date-time', isDateOrDateTime);
  ajv.addFormat('time-of-day', isTimeOfDay);
  ajv.addFormat('duration', isDuration);
  ajv.addKeyword({ keyword: 'x-geojson', type: 'object', validate: checkGeometry });
  ajv.addKeyword({ keyword: 'x-enum-any-case', type: 'string', schemaType: 'array', validate: isOneOf });
  ajv.addKeyword({ keyword: 'x-error-code', schemaType: 'string' });
  return ajv;
}

const checkGeometry: KeywordCheck = (_schema, geometry, _parent, cursor) => {
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

function isOneOf(values: string[], text: string): boolean {
  return values.includes(text.toUpperCase());
}
