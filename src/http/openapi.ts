import { Acknowledgement } from '../protocol/acknowledgement.ts';
import { type Action, actions as allActions } from '../protocol/actions.ts';
import { type ActionExamples, actionExamples, type Example } from '../protocol/example-messages.ts';
import type { TSchema } from '../protocol/type.ts';
import { Components, type JsonSchema, plainJson } from './openapi-components.ts';
import {
  type DescribedRefusal,
  describeRefusals,
  renderExamples,
  sharedRefusals,
} from './openapi-refusals.ts';
import type { RefusalExample } from './refusal-examples.ts';

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
  const shared = Object.entries(actions.length > 0 ? sharedRefusals : {}).map(([status, refusal]) => [
    `Refused${status}`,
    refusedResponse(refusal, components),
  ]);
  return {
    openapi: '3.1.0',
    info: { title: `Signpost ${role}`, version: '2.0.0', description: descriptionOf(actions) },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: components.schemas,
      responses: Object.fromEntries(shared),
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
  /** Its operationId, where a description of flows names it. */
  id?: string;
  summary: string;
  description?: string;
  tag?: string;
  query?: TSchema;
  body?: TSchema;
  /** The body of a 200. */
  answer?: TSchema;
  /** Other statuses, in words. */
  answers?: Record<number, string>;
  /** Examples for these, where the body is a NACK. */
  refusals?: readonly RefusalExample[];
  examples?: PlainExamples;
}

export interface PlainExamples {
  /** Values of the path and of the query string. */
  parameters?: Readonly<Record<string, string | number>>;
  bodies?: Readonly<Record<string, Example>>;
  answer?: object;
}

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
    example?: string | number;
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

type Content = { 'application/json': { schema: JsonSchema; examples?: Readonly<Record<string, Example>> } };

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
  const operationId = (Object.keys(allActions) as (keyof typeof allActions)[]).find((id) => {
    return allActions[id].name === action.name && allActions[id].method === action.method;
  });
  const callback = Object.values(allActions).find(({ name }) => name === action.callback);
  const examples: ActionExamples | undefined = operationId && actionExamples[operationId];
  const refusals = Object.entries(describeRefusals(operationId, action));
  return {
    ...(operationId && { operationId }),
    summary: action.summary,
    tags: [action.kind === 'callback' ? 'Callbacks' : 'Requests'],
    security: [{ Signature: [] }],
    ...(action.query && { parameters: queryParameters(action.query, components, examples?.query) }),
    ...(action.body && {
      requestBody: { required: true, content: json(components.reference(action.body), examples?.bodies) },
    }),
    responses: {
      200: {
        ...jsonResponse('Done, or accepted.', components.reference(action.answer), {
          examples: examples && { done: { summary: 'Done, or accepted', value: examples.answer } },
        }),
        ...(action.answerAction && { 'x-action': action.answerAction }),
      },
      ...Object.fromEntries(
        refusals.map(([status, refusal]) => [status, refusedResponse(refusal, components)]),
      ),
      ...Object.fromEntries(
        Object.keys(sharedRefusals).map((status) => [
          status,
          { $ref: `#/components/responses/Refused${status}` },
        ]),
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

function refusedResponse({ description, examples }: DescribedRefusal, components: Components): Response {
  return jsonResponse(description, components.reference(Acknowledgement), { examples });
}

function plainOperation(operation: PlainOperation, path: string, components: Components): Operation {
  const { summary, description, tag = 'Unsigned', query, body, answer, examples } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
    ...exampleOf(name, examples?.parameters),
  }));
  return {
    ...(operation.id && { operationId: operation.id }),
    summary,
    ...(description && { description }),
    tags: [tag],
    security: [],
    parameters: [...inPath, ...(query ? queryParameters(query, components, examples?.parameters) : [])],
    ...(body && {
      requestBody: { required: true, content: json(components.reference(body), examples?.bodies) },
    }),
    responses: {
      200: answer
        ? jsonResponse('Found, or done.', components.reference(answer), {
            isSigned: false,
            examples: examples?.answer && { done: { summary: 'Found, or done', value: examples.answer } },
          })
        : { description: 'Found, or done.' },
      ...refusedResponses(operation, components),
    },
  };
}

function refusedResponses(
  { answers = {}, refusals = [] }: PlainOperation,
  components: Components,
): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, description]) => {
      const given = refusals.filter(({ error }) => error.status === Number(status));
      if (given.length === 0) return [status, { description }];
      const examples = renderExamples(given, {});
      return [
        status,
        jsonResponse(description, components.reference(Acknowledgement), { isSigned: false, examples }),
      ];
    }),
  );
}

function queryParameters(
  query: TSchema,
  components: Components,
  examples?: PlainExamples['parameters'],
): NonNullable<Operation['parameters']> {
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
    ...exampleOf(name, examples),
  }));
}

function exampleOf(name: string, examples: PlainExamples['parameters'] = {}): { example?: string | number } {
  const example = examples[name];
  return example === undefined ? {} : { example };
}

function json(schema: JsonSchema, examples: Readonly<Record<string, Example>> = {}): Content {
  return { 'application/json': { schema, ...(Object.keys(examples).length > 0 && { examples }) } };
}

function jsonResponse(
  description: string,
  schema: JsonSchema,
  { isSigned = true, examples }: { isSigned?: boolean; examples?: Readonly<Record<string, Example>> } = {},
): Response {
  const headers = { Signature: { $ref: '#/components/headers/Signature' } };
  return { description, ...(isSigned && { headers }), content: json(schema, examples) };
}

function descriptionOf(actions: readonly Action[]): string {
  return actions.length === 0 ? 'Every answer is JSON.' : signingGuide;
}

const signingGuide = `Every request is signed by its sender and answered with a signed answer. Bodies are JSON objects with \`context\` and \`message\`.

### Signing a request

The header \`Authorization\` holds an Ed25519 signature over three lines, joined by line feeds, the last without one:

    (created): 1752000000
    (expires): 1752000300
    digest: BLAKE-512=<base64 of BLAKE2b-512 over the body>

It stands on one line:

    Authorization: Signature keyId="<subscriber_id>|<record_id>|ed25519",algorithm="ed25519",created="1752000000",expires="1752000300",headers="(created) (expires) digest",signature="<base64 signature>"

The public key stands in the identity registry under the \`subscriber_id\` and \`record_id\` of the \`keyId\`. A GET or DELETE signs the digest of zero bytes. A callback signs a
fourth line, \`request-signature:\`, with the signature of the request that it answers. The answer carries a signature of that form in the header \`Signature\`.`;
