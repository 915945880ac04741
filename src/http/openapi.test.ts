import { describe, expect, it } from 'vitest';
import { programVersion } from '../program-version.ts';
import type { Acknowledgement } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { createAjv } from '../protocol/ajv.ts';
import { renderDocs } from './docs-page.ts';
import { buildOpenApi, type Operation, type Response } from './openapi.ts';
import type { JsonSchema } from './openapi-components.ts';

const document = buildOpenApi({ role: 'everything', actions: Object.values(actions) });

describe('the OpenAPI document', () => {
  it('lists every action with its body, its answer and its callback', () => {
    for (const [name, action] of Object.entries(actions)) {
      const operation = document.paths[action.path]?.[action.method.toLowerCase()];
      expect(operation).toMatchObject({
        operationId: name,
        summary: action.summary,
        security: [{ Signature: [] }],
      });
      expect(operation?.requestBody !== undefined).toBe('body' in action);
      expect(Object.keys(operation?.callbacks ?? {})).toEqual('callback' in action ? [action.callback] : []);
      expect(Object.keys(operation?.responses ?? {})).toEqual(
        expect.arrayContaining(['200', '400', '401', '429', '500', '503']),
      );
    }
  });

  it('refers only to what it holds', () => {
    const missing = referencesIn(document).filter((pointer) => resolvePointer(pointer) === undefined);
    expect(missing).toEqual([]);
    expect(referencesIn(document).length).toBeGreaterThan(50);
  });

  it('uses each of its components', () => {
    const used = new Set(referencesIn(document));
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !used.has(`#/components/schemas/${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('has unique operation ids', () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('holds schemas that a JSON Schema 2020-12 validator takes', () => {
    const ajv = createAjv({ everyFault: false });
    ajv.addSchema(asSchemaFile(), 'file:///openapi.json');
    for (const name of Object.keys(document.components.schemas)) {
      expect(ajv.getSchema(`file:///openapi.json#/$defs/${name}`), name).toBeTypeOf('function');
    }
  });

  it('gives an example of every body, parameter and answer', () => {
    for (const operation of operationsIn(document)) {
      const { operationId, parameters = [], requestBody, responses } = operation;
      const bodies = requestBody && Object.keys(requestBody.content['application/json'].examples ?? {});
      expect(bodies, operationId).not.toEqual([]);
      const wanted = parameters.filter(({ required }) => required);
      for (const { name, example } of wanted) expect(example, `${operationId} ${name}`).toBeDefined();
      for (const [status, { content }] of responsesOf(responses))
        expect(
          Object.keys(content?.['application/json'].examples ?? {}),
          `${operationId} ${status}`,
        ).not.toEqual([]);
    }
  });

  it('gives an example of every code that an answer is said to have', () => {
    for (const { operationId, responses } of operationsIn(document))
      for (const [status, { description, content }] of responsesOf(responses)) {
        if (status === '200') continue;
        const codes = description.match(/\b[A-Z]{3}_[A-Z_]+\b/g) ?? [];
        const examples = Object.values(content?.['application/json'].examples ?? {});
        const shown = examples.map(({ value }) => (value as Acknowledgement).message.error?.code);
        expect(new Set(codes), `${operationId} ${status}`).toEqual(new Set(shown));
      }
  });

  it('gives only examples that the schemas accept', () => {
    const ajv = createAjv({ everyFault: false });
    ajv.addSchema(asSchemaFile(), 'file:///openapi.json');
    const contents = contentsIn(document);
    expect(contents.length).toBeGreaterThan(30);
    for (const { schema, examples = {} } of contents) {
      const { $ref = '' } = schema as { $ref?: string };
      const validate = ajv.getSchema(
        `file:///openapi.json${$ref.replace('#/components/schemas/', '#/$defs/')}`,
      );
      for (const { summary, value } of Object.values(examples)) {
        validate?.(value);
        expect(validate?.errors ?? [], `${$ref} ${summary}`).toEqual([]);
      }
    }
  });

  it('has the body of a callback with the request that it follows, and where it is received', () => {
    const { post } = document.paths['/catalog/publish'] ?? {};
    const [[, followed] = []] = Object.entries(post?.callbacks?.['catalog/on_publish'] ?? {});
    expect(followed?.post?.requestBody).toEqual(document.paths['/catalog/on_publish']?.post?.requestBody);
  });
});

describe('the documentation page', () => {
  const page = {
    roles: ['catalog', 'registry'],
    current: 'catalog',
    documentUrl: 'openapi.json',
    isSigned: true,
  };

  it('loads the viewer from the same address, and has no script of its own', () => {
    const text = renderDocs(page);
    expect([...text.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual([
      '<script src="docs/swagger-ui-bundle.js">',
      '<script src="docs/docs.js">',
    ]);
    expect(text).toContain(`<small>${programVersion()}</small>`);
    expect(text).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(text).toContain('data-document="openapi.json" data-role="catalog" data-signed>');
  });

  it('shows names as text', () => {
    const hostile = { ...page, roles: ['a', '"><img>'], current: '<script>alert(1)</script>' };
    expect(renderDocs(hostile)).not.toMatch(/<script>|<img>/);
  });
});

function operationsIn({ paths }: typeof document): Operation[] {
  return Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => [
      operation,
      ...Object.values(operation.callbacks ?? {}).flatMap((callback) =>
        Object.values(callback).flatMap((path) => Object.values(path)),
      ),
    ]),
  );
}

/** Each with its status; those common to all actions are among the components. */
function responsesOf(responses: Operation['responses']): [status: string, response: Response][] {
  return Object.entries(responses).map(([status, response]) => [
    status,
    '$ref' in response ? (resolvePointer(response.$ref) as Response) : response,
  ]);
}

type JsonContent = NonNullable<Operation['requestBody']>['content']['application/json'];

function contentsIn(value: unknown): JsonContent[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'application/json' ? [inner as JsonContent] : contentsIn(inner),
  );
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

function resolvePointer(pointer: string): unknown {
  return pointer
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
}

/** The document as a file with schemas that a validator can refer to. */
function asSchemaFile(): JsonSchema {
  const file = JSON.stringify({ $defs: document.components.schemas });
  return JSON.parse(file.replaceAll('#/components/schemas/', '#/$defs/'));
}
