import { describe, expect, it } from 'vitest';
import { actions } from '../protocol/actions.ts';
import { createAjv } from '../protocol/ajv.ts';
import { docsPage } from './docs-page.ts';
import { sampleOf } from './docs-schema.ts';
import { buildOpenApi, type JsonSchema } from './openapi.ts';

const document = buildOpenApi({ role: 'everything', actions: Object.values(actions) });

describe('the OpenAPI document', () => {
  it('has the structure of OpenAPI 3.1', () => {
    const validate = createAjv({ everyFault: true }).compile(structure);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

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
        expect.arrayContaining(['200', '400', '401', '403', '413', '429', '500', '503']),
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

  it('gives examples of bodies that the schemas accept', () => {
    const ajv = createAjv({ everyFault: false });
    ajv.addSchema(asSchemaFile(), 'file:///openapi.json');
    for (const action of Object.values(actions)) {
      if (!('body' in action)) continue;
      const { title } = JSON.parse(JSON.stringify(action.body));
      const validate = ajv.getSchema(`file:///openapi.json#/$defs/${title}`);
      validate?.(sampleOf({ $ref: `#/components/schemas/${title}` }, document));
      expect(validate?.errors ?? [], action.name).toEqual([]);
    }
  });
});

describe('the documentation page', () => {
  const page = docsPage(document, ['everything'], 'everything');

  it('shows every path and needs no other host and no script', () => {
    for (const { path } of Object.values(actions)) expect(page).toContain(`<code>${path}</code>`);
    expect(page).not.toMatch(/<script|<link|@import|url\(|(src|href)="(https?:)?\/\//);
  });

  it('links only to places that exist', () => {
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.length).toBeGreaterThan(Object.keys(actions).length);
    for (const id of targets) expect(page).toContain(`id="${id}"`);
  });

  it('shows texts of schemas as texts', () => {
    const hostile = structuredClone(document);
    hostile.info.title = '<script>alert(1)</script>';
    expect(docsPage(hostile, ['a', '"><img>'], 'a')).not.toMatch(/<script>|<img>/);
  });
});

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

/** The document as a file that a schema validator can be pointed into. */
function asSchemaFile(): JsonSchema {
  const file = JSON.stringify({ $defs: document.components.schemas });
  return JSON.parse(file.replaceAll('#/components/schemas/', '#/$defs/'));
}

/** The parts of the OpenAPI 3.1 description that this document uses, each closed. */
const text = { type: 'string' };
const reference = {
  type: 'object',
  properties: { $ref: text },
  required: ['$ref'],
  additionalProperties: false,
};
const schema = { type: ['object', 'boolean'] };
const content = {
  type: 'object',
  properties: {
    'application/json': {
      type: 'object',
      properties: { schema },
      required: ['schema'],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};
const response = {
  type: 'object',
  properties: {
    description: text,
    'x-action': text,
    headers: { type: 'object', additionalProperties: reference },
    content,
  },
  required: ['description'],
  additionalProperties: false,
};
const structure = {
  $defs: {
    operation: {
      type: 'object',
      properties: {
        operationId: text,
        summary: text,
        description: text,
        tags: { type: 'array', items: text },
        security: {
          type: 'array',
          items: { type: 'object', additionalProperties: { type: 'array', items: text } },
        },
        parameters: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: text,
              in: { enum: ['query', 'path'] },
              required: { type: 'boolean' },
              schema,
              description: text,
            },
            required: ['name', 'in', 'schema'],
            additionalProperties: false,
          },
        },
        requestBody: {
          type: 'object',
          properties: { required: { type: 'boolean' }, content },
          required: ['content'],
          additionalProperties: false,
        },
        responses: {
          type: 'object',
          patternProperties: { '^[1-5][0-9][0-9]$': { anyOf: [response, reference] } },
          additionalProperties: false,
          minProperties: 1,
        },
        callbacks: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            patternProperties: {
              '^\\{\\$request\\.body#/context/b[ap]pUri\\}/': { $ref: '#/$defs/pathItem' },
            },
            additionalProperties: false,
          },
        },
      },
      required: ['responses'],
      additionalProperties: false,
    },
    pathItem: {
      type: 'object',
      patternProperties: { '^(get|post|delete)$': { $ref: '#/$defs/operation' } },
      additionalProperties: false,
    },
  },
  type: 'object',
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.[0-9]+$' },
    info: {
      type: 'object',
      properties: { title: text, version: text, description: text },
      required: ['title', 'version'],
      additionalProperties: false,
    },
    servers: { type: 'array', items: { type: 'object', properties: { url: text }, required: ['url'] } },
    paths: {
      type: 'object',
      patternProperties: { '^/': { $ref: '#/$defs/pathItem' } },
      additionalProperties: false,
    },
    components: {
      type: 'object',
      properties: {
        schemas: {
          type: 'object',
          propertyNames: { pattern: '^[a-zA-Z0-9._-]+$' },
          additionalProperties: schema,
        },
        responses: { type: 'object', additionalProperties: response },
        headers: { type: 'object', additionalProperties: { type: 'object', required: ['schema'] } },
        securitySchemes: { type: 'object', additionalProperties: { type: 'object', required: ['type'] } },
      },
      additionalProperties: false,
    },
  },
  required: ['openapi', 'info', 'paths'],
  additionalProperties: false,
};
