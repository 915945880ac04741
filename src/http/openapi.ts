import type { TSchema } from 'typebox';
import { Acknowledgement } from '../protocol/acknowledgement.ts';
import { type Action, actions as allActions } from '../protocol/actions.ts';

/**
 * The OpenAPI 3.1 document of a role, from the table of actions and the schemas that the requests are checked with. A schema
 * with a title becomes a component of that name.
 */
export function buildOpenApi({ role, actions, plain = [] }: Described): OpenApiDocument {
  const components = new Components();
  const paths: OpenApiDocument['paths'] = {};
  const add = (path: string, method: string, operation: Operation) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  };
  for (const action of actions) add(action.path, action.method, signedOperation(action, components));
  for (const { method, path, operation } of plain) {
    add(path.replace(/:(\w+)/g, '{$1}'), method, plainOperation(operation, path, components));
  }
  const errors = Object.entries(refusals).map(([status, description]) => [
    `Refused${status}`,
    jsonResponse(description, components.reference(Acknowledgement)),
  ]);
  return {
    openapi: '3.1.0',
    info: { title: `Signpost ${role}`, version: '2.0.0', description: descriptionOf(actions) },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: components.schemas,
      responses: Object.fromEntries(errors),
      headers: { Signature: signatureHeader },
      securitySchemes: { Signature: signatureScheme },
    },
  };
}

export interface Described {
  role: string;
  actions: readonly Action[];
  /** Routes that are not signed. */
  plain?: readonly { method: string; path: string; operation: PlainOperation }[];
}

export interface PlainOperation {
  summary: string;
  description?: string;
  tag?: string;
  query?: TSchema;
  body?: TSchema;
  /** The body of a 200. */
  answer?: TSchema;
  /** Other statuses, in words. */
  answers?: Record<number, string>;
}

export type JsonSchema = Record<string, unknown>;

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Response>;
    headers: Record<string, JsonSchema>;
    securitySchemes: Record<string, JsonSchema>;
  };
}

export interface Operation {
  operationId?: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: {
    name: string;
    in: 'query' | 'path';
    required: boolean;
    schema: JsonSchema;
    description?: string;
  }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response | Reference>;
  callbacks?: Record<string, Record<string, Record<string, Operation>>>;
}

export interface Reference {
  $ref: string;
}

export interface Response {
  description: string;
  /** The `context.action` of a body that has one. */
  'x-action'?: string;
  headers?: Record<string, Reference>;
  content?: Content;
}

type Content = { 'application/json': { schema: JsonSchema } };

/** Statuses that any signed route can answer with (catalog spec: Errors). */
const refusals: Record<number, string> = {
  400: 'The body, its context or a value in it is wrong: SCH_…, CTX_… or NET_NOT_IMPLEMENTED, with details.path.',
  401: 'AUT_SIGNATURE_MISSING, AUT_SIGNATURE_INVALID, AUT_KEY_NOT_FOUND, AUT_KEY_EXPIRED_OR_REVOKED or AUT_SUBSCRIBER_NOT_FOUND.',
  403: 'AUT_UNAUTHORIZED_ACTION or AUT_DOMAIN_NOT_ALLOWED.',
  413: 'SCH_SCHEMA_VALIDATION_FAILED: the body is too large; split it across several requests.',
  429: 'AUT_RATE_LIMITED; Retry-After says when to come again.',
  500: 'NET_INTERNAL_ERROR.',
  503: 'NET_OVERLOADED or NET_DOWNSTREAM_UNAVAILABLE; Retry-After says when to come again.',
};

/** What single actions answer beyond that. */
const furtherAnswers: Record<string, Record<number, string>> = {
  subscribe: { 404: 'CTX_INVALID_FIELD: there is no such subscription to update.' },
  unsubscribe: { 404: 'CTX_INVALID_FIELD: there is no such subscription.' },
  pull: { 404: 'CTX_INVALID_FIELD: there is no such subscription.' },
  push: {
    202: 'BIZ_NO_RESULTS_FOUND: received, but no subscription of this service matches. Not a failure.',
  },
  discover: {
    202: 'BIZ_NO_RESULTS_FOUND: nothing was found, and no callback follows. The message names what came close.',
  },
};

const signatureScheme = {
  type: 'http',
  scheme: 'Signature',
  description:
    'Authorization: Signature keyId="<subscriber_id>|<record_id>|ed25519",algorithm="ed25519",created="<unix_timestamp>",' +
    'expires="<unix_timestamp>",headers="(created) (expires) digest",signature="<base64_signature>". Ed25519 over the lines ' +
    '"(created): …", "(expires): …" and "digest: BLAKE-512=<base64 of BLAKE2b-512 over the body>", joined by line feeds.',
};

const signatureHeader = {
  description:
    'The answer, signed by the service in the same form, with a fourth line "request-signature: <signature of the request>".',
  schema: { type: 'string' },
};

function signedOperation(action: Action, components: Components): Operation {
  const operationId = Object.entries(allActions).find(([, { name, method }]) => {
    return name === action.name && method === action.method;
  })?.[0];
  const callback = Object.values(allActions).find(({ name }) => name === action.callback);
  const further = Object.entries(furtherAnswers[operationId ?? ''] ?? {}).map(([status, description]) => [
    status,
    jsonResponse(description, components.reference(Acknowledgement)),
  ]);
  return {
    ...(operationId && { operationId }),
    summary: action.summary,
    tags: [action.kind === 'callback' ? 'Callbacks' : 'Requests'],
    security: [{ Signature: [] }],
    ...(action.query && { parameters: queryParameters(action.query, components) }),
    ...(action.body && { requestBody: { required: true, content: json(components.reference(action.body)) } }),
    responses: {
      200: {
        ...jsonResponse('Done, or accepted.', components.reference(action.answer)),
        ...(action.answerAction && { 'x-action': action.answerAction }),
      },
      ...Object.fromEntries(further),
      ...Object.fromEntries(
        Object.keys(refusals).map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
      ),
    },
    ...(callback && {
      callbacks: {
        [callback.name]: {
          [`{$request.body#/context/${action.caller}Uri}${callback.path}`]: {
            post: signedOperation(callback, components),
          },
        },
      },
    }),
  };
}

function plainOperation(operation: PlainOperation, path: string, components: Components): Operation {
  const { summary, description, tag = 'Unsigned', query, body, answer, answers = {} } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
  }));
  return {
    summary,
    ...(description && { description }),
    tags: [tag],
    security: [],
    parameters: [...inPath, ...(query ? queryParameters(query, components) : [])],
    ...(body && { requestBody: { required: true, content: json(components.reference(body)) } }),
    responses: {
      200: answer
        ? jsonResponse('Found, or done.', components.reference(answer), false)
        : { description: 'Found, or done.' },
      ...Object.fromEntries(Object.entries(answers).map(([status, text]) => [status, { description: text }])),
    },
  };
}

function queryParameters(query: TSchema, components: Components): NonNullable<Operation['parameters']> {
  const { properties = {}, required = [] } = plainJson(query) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: components.inline(schema),
    ...(typeof description === 'string' && { description }),
  }));
}

function json(schema: JsonSchema): Content {
  return { 'application/json': { schema } };
}

function jsonResponse(description: string, schema: JsonSchema, signed = true): Response {
  const headers = { Signature: { $ref: '#/components/headers/Signature' } };
  return { description, ...(signed && { headers }), content: json(schema) };
}

function descriptionOf(actions: readonly Action[]): string {
  return actions.length === 0
    ? 'Every answer is JSON.'
    : 'Every request is signed by its sender and answered with a signed answer. Bodies are JSON objects with `context` and `message`.';
}

/** Schemas with a title, each once. A variation under the same title (another description, say) stays where it stands. */
class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  readonly #sources = new Map<string, string>();

  reference(schema: TSchema): JsonSchema {
    return this.inline(plainJson(schema));
  }

  inline(schema: JsonSchema): JsonSchema {
    const { title } = schema;
    if (typeof title !== 'string') return this.#within(schema);
    const source = JSON.stringify(schema);
    const known = this.#sources.get(title);
    if (known !== undefined && known !== source) return this.#within(schema);
    if (known === undefined) {
      this.#sources.set(title, source);
      this.schemas[title] = this.#within(schema);
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #within(schema: JsonSchema): JsonSchema {
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.#child(keyword, value)]),
    );
  }

  #child(keyword: string, value: unknown): unknown {
    if (dataKeywords.has(keyword)) return value;
    if (Array.isArray(value)) return value.map((item) => (isObject(item) ? this.inline(item) : item));
    if (!isObject(value)) return value;
    if (!namedKeywords.has(keyword)) return this.inline(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, schema]) => [name, isObject(schema) ? this.inline(schema) : schema]),
    );
  }
}

/** Keywords that hold values, and keywords that hold schemas by name. */
const dataKeywords = new Set([
  'examples',
  'example',
  'default',
  'enum',
  'const',
  'required',
  'dependentRequired',
]);
const namedKeywords = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);

/** A TypeBox schema carries marks of its own; what JSON makes of it is the schema. */
function plainJson(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema));
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
