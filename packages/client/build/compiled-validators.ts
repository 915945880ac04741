import { _, type Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { TSchema } from 'typebox';
import type { Plugin } from 'vite';
import { Acknowledgement } from '../../../src/protocol/acknowledgement.ts';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { createAjv } from '../../../src/protocol/ajv.ts';
import { checkGeometry, isOneOfAnyCase } from '../../../src/protocol/keywords.ts';
import { IndexOutline } from '../../../src/protocol/read-signed-files.ts';
import { BaselineFile, ChangeFile, IndexEntry, Manifest } from '../../../src/protocol/signed-files.ts';

/**
 * Puts validators that Ajv compiles now into the place of `src/protocol/compiled.ts`, which would compile them at run time: the built client needs
 * neither Ajv nor `new Function`. A schema is known by its title.
 */
export function compiledValidators(): Plugin {
  return {
    name: 'compiled-validators',
    enforce: 'pre',
    load: (id) => (id.endsWith('/src/protocol/compiled.ts') ? compileAll() : undefined),
  };
}

function compileAll(): string {
  const ajv = createAjv({ everyFault: false, code: { source: true, esm: true, formats: _`formats` } });
  const parts = new Map<string, object>();
  const names = schemas().map((schema) => shareParts(schema, parts).$ref);
  for (const [title, schema] of parts) ajv.addSchema(schema, title);
  for (const title of parts.keys()) nameKeywords(ajv.getSchema(title));
  const code = standalone.default(ajv, Object.fromEntries(names.map((title) => [title, title])));
  return [
    "import { checkGeometry, formats, isOneOfAnyCase } from './keywords.ts';",
    // Keywords are called as methods of the instance of Ajv, which is not there, and not used by ours.
    'const self = undefined;',
    ...importHelpers(code),
    `const validators = { ${[...new Set(names)].join(', ')} };`,
    'export function compiled({ title }) {',
    '  const validate = validators[title];',
    "  if (!validate) throw new TypeError('no validator was compiled for ' + title);",
    '  return validate;',
    '}',
  ].join('\n');
}

/** A catalog stands in many messages: each part that has a title becomes one function, which the others call. One title has one shape. */
function shareParts(schema: TSchema, parts: Map<string, object>): { $ref: string } {
  const title = titleOf(schema);
  if (!parts.has(title)) parts.set(title, withReferences(schema, parts));
  return { $ref: title };
}

interface SchemaMembers {
  properties?: Record<string, TSchema>;
  items?: TSchema;
  description?: string;
  examples?: unknown[];
}

function withReferences(schema: TSchema, parts: Map<string, object>): object {
  const share = (part: TSchema) => ('title' in part ? shareParts(part, parts) : withReferences(part, parts));
  // What is for readers would only make the module larger.
  const {
    properties,
    items,
    description: _description,
    examples: _examples,
    ...rest
  } = schema as SchemaMembers;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, share(part)])),
    }),
    ...(items && { items: share(items) }),
  };
}

/** What is sent, what is received, and what is read of published files. */
function schemas(): TSchema[] {
  const all: Action[] = Object.values(actions);
  return [
    ...all.flatMap(({ body }) => (body ? [body.properties.context, body.properties.message] : [])),
    ...all.map(({ answer }) => answer),
    ...[Acknowledgement, Manifest, IndexOutline, IndexEntry, BaselineFile, ChangeFile],
  ];
}

function titleOf(schema: TSchema): string {
  const title = 'title' in schema ? schema.title : undefined;
  if (typeof title !== 'string') throw new TypeError('a schema that the client validates by has no title');
  return title;
}

const keywordNames = new Map<unknown, ReturnType<typeof _>>([
  [checkGeometry, _`checkGeometry`],
  [isOneOfAnyCase, _`isOneOfAnyCase`],
]);

/** The function of a keyword is a value in memory to Ajv: tells it the name under which the generated module has it. */
function nameKeywords(validate: ReturnType<Ajv2020['getSchema']>): void {
  for (const { value } of validate?.source?.scopeValues.keyword ?? []) {
    const code = keywordNames.get(value?.ref);
    if (value && code) value.code = code;
  }
}

/** Ajv writes `require` for its helpers also where it writes a module. */
function importHelpers(code: string): string[] {
  const helpers: string[] = [];
  const module = code.replace(/require\("([^"]+)"\)\.default/g, (_text, path: string) => {
    const name = `helper${helpers.length}`;
    helpers.push(`import ${name} from '${path}.js';`);
    return `(${name}.default ?? ${name})`;
  });
  return [...helpers, module];
}
