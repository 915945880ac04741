import { _, type Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'vite';
import { Acknowledgement } from '../src/protocol/acknowledgement.ts';
import { type Action, actions } from '../src/protocol/actions.ts';
import { createAjv } from '../src/protocol/ajv.ts';
import { digestOf } from '../src/protocol/compiled.ts';
import { checkGeometry, isOneOfAnyCase } from '../src/protocol/keywords.ts';
import { IndexOutline, ManifestOutline } from '../src/protocol/read-signed-files.ts';
import { BaselineFile, ChangeFile, DigestsFile, IndexEntry } from '../src/protocol/signed-files.ts';
import type { TSchema } from '../src/protocol/type.ts';

// Validators that Ajv compiles when we are built: nothing is compiled, and Ajv not even loaded, when a message is read.

/** In the place of `src/protocol/compiled.ts`, for the client: it needs neither Ajv nor `new Function`. A schema is known by its title. */
export function validatorsOfClient(): Plugin {
  return generatedModule('/src/protocol/compiled.ts', () => {
    const { code, names } = compileAll();
    return [
      code,
      `const validators = { ${[...new Set(names.values())].join(', ')} };`,
      'export function compiled({ title }) {',
      '  const validate = validators[title];',
      "  if (!validate) throw new TypeError('no validator was compiled for ' + title);",
      '  return validate;',
      '}',
    ].join('\n');
  });
}

/** In the place of `src/protocol/precompiled.ts`, for ourselves. */
export function validatorsOfServer(): Plugin {
  return generatedModule('/src/protocol/precompiled.ts', () => {
    const { code, names } = compileAll();
    const byDigest = Array.from(names, ([schema, name]) => `'${digestOf(schema)}': ${name}`);
    return `${code}\nexport const precompiled = { ${[...new Set(byDigest)].join(', ')} };`;
  });
}

function generatedModule(path: string, generate: () => string): Plugin {
  return {
    name: `generated ${path}`,
    enforce: 'pre',
    load: (id) => (id.endsWith(path) ? generate() : undefined),
  };
}

/** The code of all validators, and the name that each has in it. */
function compileAll(): { code: string; names: Map<TSchema, string> } {
  const ajv = createAjv({ everyFault: false, code: { source: true, esm: true, formats: _`formats` } });
  const parts = new Map<string, object>();
  const names = new Map(schemas().map((schema) => [schema, shareParts(schema, parts).$ref]));
  for (const [title, schema] of parts) ajv.addSchema(schema, title);
  for (const title of parts.keys()) nameKeywords(ajv.getSchema(title));
  const titles = [...names.values()];
  const validators = standalone.default(ajv, Object.fromEntries(titles.map((title) => [title, title])));
  const code = [
    "import { checkGeometry, formats, isOneOfAnyCase } from './keywords.ts';",
    // Keywords are called as methods of the instance of Ajv, which is not there, and not used by ours.
    'const self = undefined;',
    ...importHelpers(validators),
  ];
  return { code: code.join('\n'), names };
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
  // Descriptions for readers would only make the module larger.
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

/** Schemas of sent and received messages, and of published files. */
function schemas(): TSchema[] {
  const all: Action[] = Object.values(actions);
  return [
    ...all.flatMap(({ body }) => (body ? [body.properties.context, body.properties.message] : [])),
    ...all.map(({ answer }) => answer),
    ...[Acknowledgement, ManifestOutline, DigestsFile, IndexOutline, IndexEntry, BaselineFile, ChangeFile],
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
