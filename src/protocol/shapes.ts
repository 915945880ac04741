/** Shapes that many messages share (catalog spec: Other shapes, Limits). `closed` objects refuse unknown members, `Type.Object` is open, `oneOfTexts` is an enumeration of strings. */
import {
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchemaOptions,
  Type,
} from './type.ts';

/** An object of a request in which an unknown member is a fault (SCH_FIELD_NOT_ALLOWED). */
export function closed<P extends TProperties>(properties: P, options: TObjectOptions = {}): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** Objects with a title, under which the OpenAPI documents list them: open, and closed. */
export function titled<P extends TProperties>(title: string, properties: P): TObject<P> {
  return Type.Object(properties, { title });
}

export function closedTitled<P extends TProperties>(title: string, properties: P): TObject<P> {
  return closed(properties, { title });
}

export function oneOfTexts<const V extends string[]>(values: readonly [...V], options: TSchemaOptions = {}) {
  return Type.Enum<V>(values, { type: 'string', ...options });
}

/** One of some texts in any case, by a keyword of our own: JSON Schema has none. */
export function oneOfTextsAnyCase(values: readonly string[], options: TSchemaOptions = {}) {
  return Type.String({ ...options, 'x-enum-any-case': values });
}

/** 1 to 512 characters is our limit; the specification names none. */
export const Id = Type.String({ minLength: 1, maxLength: 512 });

export const Uri = Type.String({ format: 'uri' });
export const DateTime = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00Z'] });

export const maxNetworkIdLength = 512;

export const NetworkId = Type.String({
  minLength: 1,
  maxLength: maxNetworkIdLength,
  description: 'A registered network, as namespace_id/registry_id.',
  examples: ['nfh.global/beckn-nodes'],
});

export const SchemaType = Type.String({
  minLength: 1,
  description: 'A schema context URI, optionally with #Type. Compared as text.',
  examples: ['https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld'],
});

/** An id that is no UUID is CTX_INVALID_FIELD, in a body and in a query string. */
export const SubscriptionId = Type.String({
  format: 'uuid',
  description: 'Assigned by the service.',
  'x-error-code': 'CTX_INVALID_FIELD',
});

/** catalog spec: Limits; `offset` ends where integers stop being exact. */
export const Limit = Type.Integer({ minimum: 1, maximum: 100, default: 20 });
export const Offset = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 });

export const Pagination = titled('Pagination', {
  total: Type.Integer({ minimum: 0 }),
  limit: Type.Integer({ minimum: 0 }),
  offset: Type.Integer({ minimum: 0 }),
});
export type Pagination = Static<typeof Pagination>;

/** On reading, the code is any text: a peer may know codes that we do not. */
export const ErrorReport = titled('Error', {
  code: Type.String({ description: 'A canonical ErrorCode.', examples: ['SCH_INVALID_ENUM'] }),
  message: Type.String({ description: 'For a person.' }),
  details: Type.Optional(
    Type.Object({ path: Type.Optional(Type.String({ description: 'JSONPath to the wrong value.' })) }),
  ),
});
