import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import type { DiscoverMessage, RankedResource } from '../../protocol/discover-messages.ts';
import { Pagination, titled } from '../../protocol/shapes.ts';
import { type Static, Type } from '../../protocol/type.ts';
import type { LeftOut } from '../../rules/discover/page-answer.ts';

export const NearMiss = Type.Object({
  code: Type.String({ examples: ['unknown-path'] }),
  message: Type.String(),
  path: Type.Optional(Type.String({ description: 'The wrong value in the request.' })),
  suggestion: Type.Optional(Type.String({ description: 'What was probably meant.' })),
});
export type NearMiss = Static<typeof NearMiss>;

const ExplainStep = Type.Object({ step: Type.String(), ms: Type.Optional(Type.Number()) });

export const FindAnswer = titled('FindAnswer', {
  catalogs: Type.Array(Type.Unsafe<ReceivedCatalog>({}), {
    description: 'As in the message of on_discover.',
  }),
  resourceCount: Type.Integer({ description: 'Resources in the answer.' }),
  total: Type.Integer({ description: 'Resources that match.' }),
  orMore: Type.Boolean({ description: 'There may be more: above 1,000, matches are not counted.' }),
  pagination: Type.Optional(Pagination),
  ranking: Type.Optional(
    Type.Array(Type.Unsafe<RankedResource>({}), {
      description:
        'All resources of the answer in order, with rank and distanceMeters, as on_discover has them.',
    }),
  ),
  leftOut: Type.Optional(Type.Unsafe<LeftOut>({ description: 'Matches that are not in the answer.' })),
  nearMisses: Type.Array(NearMiss, { description: 'Near misses, if nothing was found.' }),
  explain: Type.Object({
    steps: Type.Array(ExplainStep),
    ms: Type.Number({ description: 'How long the search took.' }),
  }),
  request: Type.Unsafe<{ context: object; message: DiscoverMessage }>({
    description: 'The body of a discover with the same intent.',
  }),
});
export type FindAnswer = Static<typeof FindAnswer>;

export const WhyAnswer = titled('WhyAnswer', {
  found: Type.Boolean(),
  resource: Type.Optional(Type.Unknown({ description: 'The resource that was checked.' })),
  rank: Type.Optional(Type.Integer({ description: 'Its position among all that match, from 1.' })),
  checks: Type.Array(
    Type.Object({
      check: Type.String({ examples: ['filter'] }),
      ok: Type.Boolean(),
      detail: Type.String(),
      got: Type.Optional(Type.Unknown({ description: 'The value found there instead.' })),
    }),
  ),
  conclusion: Type.String(),
  nextStep: Type.Optional(Type.String()),
});
export type WhyAnswer = Static<typeof WhyAnswer>;

const Field = titled('Field', {
  path: Type.String({
    description: 'Path from the resource or offer. [*] means any element: a filter uses [?@…] there.',
    examples: ['@.resourceAttributes.attributes.ratedPower.value'],
  }),
  label: Type.String({ examples: ['Rated power'] }),
  kind: Type.Enum(['enum', 'number', 'boolean', 'text']),
  unit: Type.Optional(Type.String({ examples: ['kW'] })),
  values: Type.Optional(Type.Array(Type.Object({ value: Type.String(), count: Type.Integer() }))),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
});
export type Field = Static<typeof Field>;

const TypeFields = Type.Object({
  type: Type.String({ description: 'Schema context and type.' }),
  label: Type.String(),
  resources: Type.Integer(),
  fields: Type.Array(Field),
  offers: Type.Array(Field, { description: 'Fields of the offers for resources of this type.' }),
});

export const FieldsAnswer = Type.Object({ types: Type.Array(TypeFields), offers: Type.Array(Field) });
export type FieldsAnswer = Static<typeof FieldsAnswer>;
