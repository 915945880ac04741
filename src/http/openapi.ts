import { Acknowledgement } from '../protocol/acknowledgement.ts';
import { type Action, actions as allActions } from '../protocol/actions.ts';
import { type ActionExamples, actionExamples, type Example } from '../protocol/example-messages.ts';
import type { TSchema } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';
import { Components, type JsonSchema, mapValues, plainJson } from './openapi-components.ts';
import {
  type DescribedRefusal,
  describeRefusals,
  renderExamples,
  sharedRefusals,
  tooLongRefusal,
} from './openapi-refusals.ts';
import { signatureHeader, signatureScheme, signingGuide } from './openapi-signing.ts';
import { type RefusalExample, refusalExamples, type WrongValue } from './refusal-examples.ts';

/** The OpenAPI 3.1 document of a role, from the table of actions and their schemas; a schema with a title becomes a component. */
export function buildOpenApi({ role, actions, plain = [] }: DescribedRole) {
  const components = new Components();
  const paths: Record<string, Record<string, Operation>> = {};
  const add = (path: string, method: string, operation: Operation) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  };
  for (const action of actions) add(action.path, action.method, signedOperation(action, components));
  for (const { method, path, operation } of plain)
    add(path.replace(/:(\w+)/g, '{$1}'), method, plainOperation(operation, { method, path }, components));
  return {
    openapi: '3.1.0',
    info: {
      title: `Signpost ${role}`,
      version: '2.0.0',
      description: actions.length === 0 ? 'Every answer is JSON.' : signingGuide,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: { schemas: components.schemas, ...(actions.length > 0 && signedComponents(components)) },
  };
}

interface DescribedRole {
  role: string;
  actions: readonly Action[];
  plain?: readonly { method: string; path: string; operation: PlainOperation }[];
}

export type OpenApiDocument = ReturnType<typeof buildOpenApi>;

export interface PlainOperation {
  /** Its operationId; by default from method and path. */
  id?: string;
  summary: string;
  description?: string;
  tag?: string;
  query?: TSchema;
  body?: TSchema;
  answer?: TSchema;
  answers?: Record<number, string>;
  /** Examples of these statuses, if the body is a NACK. */
  refusals?: readonly (WrongValue | RefusalExample)[];
  /** The body of statuses from 400 on, if it is not a NACK. */
  refusal?: TSchema;
  examples?: PlainExamples;
}

export interface PlainExamples {
  parameters?: Readonly<Record<string, string | number>>;
  bodies?: Readonly<Record<string, Example>>;
  answer?: object;
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

function signedComponents(components: Components) {
  const shared = Object.entries(sharedRefusals).map(([status, refusal]) => [
    `Refused${status}`,
    refusedResponse(refusal, components),
  ]);
  return {
    responses: Object.fromEntries(shared) as Record<string, Response>,
    headers: { Signature: signatureHeader },
    securitySchemes: { Signature: signatureScheme },
  };
}

function signedOperation(action: Action, components: Components): Operation {
  const operationId = (Object.keys(allActions) as (keyof typeof allActions)[]).find((id) => {
    return allActions[id].name === action.name && allActions[id].method === action.method;
  });
  const callback = Object.values(allActions).find(({ name }) => name === action.callback);
  const examples: ActionExamples | undefined = operationId && actionExamples[operationId];
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
      ...mapValues(describeRefusals(operationId, action), (refusal) => refusedResponse(refusal, components)),
      ...(action.query && { 431: refusedResponse(tooLongRefusal, components, { isSigned: false }) }),
      ...mapValues(sharedRefusals, (_, status) => ({ $ref: `#/components/responses/Refused${status}` })),
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

function refusedResponse(
  { description, examples }: DescribedRefusal,
  components: Components,
  { isSigned = true } = {},
): Response {
  return jsonResponse(description, components.reference(Acknowledgement), { isSigned, examples });
}

function plainOperation(
  operation: PlainOperation,
  { method, path }: { method: string; path: string },
  components: Components,
): Operation {
  const { summary, description, tag = 'Unsigned', query, body, answer, examples } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
    ...exampleOf(name, examples?.parameters),
  }));
  const parameters = [...inPath, ...(query ? queryParameters(query, components, examples?.parameters) : [])];
  return {
    operationId: operation.id ?? operationIdOf(method, path),
    summary,
    ...(description && { description }),
    tags: [tag],
    security: [],
    parameters,
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
      ...(inPath.length > 0 && { 414: { description: 'A name in the path is too long.' } }),
      ...(parameters.length > 0 && { 431: refusedResponse(tooLongRefusal, components, { isSigned: false }) }),
      ...refusedResponses(operation, components),
    },
  };
}

/** `getDediLookupNamespace` of `GET /dedi/lookup/:namespace`. */
function operationIdOf(method: string, path: string): string {
  const words = path.split(/\W+/).filter((word) => word !== '');
  return [method.toLowerCase(), ...words.map((word) => word[0]?.toUpperCase() + word.slice(1))].join('');
}

function refusedResponses(operation: PlainOperation, components: Components): Record<string, Response> {
  const { answers = {}, refusal } = operation;
  const refusals = plainRefusals(operation);
  return mapValues(answers, (description, status) => {
    if (refusal && Number(status) >= 400)
      return jsonResponse(description, components.reference(refusal), { isSigned: false });
    const given = refusals.filter(({ error }) => error.status === Number(status));
    if (given.length === 0) return { description };
    const described = { description, examples: renderExamples(given, {}) };
    return refusedResponse(described, components, { isSigned: false });
  });
}

export function plainRefusals({ body, examples, refusals = [] }: PlainOperation): RefusalExample[] {
  const [example] = Object.values(examples?.bodies ?? {});
  return refusalExamples(example?.value ?? {}, (request) => body && validator(body)(request), refusals);
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
