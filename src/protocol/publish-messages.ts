/**
 * catalog/publish, catalog/push and catalog/on_publish (catalog spec: POST /catalog/publish, push, on_publish; publishDirectives). The schema sees one object at a time; `checkPublishMessage` looks at what
 * must agree between them. Everything else is reported on on_publish.
 */

import { Catalog, CatalogType } from './catalog.ts';
import { Context, envelope, openEnvelope } from './context.ts';
import type { ProtocolError } from './errors.ts';
import { faultAt, type Segments } from './fault.ts';
import { closed, closedTitled, ErrorReport, Id, NetworkId, oneOfTexts, titled } from './shapes.ts';
import { type Static, Type } from './type.ts';

export const Variant = Type.Object(
  {
    type: Type.String({ minLength: 1, description: 'Any text that groups variants.' }),
    id: Type.String({ minLength: 1, description: 'Identifies the variant within its type.' }),
    label: Type.Optional(Type.String({ description: 'For a person.' })),
  },
  { title: 'Variant', examples: [{ type: 'geo', id: 'bangalore', label: 'Bangalore region' }] },
);
export type Variant = Static<typeof Variant>;

export const ResourceDirective = closedTitled('ResourceDirective', {
  resourceId: Type.String({
    ...Id,
    description: "A resource of the directive's catalog in the same request.",
  }),
  extends: closed({
    masterResourceId: Type.String({
      ...Id,
      description: 'A resource of a MASTER catalog of the same network, whose attributes are inherited.',
    }),
  }),
  variant: Type.Optional(Variant),
});
export type ResourceDirective = Static<typeof ResourceDirective>;

export const PublishDirective = closedTitled('PublishDirective', {
  catalogId: Type.String({ ...Id, description: 'A catalog of the same request.' }),
  catalogType: CatalogType,
  updateMode: Type.Optional(
    oneOfTexts(['MERGE', 'FULL'], {
      default: 'MERGE',
      description:
        'MERGE upserts by id and keeps what the request does not name; FULL replaces the whole catalog.',
    }),
  ),
  visibleTo: Type.Optional(Type.Array(NetworkId, { minItems: 1, description: 'Default: global network.' })),
  resourceDirectives: Type.Optional(Type.Array(ResourceDirective, { description: 'For REGULAR catalogs.' })),
});
export type PublishDirective = Static<typeof PublishDirective>;

export const PublishMessage = closedTitled('PublishMessage', {
  catalogs: Type.Array(Catalog, { minItems: 1 }),
  publishDirectives: Type.Optional(
    Type.Array(PublishDirective, {
      description:
        'At most one per catalog; a catalog without one is REGULAR, merged, for the default network.',
    }),
  ),
});
export type PublishMessage = Static<typeof PublishMessage>;

export const PublishRequest = envelope('PublishRequest', Context, PublishMessage);

/** On a push, bppId and bppUri of the context name the catalog service that sends it. */
export const PushRequest = envelope('PushRequest', Context, PublishMessage);

export const PublishWarning = titled('PublishWarning', {
  message: Type.String({ description: 'For a person.' }),
  details: Type.Optional(
    Type.Object({ path: Type.Optional(Type.String({ description: 'JSONPath to the wrong value.' })) }),
  ),
});
export type PublishWarning = Static<typeof PublishWarning>;

export const PublishResult = titled('PublishResult', {
  catalogId: Type.String(),
  status: oneOfTexts(['ACCEPTED', 'REJECTED', 'PARTIAL']),
  stats: Type.Optional(
    Type.Object({
      itemCount: Type.Optional(Type.Integer({ minimum: 0, description: 'Resources accepted.' })),
      providerCount: Type.Optional(Type.Integer({ minimum: 0, description: 'Distinct provider ids.' })),
      categoryCount: Type.Optional(Type.Integer({ minimum: 0, description: 'Distinct @type values.' })),
    }),
  ),
  errors: Type.Optional(Type.Array(ErrorReport, { description: 'Present when REJECTED or PARTIAL.' })),
  warnings: Type.Optional(Type.Array(PublishWarning, { description: 'Probable mistakes.' })),
});
export type PublishResult = Static<typeof PublishResult>;

export const OnPublishMessage = titled('OnPublishMessage', {
  results: Type.Array(PublishResult, { description: 'One entry per submitted catalog.' }),
});
export type OnPublishMessage = Static<typeof OnPublishMessage>;

export const OnPublishCallback = openEnvelope('OnPublishCallback', Context, OnPublishMessage);

/** Throws at the first catalog or directive that does not agree with the rest of the message. */
export function checkPublishMessage(message: PublishMessage): void {
  for (const fault of findDisagreements(message)) throw fault;
}

/** The catalogs and directives that do not agree with the rest of the message. */
export function* findDisagreements(message: PublishMessage): Generator<ProtocolError> {
  yield* findRepeats(message.catalogs, ['message', 'catalogs']);
  for (const [index, catalog] of message.catalogs.entries()) {
    yield* findRepeats(catalog.resources, ['message', 'catalogs', index, 'resources']);
    yield* findRepeats(catalog.offers, ['message', 'catalogs', index, 'offers']);
  }
  const catalogs = new Map(message.catalogs.map((catalog) => [catalog.id, catalog]));
  const directed = new Set<string>();
  for (const [index, directive] of (message.publishDirectives ?? []).entries()) {
    const at = ['message', 'publishDirectives', index];
    const catalog = catalogs.get(directive.catalogId);
    if (!catalog) yield broken([...at, 'catalogId'], 'names no catalog of this request');
    else if (directed.has(catalog.id))
      yield broken([...at, 'catalogId'], 'names a catalog that already has a directive');
    else yield* findWrongDirectives(directive, catalog, at);
    directed.add(directive.catalogId);
  }
}

function* findWrongDirectives(
  { catalogType, resourceDirectives }: PublishDirective,
  catalog: Catalog,
  at: Segments,
): Generator<ProtocolError> {
  if (!resourceDirectives) return;
  const here = [...at, 'resourceDirectives'];
  if (catalogType === 'MASTER') yield broken(here, 'is only for REGULAR catalogs');
  const resourceIds = new Set(catalog.resources?.map((resource) => resource.id));
  const variants = new Set<string>();
  for (const [index, { resourceId, extends: template, variant }] of resourceDirectives.entries()) {
    if (!resourceIds.has(resourceId))
      yield broken([...here, index, 'resourceId'], 'names no resource of this catalog in this request');
    if (!variant) continue;
    const key = JSON.stringify([template.masterResourceId, variant.type, variant.id]);
    const problem = 'repeats type and id of another variant of the same master resource';
    if (variants.has(key)) yield broken([...here, index, 'variant'], problem);
    variants.add(key);
  }
}

function* findRepeats(items: readonly { id: string }[] | undefined, at: Segments): Generator<ProtocolError> {
  const seen = new Set<string>();
  for (const [index, { id }] of (items ?? []).entries()) {
    if (seen.has(id)) yield broken([...at, index, 'id'], 'is the id of an earlier one');
    seen.add(id);
  }
}

function broken(segments: Segments, problem: string): ProtocolError {
  return faultAt('SCH_SCHEMA_VALIDATION_FAILED', segments, problem);
}
