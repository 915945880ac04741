import { describe, expect, it } from 'vitest';
import { type Action, actions } from './actions.ts';
import { createAjv } from './ajv.ts';
import * as signedFiles from './signed-files.ts';
import { TriggerAnswer, TriggerRequest } from './trigger-messages.ts';
import { type TSchema, Type } from './type.ts';

const table: [string, Action][] = Object.entries(actions);

describe('the table of actions', () => {
  it('has every endpoint of the specification, and the crawl log', () => {
    expect(table.map(([, { method, path }]) => `${method} ${path}`)).toEqual([
      'POST /catalog/subscription',
      'GET /catalog/subscription',
      'DELETE /catalog/subscription',
      'POST /catalog/publish',
      'POST /catalog/on_publish',
      'POST /catalog/push',
      'POST /catalog/pull',
      'POST /catalog/on_pull',
      'POST /catalog/search',
      'POST /discover',
      'POST /on_discover',
      'GET /crawl-log',
    ]);
  });

  it('has the path of an action as its name with a slash before it', () => {
    for (const [, { name, path }] of table) expect(path).toBe(`/${name}`);
  });

  it('has a body wherever something is posted, and nowhere else', () => {
    for (const [, { method, body }] of table) expect(body !== undefined).toBe(method === 'POST');
  });

  it('knows every callback that it promises', () => {
    const callbacks = table.filter(([, { kind }]) => kind === 'callback').map(([, { name }]) => name);
    const promised = table.flatMap(([, { callback }]) => callback ?? []);
    expect(promised).toEqual(callbacks);
  });

  it('remembers what changes something or promises a callback', () => {
    const remembered = table.filter(([, action]) => action.remembered).map(([name]) => name);
    expect(remembered).toEqual(['subscribe', 'unsubscribe', 'publish', 'push', 'pull', 'discover']);
  });
});

describe('the schemas', () => {
  const ofActions = table.flatMap(([, { body, query, answer }]) => [body, query, answer]);
  const ofFiles = Object.values(signedFiles);
  const schemas = [...ofActions, ...ofFiles, TriggerRequest, TriggerAnswer].filter(
    (schema) => schema !== undefined,
  );

  it('are valid JSON Schema 2020-12', () => {
    const ajv = createAjv({ everyFault: false });
    for (const schema of schemas) expect(ajv.compile(schema)).toBeTypeOf('function');
  });

  it('have one shape for each title, so that a document can name them', () => {
    const shapes = new Map<string, Set<string>>();
    for (const schema of schemas.flatMap(withParts)) {
      const { title } = schema as { title?: string };
      if (title !== undefined)
        shapes.set(title, (shapes.get(title) ?? new Set()).add(JSON.stringify(schema)));
    }
    expect([...shapes].filter(([, forms]) => forms.size > 1).map(([title]) => title)).toEqual([]);
    expect([...shapes.keys()]).toEqual(
      expect.arrayContaining(['Catalog', 'Resource', 'Offer', 'PublishRequest']),
    );
  });
});

function withParts(schema: TSchema): TSchema[] {
  if (Type.IsObject(schema)) return [schema, ...Object.values(schema.properties).flatMap(withParts)];
  return Type.IsArray(schema) ? [schema, ...withParts(schema.items)] : [schema];
}
