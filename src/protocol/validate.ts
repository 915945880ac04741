/**
 * From a schema to a typed value, or to the first fault with its code and JSONPath: in an object, a missing member before an unknown one, and both
 * before faults inside members. Validation stops there, so that a hostile body costs no more than a good one.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { compiled } from './compiled.ts';
import { type ErrorBody, type ErrorCode, errorBody, type ProtocolError } from './errors.ts';
import { faultAt, type Segments } from './fault.ts';
import type { Static, TSchema } from './type.ts';

/** `at` is the path of the value in the whole document. */
export function validator<S extends TSchema>(schema: S): (value: unknown, at?: Segments) => Static<S> {
  return (value, at = []) => {
    const validate = compiled(schema, 'firstFault');
    if (validate(value)) return value as Static<S>;
    // If all alternatives failed, the last error is about the alternatives as a whole.
    throw explain(validate.errors?.at(-1), value, at);
  };
}

export function prepareValidator(schema: TSchema): void {
  compiled(schema, 'firstFault');
}

/** Every fault of a value. Not for foreign bodies: it has no limit. */
export function findFaults(schema: TSchema): (value: unknown, at?: Segments) => ErrorBody[] {
  return (value, at = []) => {
    const validate = compiled(schema, 'everyFault');
    if (validate(value)) return [];
    const errors = (validate.errors ?? []).filter((error) => !error.schemaPath.includes('/anyOf/'));
    const faults = errors.map((error) => explain(error, value, at));
    return [...new Map(faults.map((fault) => [`${fault.code} ${fault.path}`, errorBody(fault)])).values()];
  };
}

/** The protocol error for an error of Ajv, also of validators of domain schemas made by `createAjv`. */
export function explain(error: ErrorObject | undefined, value: unknown, at: Segments): ProtocolError {
  if (!error) return faultAt('SCH_SCHEMA_VALIDATION_FAILED', at, 'does not match the schema');
  const holder = [...at, ...segmentsOf(error.instancePath, value)];
  const { code, member, problem } = faultOf(error);
  const segments = member === undefined ? holder : [...holder, member];
  return faultAt(codeAt(segments, code), segments, problem);
}

interface Fault {
  code: ErrorCode;
  member?: string;
  problem: string;
}

function faultOf(error: ErrorObject): Fault {
  const { keyword, params, parentSchema = {} } = error;
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return missing(params.missingProperty);
    case 'anyOf':
      return faultOfAlternatives(error);
    case 'additionalProperties':
      return {
        code: 'SCH_FIELD_NOT_ALLOWED',
        member: params.additionalProperty,
        problem: 'is not allowed here',
      };
    case 'x-geojson':
      return { code: params.code, problem: error.message ?? 'is not a geometry' };
    default:
      return {
        code: parentSchema['x-error-code'] ?? codes[keyword] ?? 'SCH_SCHEMA_VALIDATION_FAILED',
        problem: problemOf(error),
      };
  }
}

function missing(member: string): Fault {
  return { code: 'SCH_REQUIRED_FIELD_MISSING', member, problem: 'is missing' };
}

/** We write alternatives only as "at least one of these members", which Ajv checks before required members. */
function faultOfAlternatives({ data, parentSchema = {} }: ErrorObject): Fault {
  const present = new Set(Object.keys(data as object));
  const absent = (parentSchema.required as string[] | undefined)?.find((member) => !present.has(member));
  if (absent !== undefined) return missing(absent);
  const members = (parentSchema.anyOf as { required?: string[] }[]).flatMap(({ required = [] }) => required);
  return { code: 'SCH_REQUIRED_FIELD_MISSING', problem: `must have at least one of ${members.join(', ')}` };
}

const codes: Record<string, ErrorCode> = {
  enum: 'SCH_INVALID_ENUM',
  const: 'SCH_INVALID_ENUM',
  'x-enum-any-case': 'SCH_INVALID_ENUM',
  format: 'SCH_INVALID_FORMAT',
  pattern: 'SCH_INVALID_FORMAT',
  minLength: 'SCH_INVALID_FORMAT',
  maxLength: 'SCH_INVALID_FORMAT',
};

/** In the context there are only two codes, apart from those of action, version and ttl. */
function codeAt(segments: Segments, code: ErrorCode): ErrorCode {
  if (segments[0] !== 'context' || code.startsWith('CTX_')) return code;
  return code === 'SCH_REQUIRED_FIELD_MISSING' ? 'CTX_MISSING_FIELD' : 'CTX_INVALID_FIELD';
}

function problemOf(error: ErrorObject): string {
  const { keyword, instancePath } = error;
  if (keyword !== 'type' && /^(?:\/context)?\/b(?:ap|pp)Uri$/.test(instancePath)) return noBaseAddress;
  return problems[keyword]?.(error) ?? error.message ?? 'does not match the schema';
}

const oneOf = ({ schema }: ErrorObject) => `must be one of ${(schema as unknown[]).join(', ')}`;
const atLeast = (limit: number, what: string) =>
  limit === 1 ? 'must not be empty' : `must have at least ${limit} ${what}`;

const problems: Readonly<Record<string, (error: ErrorObject) => string>> = {
  type: ({ params, data }) =>
    `must be ${[params.type].flat().map(typeName).join(' or ')}, not ${typeName(jsonType(data))}`,
  enum: oneOf,
  'x-enum-any-case': oneOf,
  const: ({ params }) => `must be ${params.allowedValue}`,
  format: ({ params }) => `must be ${formatNames[params.format] ?? params.format}`,
  minLength: ({ params }) => atLeast(params.limit, 'characters'),
  maxLength: ({ params }) => `must have at most ${params.limit} characters`,
  minItems: ({ params }) => atLeast(params.limit, 'items'),
  minimum: ({ params }) => `must be at least ${params.limit}`,
  maximum: ({ params }) => `must be at most ${params.limit}`,
};

const noBaseAddress =
  'must be an http or https address; your own may be omitted, and defaults to the url of your registry record';

const formatNames: Record<string, string> = {
  'date-time': 'a date-time such as 2026-01-31T12:00:00Z',
  'date-or-date-time': 'a date such as 2026-01-31 or a date-time such as 2026-01-31T12:00:00Z',
  'time-of-day': 'a time of day such as 22:00:00Z',
  duration: 'an ISO 8601 duration such as PT30S',
  uri: 'an absolute URI',
  uuid: 'a UUID',
};

function typeName(type: string): string {
  if (type === 'null') return 'null';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function segmentsOf(pointer: string, value: unknown): (string | number)[] {
  let current = value;
  return pointer
    .split('/')
    .slice(1)
    .map((token) => {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
      const segment = Array.isArray(current) ? Number(name) : name;
      current = (current as Record<string | number, unknown> | undefined)?.[segment];
      return segment;
    });
}
