import { type Html, html } from './html.ts';
import type { JsonSchema, OpenApiDocument } from './openapi.ts';

// A JSON Schema as a person reads it: its members as a list that unfolds, and an example of a value.

/** The members of an object, each with its type, what it must be, and what it holds. */
export function membersView(schema: JsonSchema, document: OpenApiDocument, depth = 0): Html {
  const { properties = {}, required = [] } = resolve(schema, document) as ObjectSchema;
  const rows = Object.entries(properties).map(([name, member]) =>
    memberView(name, member, required.includes(name), document, depth),
  );
  return html`<ul class="members">${rows}</ul>`;
}

interface ObjectSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

const unfoldedDepth = 1;
const maxDepth = 10;

function memberView(
  name: string,
  given: JsonSchema,
  required: boolean,
  document: OpenApiDocument,
  depth: number,
): Html {
  const schema = resolve(given, document);
  const inner = resolve((schema.items as JsonSchema | undefined) ?? schema, document);
  const holds = inner.properties !== undefined && depth < maxDepth;
  const head = html`<code class="name">${name}</code> <span class="type">${typeOf(schema, document)}</span>
    ${required && html`<span class="required">required</span>`} ${rulesOf(schema).map((rule) => html`<span class="rule">${rule}</span> `)}
    ${typeof schema.description === 'string' && html`<p>${schema.description}</p>`}`;
  if (!holds) return html`<li>${head}</li>`;
  // Every body has the same context; what differs is the rest.
  const open = depth < unfoldedDepth && name !== 'context' ? html` open` : '';
  return html`<li><details${open}><summary>${head}</summary>${membersView(inner, document, depth + 1)}</details></li>`;
}

function typeOf(schema: JsonSchema, document: OpenApiDocument): string {
  if (schema.items !== undefined)
    return `array of ${typeOf(resolve(schema.items as JsonSchema, document), document)}`;
  if (typeof schema.title === 'string') return schema.title;
  if (schema.enum !== undefined) return 'one of';
  const type = [schema.type ?? 'any'].flat().join(' or ');
  return typeof schema.format === 'string' ? `${type}, ${schema.format}` : type;
}

/** What a value must be, beyond its type. */
function rulesOf(schema: JsonSchema): string[] {
  const values = schema.enum ?? schema['x-enum-any-case'];
  const [least, most] = [schema.minimum, schema.maximum].map((bound) => bound ?? undefined);
  const unbounded = most === undefined || most === Number.MAX_SAFE_INTEGER;
  return [
    Array.isArray(values) ? values.map(String).join(' · ') : '',
    least !== undefined && !unbounded ? `${least} to ${most}` : '',
    least !== undefined && unbounded ? `at least ${least}` : '',
    typeof schema.maxLength === 'number' ? `${schema.minLength ?? 0} to ${schema.maxLength} characters` : '',
    schema.minItems !== undefined ? `at least ${schema.minItems} of them` : '',
    schema.default !== undefined ? `default ${JSON.stringify(schema.default)}` : '',
    schema.additionalProperties === false ? 'no other members' : '',
  ].filter((rule) => rule !== '');
}

/** A value that the schema lets pass, with the members that it asks for and those that it has an example of. */
export function sampleOf(given: JsonSchema, document: OpenApiDocument, name = '', depth = 0): unknown {
  const schema = resolve(given, document);
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const [first] = [schema.enum ?? schema['x-enum-any-case'] ?? []].flat();
  if (first !== undefined) return first;
  if (schema.items !== undefined)
    return depth > maxDepth ? [] : [sampleOf(schema.items as JsonSchema, document, name, depth + 1)];
  if (schema.properties !== undefined) return sampleObject(schema, document, depth);
  return sampleScalar(schema, name);
}

function sampleObject(schema: JsonSchema, document: OpenApiDocument, depth: number): unknown {
  const { properties = {}, required = [] } = schema as ObjectSchema;
  const [alternative] = [schema.anyOf ?? []].flat() as { required?: string[] }[];
  const wanted = new Set([...required, ...(alternative?.required ?? []), 'messageId']);
  const members = Object.entries(properties)
    .filter(([name]) => wanted.has(name) && depth < maxDepth)
    .map(([name, member]) => [name, sampleOf(member, document, name, depth + 1)]);
  return Object.fromEntries(members);
}

function sampleScalar({ type, format, minimum }: JsonSchema, name: string): unknown {
  switch ([type].flat()[0]) {
    case 'integer':
    case 'number':
      return minimum ?? 0;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return sampleTexts[String(format)] ?? sampleNames[name] ?? '…';
  }
}

const sampleTexts: Record<string, string> = {
  uri: 'https://provider.example',
  uuid: '1b4e28ba-2fa1-41d2-883f-0016d3cca427',
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  'date-or-date-time': '2026-01-31',
  duration: 'PT30S',
};

const sampleNames: Record<string, string> = {
  action: 'catalog/publish',
  messageId: '0a6f0d3c-5f0b-4b52-9d64-6e1c6a6f2c11',
  transactionId: 'b9f4a7de-23c1-4f0e-8d53-1f6d2a3c7e90',
  bppId: 'provider.example',
  bapId: 'discovery.example',
  url: 'https://provider.example',
  name: 'A name',
  id: 'an-id',
};

/** A schema, or the component that it refers to. */
function resolve(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
  const target =
    typeof schema.$ref === 'string' ? schema.$ref.replace('#/components/schemas/', '') : undefined;
  return target === undefined ? schema : (document.components.schemas[target] ?? {});
}
