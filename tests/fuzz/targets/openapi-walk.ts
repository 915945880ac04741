import fc from 'fast-check';
import type { OpenApiDocument, Operation, Response } from '../../../src/http/openapi.ts';
import { createAjv } from '../../../src/protocol/ajv.ts';
import { arbitraryValue } from '../../support/values/arbitrary-value.ts';
import { hostileText } from '../hostile-values.ts';
import { exchange, type HttpAnswer } from '../http-exchange.ts';
import { type ByteMutation, bytesSometimes, mutateBytes, noBytes } from '../mutate-bytes.ts';
import { mutateText, mutations } from '../mutate-json.ts';
import { fault } from '../oracle.ts';
import type { Scene } from '../scene.ts';
import { accepted, type Target } from '../target.ts';

// A walk over the OpenAPI documents that the roles serve: every unsigned operation, with parameters and bodies that its schemas accept or refuse.
// Status, content type and body of each answer must be documented.

type Place = 'registry' | 'catalog' | 'discovery' | 'publisher' | 'trigger' | 'console';

interface WalkCase {
  place: Place;
  method: string;
  /** Path in the document, to find the operation again. */
  template: string;
  path: string;
  body: string;
  bytes: readonly ByteMutation[];
  contentType: string;
}

export const openApiWalk: Target<WalkCase> = {
  name: 'operations of the OpenAPI documents',
  weight: 16,
  concurrency: 8,
  cases: async (scene) => {
    const documents = await documentsOf(scene);
    const operations = [...documents].flatMap(([place, document]) =>
      Object.entries(document.paths).flatMap(([template, item]) =>
        Object.entries(item)
          .filter(([, { security = [] }]) => security.length === 0)
          .filter(() => !endless.includes(template))
          .map(([method, operation]) => casesOf({ place, document, template, method, operation })),
      ),
    );
    return fc.oneof(...operations);
  },
  run: runWalk,
};

/** Streams that stay open. */
const endless: readonly string[] = ['/api/events'];

interface Described {
  place: Place;
  document: OpenApiDocument;
  template: string;
  method: string;
  operation: Operation;
}

function casesOf({ place, document, template, method, operation }: Described): fc.Arbitrary<WalkCase> {
  const resolve = (reference: string) => document.components.schemas[reference.split('/').at(-1) ?? ''] ?? {};
  const { parameters = [], requestBody } = operation;
  const values = parameters.map(({ name, in: where, required, schema, example }) =>
    fc.record({
      name: fc.constant(name),
      where: fc.constant(where),
      value: fc.oneof(
        { weight: 3, arbitrary: arbitraryValue(schema, resolve).map(String) },
        ...(example === undefined ? [] : [{ weight: 3, arbitrary: fc.constant(String(example)) }]),
        { weight: 2, arbitrary: hostileText },
      ),
      isSent: required ? fc.integer({ min: 0, max: 9 }).map((chance) => chance > 0) : fc.boolean(),
    }),
  );
  const content = requestBody?.content['application/json'];
  const examples = Object.values(content?.examples ?? {}).map(({ value }) => value as unknown);
  const body = !content
    ? fc.constant('')
    : fc
        .tuple(
          fc.oneof(arbitraryValue(content.schema, resolve), ...examples.map((one) => fc.constant(one))),
          mutations,
        )
        .map(([valid, changes]) => mutateText(valid, changes));
  return fc.record({
    ...{
      place: fc.constant(place),
      method: fc.constant(method.toUpperCase()),
      template: fc.constant(template),
    },
    path: fc.tuple(...values).map((given) => fillPath(template, given)),
    body,
    bytes: content ? bytesSometimes(9) : noBytes,
    contentType: fc.oneof(
      { weight: 19, arbitrary: fc.constant('application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('text/plain', 'application/xml', 'application/json; charset=x', 'x'),
      },
    ),
  });
}

interface Given {
  name: string;
  where: 'path' | 'query';
  value: string;
  isSent: boolean;
}

function fillPath(template: string, given: readonly Given[]): string {
  const encode = (text: string) => encodeURIComponent(Buffer.from(text).toString());
  const path = given
    .filter(({ where }) => where === 'path')
    .reduce((filled, { name, value }) => filled.replace(`{${name}}`, encode(value) || 'x'), template);
  const query = given
    .filter(({ where, isSent }) => where === 'query' && isSent)
    .map(({ name, value }) => `${name}=${encode(value)}`);
  return path.replace('*', 'on_discover') + (query.length > 0 ? `?${query.join('&')}` : '');
}

async function runWalk(scene: Scene, one: WalkCase, id: string): Promise<string> {
  const { place, method, template, path, contentType } = one;
  const operation = (await documentsOf(scene)).get(place)?.paths[template]?.[method.toLowerCase()];
  const token = { trigger: scene.tokens.trigger, console: scene.tokens.operator }[place as string];
  const body = mutateBytes(Buffer.from(one.body), one.bytes);
  const answer = await exchange(scene.urls[place], path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(one.body !== '' && { 'content-type': contentType }),
      'x-request-id': id,
    },
    ...(one.body !== '' && { body }),
  });
  // A name in the path that is empty, `.` or `..` leads to another operation or none.
  if (!operation || path.split('?')[0]?.split('/').length !== template.split('/').length) return 'elsewhere';
  checkDocumented(operation, answer, `${method} ${template}`, await documentsOf(scene), place);
  if (answer.status < 400) return accepted;
  return `${answer.status}`;
}

const ajv = createAjv({ everyFault: false });
ajv.addKeyword('components');
const validators = new Map<string, (value: unknown) => boolean>();

function checkDocumented(
  { responses }: Operation,
  answer: HttpAnswer,
  what: string,
  documents: Map<Place, OpenApiDocument>,
  place: Place,
): void {
  const response = responses[`${answer.status}`] as Response | undefined;
  if (answer.status >= 500 && answer.status !== 503 && answer.status !== 504)
    throw fault(`${what}: an undocumented 5xx`, answer, '5xx');
  if (!response) throw fault(`${what} does not document this status`, answer);
  const schema = response.content?.['application/json']?.schema;
  if (!schema) return;
  if (!/^application\/json\b/.test(answer.headers['content-type'] ?? ''))
    throw fault(`${what}: content type`, answer);
  const key = `${place} ${what} ${answer.status}`;
  const { components } = documents.get(place) ?? { components: {} };
  const validate = validators.get(key) ?? ajv.compile({ ...schema, components });
  validators.set(key, validate);
  if (!validate(JSON.parse(answer.body.toString())))
    throw fault(`${what}: the body is not as documented`, answer);
}

const fetched = new WeakMap<Scene, Promise<Map<Place, OpenApiDocument>>>();

function documentsOf(scene: Scene): Promise<Map<Place, OpenApiDocument>> {
  const known = fetched.get(scene) ?? fetchDocuments(scene);
  fetched.set(scene, known);
  return known;
}

async function fetchDocuments({ urls, tokens }: Scene): Promise<Map<Place, OpenApiDocument>> {
  const documents = new Map<Place, OpenApiDocument>();
  for (const [place, url] of Object.entries(urls)) {
    const headers: Record<string, string> =
      place === 'trigger' ? { authorization: `Bearer ${tokens.trigger}` } : {};
    const answer = await fetch(`${url}/openapi.json`, { headers });
    documents.set(place as Place, (await answer.json()) as OpenApiDocument);
  }
  return documents;
}
