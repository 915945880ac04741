/**
 * Ajv with our settings: JSON Schema 2020-12, formats asserted, and three additional keywords, which are annotations to other readers of an OpenAPI
 * document: `x-geojson` and `x-enum-any-case` (keywords.ts), and `x-error-code`, the code of any fault in this value.
 */
import { createRequire } from 'node:module';
import type { Ajv2020, CodeOptions } from 'ajv/dist/2020.js';
import type { FormatsPlugin } from 'ajv-formats';
import { checkGeometry, formats, isOneOfAnyCase } from './keywords.ts';

/** `everyFault` continues after the first fault; `code` is for the build, which writes the compiled validators to a file. */
export function createAjv(options: { everyFault: boolean; code?: CodeOptions }): Ajv2020 {
  const { Ajv, addFormats } = loadAjv();
  const ajv = new Ajv({
    allErrors: options.everyFault,
    allowUnionTypes: true,
    strictTypes: false,
    verbose: true,
    code: options.code,
  });
  addFormats(ajv);
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  ajv.addKeyword({ keyword: 'x-geojson', type: 'object', validate: checkGeometry });
  ajv.addKeyword({
    keyword: 'x-enum-any-case',
    type: 'string',
    schemaType: 'array',
    validate: isOneOfAnyCase,
  });
  ajv.addKeyword({ keyword: 'x-error-code', schemaType: 'string' });
  return ajv;
}

/** Ajv is loaded when the first schema is compiled: most commands compile none. */
export function loadAjv(): { Ajv: typeof Ajv2020; addFormats: FormatsPlugin } {
  const { Ajv2020: Ajv } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const { default: addFormats } = require('ajv-formats') as { default: FormatsPlugin };
  return { Ajv, addFormats };
}

const require = createRequire(import.meta.url);
