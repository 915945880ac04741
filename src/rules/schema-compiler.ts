import type { Options, ValidateFunction } from 'ajv/dist/2020.js';
import { loadAjv } from '../protocol/ajv.ts';
import type { JsonObject } from '../protocol/json.ts';
import { completeSchema, partialSchema } from './partial-schema.ts';
import { loadRe2 } from './re2.ts';
import { otherAddresses, type SchemaAliases } from './schema-address.ts';

export interface SchemaDocument {
  id: string;
  document: JsonObject;
}

export interface SchemaCompiler {
  /** The validator of what a reference names, compiled once. Throws what is wrong with the schema, if anything is. */
  compile(reference: string): ValidateFunction;
}

interface CompilerOptions {
  partial: boolean;
  thorough: boolean;
  /** The documents are known to be schemas: they are not checked, which takes a tenth of a second. */
  areSound?: boolean;
  aliases?: SchemaAliases;
}

export function createSchemaCompiler(
  documents: readonly SchemaDocument[],
  { partial, thorough, areSound = false, aliases = [] }: CompilerOptions,
): SchemaCompiler {
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
      // One bad document must not take the others along: it fails those who refer to it, when they are compiled.
      refused.set(id, error);
    }
  }
  const compiled = new Map<string, ValidateFunction>();
  return {
    compile(reference) {
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

/** Domain schemas come from many hands: unknown keywords are notes, members count only where they are the value's own. */
const ajvOptions: Options = {
  strict: false,
  verbose: true,
  ownProperties: true,
  logger: false,
  code: { regExp: Object.assign(linearTimeRegExp, { code: 'linearTimeRegExp' }) },
};

/** Patterns meet values from strangers, so they run in linear time; what RE2 cannot express makes a schema unusable. */
function linearTimeRegExp(pattern: string) {
  const re2 = loadRe2();
  const compiled = re2.compile(re2.translateRegExp(pattern));
  // Ajv tells patterns apart by their text.
  return { test: (text: string) => compiled.test(text), toString: () => pattern };
}
