import type { Options, ValidateFunction } from 'ajv/dist/2020.js';
import { loadAjv } from '../protocol/ajv.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { loadRe2 } from './re2.ts';
import { otherAddresses, type SchemaAliases } from './schema-address.ts';

export interface SchemaDocument {
  id: string;
  document: JsonObject;
}

export type SchemaCompiler = ReturnType<typeof createSchemaCompiler>;

interface CompilerOptions {
  partial: boolean;
  thorough: boolean;
  /** The documents are known to be valid schemas: the check, which takes a tenth of a second, is skipped. */
  areSound?: boolean;
  aliases?: SchemaAliases;
}

export function createSchemaCompiler(
  documents: readonly SchemaDocument[],
  { partial, thorough, areSound = false, aliases = [] }: CompilerOptions,
) {
  const { Ajv, addFormats } = loadAjv();
  const ajv = new Ajv({ ...ajvOptions, allErrors: thorough, validateSchema: !areSound });
  addFormats(ajv);
  const refused = new Map<string, unknown>();
  for (const { id, document } of documents) {
    try {
      const schema = partial ? partialSchema(document, id) : document;
      for (const name of [id, ...otherAddresses(id, aliases)]) ajv.addSchema(schema, name);
      if (!partial) continue;
      const { complete, names } = completeSchema(document, id);
      for (const name of names) ajv.addSchema(complete, name);
    } catch (error) {
      // One bad document must not break the others: only those that refer to it fail, when they are compiled.
      refused.set(id, error);
    }
  }
  const compiled = new Map<string, ValidateFunction>();
  return {
    /** The validator of the schema that a reference names, compiled once. Throws if the schema is invalid. */
    compile(reference: string): ValidateFunction {
      const known = compiled.get(reference);
      if (known !== undefined) return known;
      const [id = ''] = reference.split('#');
      if (refused.has(id)) throw refused.get(id);
      const validate = ajv.compile({ $ref: reference });
      compiled.set(reference, validate);
      return validate;
    },
  };
}

/** Domain schemas come from many authors: unknown keywords are notes; only own members of a value count. */
const ajvOptions: Options = {
  strict: false,
  verbose: true,
  ownProperties: true,
  logger: false,
  code: { regExp: Object.assign(linearTimeRegExp, { code: 'linearTimeRegExp' }) },
};

/** Patterns are applied to foreign values, so they run in linear time; a pattern that RE2 cannot express makes a schema unusable. */
function linearTimeRegExp(pattern: string) {
  const re2 = loadRe2();
  const compiled = re2.compile(re2.translateRegExp(pattern));
  // Ajv distinguishes patterns by their text.
  return { test: (text: string) => compiled.test(text), toString: () => pattern };
}

/**
 * The schema of a template, in which missing members are no fault: without `required` and `dependentRequired`. Not below `not` and `if`, which are conditions: references from there lead to the complete
 * form. `oneOf` becomes `anyOf`, because branches that differ only in required members are now equal.
 */
function partialSchema(schema: JsonObject, id: string): JsonObject {
  const base = baseOf(schema, id);
  const { required: _, dependentRequired: __, oneOf, ...kept } = schema;
  const relaxed = mapMembers(kept, (keyword, value) => {
    if (keyword === 'not' || keyword === 'if') return completeForm(value, base);
    return dataKeywords.has(keyword) ? value : relax(keyword, value, base);
  });
  if (oneOf === undefined) return relaxed;
  const others = Array.isArray(relaxed.allOf) ? relaxed.allOf : [];
  return { ...relaxed, allOf: [...others, { anyOf: relax('oneOf', oneOf, base) }] };
}

/** The same schema under a second identity, with every reference in it changed to that identity, and all names of that. */
function completeSchema(schema: JsonObject, id: string): { complete: JsonObject; names: string[] } {
  const base = baseOf(schema, id);
  const complete = completeForm({ ...schema, $id: base }, base);
  return { complete, names: [...new Set([base, id])].map(completeId) };
}

/** A document may declare another address than the one where it was found. */
function baseOf(schema: JsonObject, id: string): string {
  return typeof schema.$id === 'string' ? resolve(schema.$id, id) : id;
}

/** Keywords that hold values, not schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'example', 'examples']);

/** Members that hold schemas under free names (`schemas` is the one of OpenAPI). */
const schemaMaps = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
  'schemas',
]);

function relax(keyword: string, value: Json, base: string): Json {
  if (Array.isArray(value)) return value.map((item) => relax('', item, base));
  if (!isJsonObject(value)) return value;
  return schemaMaps.has(keyword)
    ? mapMembers(value, (_, schema) => relax('', schema, base))
    : partialSchema(value, base);
}

function completeForm<T extends Json>(value: T, base: string): T;

function completeForm(value: Json, base: string): Json {
  if (Array.isArray(value)) return value.map((item) => completeForm(item, base));
  if (!isJsonObject(value)) return value;
  return mapMembers(value, (member, inner) =>
    (member === '$id' || member === '$ref' || member === '$dynamicRef') && typeof inner === 'string'
      ? completeId(resolve(inner, base))
      : completeForm(inner, base),
  );
}

/** `?complete` marks the second identity; a fragment stays after it. */
function completeId(id: string): string {
  const [document = '', ...fragment] = id.split('#');
  return [`${document}?complete`, ...fragment].join('#');
}

function resolve(reference: string, base: string): string {
  return URL.canParse(reference, base) ? new URL(reference, base).href : reference;
}

function mapMembers(object: JsonObject, change: (name: string, value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(name, value)]));
}
