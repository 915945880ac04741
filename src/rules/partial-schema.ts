import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';

/**
 * The schema of a template, under which missing members are no fault: `required` and `dependentRequired` fall away. Not below `not` and `if`, where a schema asks: references from there lead to the complete
 * form. `oneOf` becomes `anyOf`, because branches that differ only in what they require now look alike.
 */
export function partialSchema(schema: JsonObject, id: string): JsonObject {
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

/** The same schema under a second identity, to which every reference in it is turned as well, and all names of that. */
export function completeSchema(schema: JsonObject, id: string): { complete: JsonObject; names: string[] } {
  const base = baseOf(schema, id);
  const complete = completeForm({ ...schema, $id: base }, base);
  return { complete, names: [...new Set([base, id])].map(completeId) };
}

/** A document may call itself otherwise than the address where it was found. */
function baseOf(schema: JsonObject, id: string): string {
  return typeof schema.$id === 'string' ? resolve(schema.$id, id) : id;
}

/** Keywords that hold values, not schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'example', 'examples']);

/** Members that hold schemas under free names (`schemas` is where OpenAPI has them). */
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

/** `?complete` marks the second identity; a fragment stays behind it. */
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
