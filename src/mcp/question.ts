import { parseInstant } from '../protocol/time.ts';
import { type Static, Type } from '../protocol/type.ts';
import { locationTargets } from '../rules/hit.ts';
import { quote } from './clean.ts';
import type { Intent } from './client.ts';
import { type McpContext, ToolError } from './tool.ts';

// Converts an assistant's question to the intent of a discover. Price and availability are not part of an intent: hits.ts applies them.

const closed = { additionalProperties: false } as const;
const operators = ['==', '!=', '<', '<=', '>', '>=', 'in', 'contains', 'exists'] as const;
type Scalar = string | number | boolean;

const Near = Type.Object(
  {
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    radiusMeters: Type.Number({ minimum: 1, maximum: 500_000 }),
  },
  { ...closed, description: 'Only within radiusMeters of this point, in decimal degrees.' },
);

const Filter = Type.Object(
  {
    field: Type.String({ maxLength: 300, description: 'A path as describe_network lists it.' }),
    operator: Type.Unsafe<(typeof operators)[number]>({ type: 'string', enum: [...operators] }),
    value: Type.Optional(
      Type.Unsafe<Scalar | Scalar[]>({
        description: 'String, number or boolean; a list for "in"; a text for "contains"; none for "exists".',
      }),
    ),
  },
  closed,
);
type Filter = Static<typeof Filter>;

const PriceBounds = Type.Object(
  {
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217, e.g. INR.' })),
    unit: Type.Optional(
      Type.String({ maxLength: 40, description: 'As in a hit. Default: kWh, or what a hit names first.' }),
    ),
  },
  {
    ...closed,
    description: 'Only resources that have such a price at the given time. It may never cost more than max.',
  },
);

export const At = Type.String({
  format: 'date-time',
  description: 'The time of the question. Default: now.',
});

export function readTime({ at }: { at?: string }, { now }: McpContext): Date {
  return (at === undefined ? undefined : parseInstant(at)) ?? now();
}

/** Every part narrows the answer. */
export const questionMembers = {
  text: Type.Optional(Type.String({ maxLength: 500, description: 'Words in names and descriptions.' })),
  near: Type.Optional(Near),
  type: Type.Optional(Type.String({ maxLength: 200, description: 'Only this @type; see describe_network.' })),
  filters: Type.Optional(Type.Array(Filter, { maxItems: 10, description: 'All of them must match.' })),
  price: Type.Optional(PriceBounds),
  available: Type.Optional(
    Type.Boolean({ description: 'true: only resources with an offer that applies at that time.' }),
  ),
  at: Type.Optional(At),
  network: Type.Optional(Type.String({ maxLength: 300, description: 'Only this network, by its id.' })),
};
const Question = Type.Object(questionMembers, closed);
export type Question = Static<typeof Question>;

/** A part of a question, which can be removed to see what it excludes. */
export interface Part {
  says: string;
  intent?: Intent;
  /** On a resource (RFC 9535). */
  condition?: string;
}

export function listParts({ text = '', near, type, filters = [] }: Question): Part[] {
  const textSearch = text.trim();
  return [
    ...(textSearch === '' ? [] : [{ says: `text ${textSearch}`, intent: { textSearch } }]),
    ...(near ? [{ says: `near, ${near.radiusMeters} m`, intent: { spatial: [within(near)] } }] : []),
    ...(type
      ? [{ says: `type ${type}`, condition: `@.resourceAttributes['@type'] == ${JSON.stringify(type)}` }]
      : []),
    ...filters.map((filter) => ({
      says: `filter ${filter.field} ${filter.operator} ${JSON.stringify(filter.value) ?? ''}`,
      condition: spellFilter(filter),
    })),
  ];
}

export function idPart(ids: readonly string[]): Part {
  const conditions = ids.map((id) => `@.id == ${JSON.stringify(id)}`);
  return { says: `id ${ids[0]}`, condition: `(${conditions.join(' || ')})` };
}

/** Joins parts to one intent. Without parts, it requests everything. */
export function joinParts(parts: readonly Part[]): Intent {
  const conditions = parts.flatMap(({ condition }) => condition ?? []);
  const whole: Intent = Object.assign({}, ...parts.map(({ intent }) => intent));
  if (conditions.length === 0 && Object.keys(whole).length > 0) return whole;
  const selector = conditions.length === 0 ? '*' : `?${conditions.join(' && ')}`;
  return { ...whole, filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[${selector}]` } };
}

function within({ latitude, longitude, radiusMeters }: Static<typeof Near>) {
  const geometry = { type: 'Point' as const, coordinates: [longitude, latitude] };
  return { op: 'S_DWITHIN' as const, targets: locationTargets, geometry, distanceMeters: radiusMeters };
}

/** Below a list, the condition applies to its items: `a[*].b` is `@.a[?@.b == 1]`. */
function spellFilter(filter: Filter): string {
  const [last = [], ...lists] = splitAtLists(readSteps(filter.field)).reverse();
  const condition = compare(`@${last.join('')}`, filter);
  return lists.reduce((inner, steps) => `@${steps.join('')}[?${inner}]`, condition);
}

const roots = ['resourceAttributes', 'descriptor', 'id'];

function readSteps(field: string): string[] {
  const path = field.replace(/^(?:\$\.catalogs\[\*\]\.resources\[\*\]|@|resource)\./, '');
  const steps = path.match(/\[\*\]|[^.[\]'"\\]+/g) ?? [];
  const isRead = steps.join('').length === path.replaceAll('.', '').length;
  if (isRead && roots.includes(steps[0] ?? '')) return steps;
  throw new ToolError(
    `There is no field ${quote(field)} of a resource. Fields begin with resourceAttributes. or descriptor., for example resourceAttributes.attributes.connectorType; describe_network lists them.`,
  );
}

/** The steps before, between and after each `[*]`, in the notation of RFC 9535. */
function splitAtLists(steps: readonly string[]): string[][] {
  const split: string[][] = [[]];
  for (const step of steps)
    if (step === '[*]') split.push([]);
    else split.at(-1)?.push(/^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `['${step}']`);
  return split;
}

function compare(path: string, { field, operator, value }: Filter): string {
  if (operator === 'exists') return path;
  if (operator === 'in' && Array.isArray(value) && value.length > 0 && value.every(isScalar))
    return `(${value.map((one) => `${path} == ${JSON.stringify(one)}`).join(' || ')})`;
  if (operator === 'contains' && typeof value === 'string')
    return `search(${path}, ${JSON.stringify(value.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&'))})`;
  if (operator !== 'in' && operator !== 'contains' && isScalar(value))
    return `${path} ${operator} ${JSON.stringify(value)}`;
  throw new ToolError(
    `The filter on ${quote(field)} has a value that ${operator} does not take: see the schema of the tool.`,
  );
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
