/** discover and on_discover (catalog spec: POST /discover, POST /on_discover): the schema, and constraints between the parts of an intent. */

import { ReceivedCatalog } from './catalog.ts';
import { Context, envelope, openEnvelope } from './context.ts';
import type { ErrorCode, ProtocolError } from './errors.ts';
import { faultAt, type Segments } from './fault.ts';
import { Geometry } from './geojson.ts';
import { closed, closedTitled, Offset, oneOfTexts, oneOfTextsAnyCase, Pagination } from './shapes.ts';
import { type Static, Type } from './type.ts';

export const spatialOperators = [
  'S_INTERSECTS',
  'S_DISJOINT',
  'S_WITHIN',
  'S_CONTAINS',
  'S_OVERLAPS',
  'S_CROSSES',
  'S_TOUCHES',
  'S_EQUALS',
  'S_DWITHIN',
] as const;
export type SpatialOperator = (typeof spatialOperators)[number];

const spatialQuantifiers = ['ANY', 'ALL', 'NONE'] as const;
export type SpatialQuantifier = (typeof spatialQuantifiers)[number];

const operation = oneOfTextsAnyCase(spatialOperators, {
  description:
    'In upper or lower case. The field is called op or operation; predicate(stored geometry, query geometry).',
  examples: ['S_DWITHIN'],
});

export const SpatialEntry = closedTitled('SpatialEntry', {
  op: Type.Optional(operation),
  operation: Type.Optional(operation),
  targets: Type.Unsafe<string | string[]>({
    type: ['string', 'array'],
    items: { type: 'string' },
    minItems: 1,
    description: 'Absolute JSONPath to the geo field, exactly as it was indexed; or several of them.',
    examples: ['$.catalogs[*].provider.availableAt[*].geo'],
  }),
  geometry: Geometry,
  distanceMeters: Type.Optional(
    Type.Number({ minimum: 0, description: 'Required for S_DWITHIN, ignored for the others.' }),
  ),
  quantifier: Type.Optional(
    oneOfTextsAnyCase(spatialQuantifiers, {
      default: 'ANY',
      description: 'How many of the geometries under the target must satisfy the predicate.',
    }),
  ),
  srid: Type.Optional(oneOfTexts(['EPSG:4326'])),
});
export type SpatialEntry = Static<typeof SpatialEntry>;

const IntentFilters = closedTitled('IntentFilters', {
  type: oneOfTexts(['jsonpath']),
  expression: Type.String({
    description:
      'RFC 9535, absolute; $ is the payload root, so that resources are $.catalogs[*].resources[*].',
    examples: ["$.catalogs[*].resources[?@.resourceAttributes.attributes.connectorType == 'CCS2']"],
  }),
});

export const Intent = closed(
  {
    textSearch: Type.Optional(Type.String({ description: 'Free text; no operators.' })),
    filters: Type.Optional(IntentFilters),
    spatial: Type.Optional(Type.Array(SpatialEntry, { description: 'All of them must be satisfied.' })),
    mediaSearch: Type.Optional(Type.Unknown({ description: 'Not implemented: NET_NOT_IMPLEMENTED.' })),
  },
  { title: 'Intent', description: 'At least one of textSearch, filters and spatial, in any combination.' },
);
export type Intent = Static<typeof Intent>;

export const DiscoverMessage = closedTitled('DiscoverMessage', {
  intent: Intent,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description:
        'Counts resources. With limit or offset, on_discover says in message.pagination which page it is. Without both it has no ' +
        'pagination, and up to 1,000 resources. Both end, between two resources, before 8 MiB.',
    }),
  ),
  offset: Type.Optional(Offset),
});
export type DiscoverMessage = Static<typeof DiscoverMessage>;

export const DiscoverRequest = envelope('DiscoverRequest', Context, DiscoverMessage);

const RankedResource = Type.Object({
  catalogId: Type.String(),
  resourceId: Type.String(),
  rank: Type.Optional(Type.Number({ description: 'Of a text search: higher is better.' })),
  distanceMeters: Type.Optional(
    Type.Number({ description: 'To the geometry that matched, if S_DWITHIN was used.' }),
  ),
});
export type RankedResource = Static<typeof RankedResource>;

export const OnDiscoverMessage = Type.Object(
  {
    catalogs: Type.Array(ReceivedCatalog, { minItems: 1 }),
    pagination: Type.Optional(Pagination),
    ranking: Type.Optional(
      Type.Array(RankedResource, { description: 'The resources of the page in order, across catalogs.' }),
    ),
  },
  {
    title: 'OnDiscoverMessage',
    description:
      'It has `pagination` and `ranking` only where the request had limit or offset. `total` is exact up to 1,000, and a lower bound above.',
  },
);
export type OnDiscoverMessage = Static<typeof OnDiscoverMessage>;

export const OnDiscoverCallback = openEnvelope('OnDiscoverCallback', Context, OnDiscoverMessage);

/** The beginning of the message of BIZ_NO_RESULTS_FOUND; the near misses follow. */
export const nothingMatches = 'Nothing matches the intent.';

export interface SpatialConstraint {
  operator: SpatialOperator;
  quantifier: SpatialQuantifier;
  targets: string[];
  geometry: Geometry;
  /** Only set for S_DWITHIN. */
  distanceMeters?: number;
}

export function checkDiscoverMessage({ intent }: DiscoverMessage): void {
  if (intent.mediaSearch !== undefined)
    throw fault('NET_NOT_IMPLEMENTED', ['mediaSearch'], 'is not supported');
  const hasText = intent.textSearch !== undefined && intent.textSearch.trim() !== '';
  if (!hasText && !intent.filters && !intent.spatial?.length)
    throw fault('SCH_REQUIRED_FIELD_MISSING', [], 'must have at least one of textSearch, filters, spatial');
  spatialConstraints(intent);
}

/** Reads the spatial entries of an intent; throws if operator and distance do not match. */
export function spatialConstraints(intent: Intent): SpatialConstraint[] {
  return (intent.spatial ?? []).map((entry, index) => {
    const operator = spatialOperator(entry, index);
    if (operator === 'S_DWITHIN' && entry.distanceMeters === undefined)
      throw fault('SCH_REQUIRED_FIELD_MISSING', ['spatial', index, 'distanceMeters'], 'is missing');
    return {
      operator,
      quantifier: (entry.quantifier ?? 'ANY').toUpperCase() as SpatialQuantifier,
      targets: [entry.targets].flat(),
      geometry: entry.geometry,
      ...(operator === 'S_DWITHIN' && { distanceMeters: entry.distanceMeters }),
    };
  });
}

function spatialOperator({ op, operation }: SpatialEntry, index: number): SpatialOperator {
  const name = (op ?? operation)?.toUpperCase();
  if (name === undefined) throw fault('SCH_REQUIRED_FIELD_MISSING', ['spatial', index, 'op'], 'is missing');
  if (operation !== undefined && operation.toUpperCase() !== name)
    throw fault('SCH_SCHEMA_VALIDATION_FAILED', ['spatial', index, 'operation'], 'contradicts op');
  return name as SpatialOperator;
}

function fault(code: ErrorCode, at: Segments, problem: string): ProtocolError {
  return faultAt(code, ['message', 'intent', ...at], problem);
}

/** Header of the acknowledgement and the callback with the number of resources in a truncated answer. If the request did not page, no member could carry it. */
export const truncatedHeader = 'signpost-truncated';

export function truncatedHeaders(resources: number | null | undefined): Record<string, string> {
  return resources === null || resources === undefined ? {} : { [truncatedHeader]: String(resources) };
}

export function readTruncated(header: string | null | undefined): number | undefined {
  return header && /^\d+$/.test(header) ? Number(header) : undefined;
}
