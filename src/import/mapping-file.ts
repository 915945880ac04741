import { closed, oneOfTexts } from '../protocol/shapes.ts';
import { type Static, Type } from '../protocol/type.ts';
import { type PowerUnit, powerUnits } from './cell-values.ts';
import { perUnits } from './station.ts';

/**
 * A mapping as users write it, in YAML or JSON: how a row of a list becomes a charging station with its chargers.
 * docs/importing.md explains it to users; `mapping.ts` compiles it for reading rows.
 *
 * If several JSON types are allowed, the keywords of all types are side by side instead of in alternatives, so that a fault
 * names its place.
 */
const text = { type: 'string', minLength: 1 };
const texts = { type: ['string', 'array'], minLength: 1, minItems: 1, items: text };
const scalar = { type: ['string', 'number', 'boolean', 'null'] };

/** One value of the result: a template, several templates (the first one with a value counts), or more details. */
export type FieldText = string | string[] | FieldDetails;
export interface FieldDetails {
  from: string | string[];
  /** The value for each text; null: no value. */
  values?: Record<string, Scalar | null>;
  otherwise?: Scalar | null;
  as?: 'number' | 'date-time';
  unit?: PowerUnit;
  format?: string;
}
export type Scalar = string | number | boolean;

const field = Type.Unsafe<FieldText>({
  type: ['string', 'array', 'object'],
  minLength: 1,
  minItems: 1,
  items: text,
  required: ['from'],
  properties: {
    from: texts,
    values: { type: 'object', additionalProperties: scalar },
    otherwise: scalar,
    as: { enum: ['number', 'date-time'] },
    unit: { enum: powerUnits },
    format: { type: 'string', pattern: '^(?=.*YYYY)(?=.*MM)(?=.*DD)' },
  },
  additionalProperties: false,
  dependentRequired: { otherwise: ['values'], format: ['as'] },
});

const FileSection = closed({
  delimiter: Type.Optional(Type.String({ minLength: 1 })),
  encoding: Type.Optional(Type.String({ minLength: 1 })),
  skipLines: Type.Optional(Type.Integer({ minimum: 0, description: 'Before the header.' })),
  headerBeginsWith: Type.Optional(
    Type.String({ minLength: 1, description: 'The header is the first such line.' }),
  ),
  decimalComma: Type.Optional(Type.Boolean()),
  nothing: Type.Optional(Type.Array(Type.String(), { description: 'Texts that stand for an empty cell.' })),
});
export type FileSection = Static<typeof FileSection>;

/** Several connectors in one row: a JSON column, separate columns, or columns that count them. */
const ConnectorSection = closed({
  json: Type.Optional(Type.String({ minLength: 1 })),
  columns: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
  upTo: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Highest {n} in columns.' })),
  separator: Type.Optional(Type.String({ minLength: 1, description: 'Between the connectors in one cell.' })),
  counted: Type.Optional(Type.String({ pattern: '\\{type\\}' })),
});
export type ConnectorSection = Static<typeof ConnectorSection>;

const optionalField = Type.Optional(field);

function optionalFields<Name extends string>(...names: Name[]): Record<Name, typeof optionalField> {
  return Object.fromEntries(names.map((name) => [name, optionalField])) as Record<Name, typeof optionalField>;
}

const StationSection = closed({
  id: field,
  ...optionalFields('name', 'description', 'isActive', 'latitude', 'longitude', 'coordinates'),
  ...optionalFields('street', 'city', 'region', 'postalCode', 'country'),
});

const ChargerSection = Type.Unsafe<Record<string, FieldText>>({
  type: 'object',
  properties: { id: field, name: field, description: field, type: field },
  patternProperties: { '^attributes\\.[^.]': field },
  additionalProperties: false,
});

const PriceSection = closed({
  ...optionalFields('perKwh', 'perMinute', 'perHour', 'perSession', 'parkingPerMinute', 'parkingPerHour'),
  currency: field,
  ...optionalFields('taxIncluded', 'taxPercent', 'validFrom', 'validUntil', 'name'),
});

export const MappingFile = closed(
  {
    title: Type.Optional(Type.String()),
    file: Type.Optional(FileSection),
    per: Type.Optional(oneOfTexts(perUnits)),
    only: Type.Optional(
      Type.Unsafe<Record<string, string | string[]>>({ type: 'object', additionalProperties: texts }),
    ),
    operator: closed({ id: field, name: field }),
    station: StationSection,
    connectors: Type.Optional(ConnectorSection),
    charger: Type.Optional(ChargerSection),
    prices: Type.Optional(PriceSection),
    ignore: Type.Optional(
      Type.Unsafe<string[] | '*'>({ type: ['array', 'string'], items: text, pattern: '^\\*$' }),
    ),
  },
  { title: 'Mapping' },
);
export type MappingFile = Static<typeof MappingFile>;
