import type { ErrorBody } from '../protocol/errors.ts';
import { refusalAt, type Segments } from '../protocol/fault.ts';
import { isJsonObject, type JsonObject } from '../protocol/json.ts';
import { findCloseContext } from './close-context.ts';
import { bareType, type SchemaAliases, schemaAddress, typeAndVersion } from './schema-address.ts';
import { createSchemaCompiler, type SchemaCompiler, type SchemaDocument } from './schema-compiler.ts';
import { nonconforming, schemaFaults } from './schema-faults.ts';

// Checks that typed attributes conform to the schema that their `@context` and `@type` name (catalog spec: Offer). Schemas are values here.

/** A domain schema: JSON Schema 2020-12, or an OpenAPI 3.1 document whose components are the types. */
export interface DomainSchema {
  /** Its known address, e.g. `https://schema.nfh.global/EnergyResource/v1.1/schema.json`. */
  address: string;
  document: JsonObject;
}

export interface AttributeChecker {
  /** The faults of typed attributes: none if they conform, or name no schema or an unknown one. */
  check(attributes: Readonly<Record<string, unknown>>, where?: CheckOptions): ErrorBody[];
  /** For a context without a known schema: the known one that was probably meant. */
  findClose(context: string): string | undefined;
  readonly types: readonly KnownType[];
  /** Types that cannot be checked, with the reason; their context counts as unknown. */
  readonly problems: readonly SchemaProblem[];
}

export interface CheckOptions {
  at?: Segments;
  /** A template: missing members are no fault, because resources that extend it complete it. */
  partial?: boolean;
  /** Reports only that there is a fault, without an explanation and its cost. */
  brief?: boolean;
}

interface KnownType {
  address: string;
  type: string;
}

interface SchemaProblem extends KnownType {
  reason: string;
}

interface CheckerOptions {
  /** If two have the same address, the later wins. */
  schemas: readonly DomainSchema[];
  /** They are known to have no problems: the check is skipped, and each is compiled on first use, which takes a tenth of a second. */
  areSound?: boolean;
  unknownContext?: 'accept' | 'reject';
  aliases?: SchemaAliases;
  /** Called with every context that has no known schema. */
  onUnknownContext?: (context: string) => void;
}

export function createAttributeChecker(options: CheckerOptions): AttributeChecker {
  const { unknownContext = 'accept', onUnknownContext } = options;
  const addressOf = (text: string) => schemaAddress(text, options.aliases);
  const documents = latestDocuments(options.schemas, addressOf);
  const compiler = createCompilers(documents, options);
  const types = documents.flatMap(typesOf);
  const problems = options.areSound
    ? new Map<string, SchemaProblem>()
    : findProblems(types, compiler(false, false));
  const find = createLookup(types, addressOf);

  function check(
    attributes: Readonly<Record<string, unknown>>,
    { at = [], partial = false, brief = false }: CheckOptions = {},
  ): ErrorBody[] {
    const { '@context': context, '@type': type, ...value } = attributes;
    if (typeof context !== 'string') return [];
    const known = find(context);
    const named = typeof type === 'string' ? type : '';
    const reference = known?.get(named) ?? known?.get(bareType(named)) ?? known?.get(anyType);
    const isUnknown = known === undefined || (reference !== undefined && problems.has(reference));
    if (isUnknown) return answerUnknown(context, at);
    if (reference === undefined) {
      return [refusalAt([...at, '@type'], `is not a type of ${context}`, nonconforming)];
    }
    try {
      const quick = compiler(partial, false).compile(reference);
      if (quick(value)) return [];
      if (brief) return [{ code: nonconforming, message: 'does not conform to its schema' }];
      // People want the whole list; a hostile value with a million faults gets only the first.
      const thorough = isSmall(value) ? compiler(partial, true).compile(reference) : quick;
      thorough(value);
      return schemaFaults(thorough.errors ?? [], value, at);
    } catch (error) {
      // Values are at most 64 levels deep: the stack overflows only for a schema whose inner parts refer to each other endlessly.
      if (!(error instanceof RangeError)) throw error;
      return answerUnknown(context, at);
    }
  }

  function answerUnknown(context: string, at: Segments): ErrorBody[] {
    onUnknownContext?.(context);
    if (unknownContext === 'accept') return [];
    const problem = 'names an unknown schema';
    return [refusalAt([...at, '@context'], problem, 'SCH_INVALID_JSONLD_CONTEXT')];
  }

  const checked = types.filter(({ reference }) => !problems.has(reference));
  const addresses = [...new Set(checked.map(({ address }) => address))];
  return {
    check,
    findClose: (context) => (find(context) === undefined ? findCloseContext(context, addresses) : undefined),
    types: checked,
    problems: [...problems.values()],
  };
}

type AddressOf = typeof schemaAddress;

function latestDocuments(schemas: readonly DomainSchema[], addressOf: AddressOf): SchemaDocument[] {
  const latest = new Map(schemas.map((schema) => [addressOf(schema.address) ?? schema.address, schema]));
  return [...latest.values()].map(({ address, document }) => ({ id: address, document }));
}

/** Four kinds of check, each made on first use: complete or partial, quick or thorough. */
function createCompilers(
  documents: readonly SchemaDocument[],
  { areSound, aliases }: Pick<CheckerOptions, 'areSound' | 'aliases'>,
) {
  const made: SchemaCompiler[] = [];
  return (partial: boolean, thorough: boolean): SchemaCompiler => {
    const way = Number(partial) * 2 + Number(thorough);
    made[way] ??= createSchemaCompiler(documents, { partial, thorough, areSound, aliases });
    return made[way];
  };
}

interface DefinedType extends KnownType {
  reference: string;
}

/** Compiles and tries every type once, so that bad schemas are known from the start. */
function findProblems(types: readonly DefinedType[], compiler: SchemaCompiler): Map<string, SchemaProblem> {
  const problems = new Map<string, SchemaProblem>();
  for (const { address, type, reference } of types) {
    try {
      compiler.compile(reference)({});
    } catch (error) {
      problems.set(reference, { address, type, reason: reasonOf(error) });
    }
  }
  return problems;
}

/** For a reference that leads nowhere, Ajv reports the expected document. */
function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'it refers to itself endlessly';
  const missing = error instanceof Error && 'missingSchema' in error ? error.missingSchema : undefined;
  if (typeof missing === 'string' && missing !== '')
    return `it refers to ${missing}, which is not among the known schemas`;
  return error instanceof Error ? error.message : String(error);
}

/** The name of a type whose schema names none: it checks attributes of every `@type`. */
const anyType = '*';

/** OpenAPI names its types; a JSON Schema is the type that its address or its title names. */
function typesOf({ id: address, document }: SchemaDocument): DefinedType[] {
  const components = isJsonObject(document.components) ? document.components.schemas : undefined;
  if (isJsonObject(components)) {
    const referenceTo = (type: string) => `${address}#/components/schemas/${encodeURIComponent(type)}`;
    return Object.keys(components).map((type) => ({ address, type, reference: referenceTo(type) }));
  }
  const named = typeAndVersion(schemaAddress(address) ?? '')?.split('/')[0];
  const title = typeof document.title === 'string' ? document.title : undefined;
  const names = new Set([named, title].filter((name) => name !== undefined));
  return [...(names.size > 0 ? names : [anyType])].map((type) => ({ address, type, reference: address }));
}

/** Finds the types of a context: by its address, else by the `<Type>/<version>` that it ends in. */
function createLookup(types: readonly DefinedType[], addressOf: AddressOf) {
  const byKey = new Map<string, Map<string, string>>();
  for (const { address, type, reference } of types) {
    const key = addressOf(address) ?? address;
    for (const name of [key, typeAndVersion(key)]) {
      if (name === undefined) continue;
      byKey.set(name, (byKey.get(name) ?? new Map()).set(type, reference));
    }
  }
  // Millions of attributes name a handful of contexts. Texts come from strangers, so the memory for them is bounded.
  const remembered = new Map<string, ReadonlyMap<string, string> | undefined>();
  return (context: string): ReadonlyMap<string, string> | undefined => {
    if (remembered.has(context)) return remembered.get(context);
    const key = addressOf(context);
    const found = key === undefined ? undefined : (byKey.get(key) ?? byKey.get(typeAndVersion(key) ?? ''));
    if (remembered.size >= maxRememberedContexts) remembered.clear();
    if (context.length <= maxRememberedLength) remembered.set(context, found);
    return found;
  };
}

const maxRememberedContexts = 1000;
const maxRememberedLength = 512;

/** At most some thousand values inside. */
function isSmall(value: unknown): boolean {
  let left = maxThoroughValues;
  const fits = (inner: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    return typeof inner !== 'object' || inner === null || Object.values(inner).every(fits);
  };
  return fits(value);
}

const maxThoroughValues = 2000;
