import fc from 'fast-check';

/** Finds the schema of a `$ref`. */
export type Resolve = (reference: string) => object;

/** Values that a schema accepts, for the keywords that our schemas use: from a TypeBox schema or plain JSON. */
export function arbitraryValue(schema: object, resolve?: Resolve): fc.Arbitrary<unknown> {
  const keywords = schema as Keywords;
  const within = (inner: object) => arbitraryValue(inner, resolve);
  if (keywords.$ref !== undefined && resolve) return within(resolve(keywords.$ref));
  if (keywords['x-geojson']) return fc.constantFrom(...geometries);
  if (keywords['x-enum-any-case']) return anyCase(keywords['x-enum-any-case']);
  if (keywords.enum) return fc.constantFrom(...keywords.enum);
  if ('const' in keywords) return fc.constant(keywords.const);
  if (keywords.type === undefined && keywords.anyOf) return fc.oneof(...keywords.anyOf.map(within));
  switch (keywords.type) {
    case 'object':
      return arbitraryObject(keywords, within);
    case 'array':
      return fc.array(within(keywords.items ?? {}), { minLength: keywords.minItems ?? 0, maxLength: 3 });
    case 'integer':
      return fc.integer({ min: keywords.minimum, max: Math.min(keywords.maximum ?? 1e6, 1e6) });
    case 'number':
      return fc.double({ min: keywords.minimum, max: 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return arbitraryText(keywords);
  }
  if (Array.isArray(keywords.type)) return fc.constant('$.catalogs[*].provider.availableAt[*].geo');
  return fc.jsonValue({ maxDepth: 1 });
}

function arbitraryObject(
  keywords: Keywords,
  within: (schema: object) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const { properties = {} } = keywords;
  // One of the alternatives always applies, chosen at random.
  const alternatives = fc.constantFrom<Partial<Keywords>>(...(keywords.anyOf ?? [{}]));
  return alternatives.chain(({ required = [], properties: narrower = {} }) => {
    const together = Object.keys(keywords.dependentRequired ?? {});
    const requiredKeys = [...(keywords.required ?? []), ...required, ...together];
    const model = Object.fromEntries(
      Object.entries({ ...properties, ...narrower }).map(([name, schema]) => [name, within(schema)]),
    );
    return fc.record(model, { requiredKeys, noNullPrototype: true });
  });
}

function arbitraryText({ format, pattern, minLength = 0, maxLength = 20 }: Keywords): fc.Arbitrary<string> {
  const samples = (pattern && texts[pattern]) ?? (format && texts[format]);
  if (samples) return fc.constantFrom(...samples);
  if (format || pattern) throw new Error(`no sample text for ${format ?? pattern}`);
  return fc.string({ minLength, maxLength: Math.min(maxLength, 20), unit: 'binary' });
}

function anyCase(values: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...values).chain((value) => fc.constantFrom(value, value.toLowerCase()));
}

const texts: Record<string, string[]> = {
  uri: ['https://schema.example.org/A/v1/context.jsonld', 'urn:example:a'],
  '^[hH][tT][tT][pP][sS]?://': ['https://node.example.org/beckn', 'http://127.0.0.1:4002'],
  uuid: ['0b6b2f6e-5b86-4a43-8a3c-0b7a6a2c1f01'],
  'date-time': ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.123+05:30'],
  'date-or-date-time': ['2026-03-01', '2026-03-01T12:00:00Z'],
  'time-of-day': ['08:30', '22:00:00Z'],
  duration: ['PT30S', 'P1Y2M3DT4H5M6.7S'],
  '^BLAKE(2b)?-512=[A-Za-z0-9+/]+=*$': ['BLAKE-512=b6lf6lRgOweajukcvcLsag=='],
  '^sha256:[0-9A-Fa-f]{64}$': [`sha256:${'5f'.repeat(32)}`],
};

const geometries = [
  { type: 'Point', coordinates: [77.6, 12.9] },
  {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
    ],
  },
  {
    type: 'GeometryCollection',
    geometries: [
      {
        type: 'MultiPoint',
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
    ],
  },
];

interface Keywords {
  $ref?: string;
  type?: string | string[];
  enum?: string[];
  const?: unknown;
  properties?: Record<string, object>;
  items?: object;
  anyOf?: Partial<Keywords>[];
  required?: string[];
  dependentRequired?: Record<string, string[]>;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  minimum?: number;
  maximum?: number;
  'x-geojson'?: boolean;
  'x-enum-any-case'?: string[];
}
