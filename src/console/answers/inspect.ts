import { titled } from '../../protocol/shapes.ts';
import { type Static, Type } from '../../protocol/type.ts';

const verdict = {
  verdict: Type.Enum(['discoverable', 'warnings', 'not']),
  because: Type.Optional(Type.String()),
  nextStep: Type.Optional(Type.String()),
};

const ChainLink = titled('ChainLink', {
  link: Type.String({ examples: ['manifest'] }),
  state: Type.Enum(['ok', 'warning', 'broken', 'unseen']),
  title: Type.String(),
  detail: Type.String(),
  expected: Type.Optional(Type.String()),
  got: Type.Optional(Type.String()),
  key: Type.Optional(Type.String({ description: 'Name of the key that signed it.' })),
  at: Type.Optional(Type.String({ format: 'date-time' })),
  bytes: Type.Optional(Type.Integer()),
  url: Type.Optional(Type.String()),
  code: Type.Optional(Type.String()),
  hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
  catalogId: Type.Optional(Type.String()),
});
export type ChainLink = Static<typeof ChainLink>;

const InspectedCatalog = Type.Object({
  catalogId: Type.String(),
  ...verdict,
  indexedVersion: Type.Optional(Type.Integer()),
  liveVersion: Type.Optional(Type.Integer()),
  source: Type.Enum(['crawl', 'service']),
});
export type InspectedCatalog = Static<typeof InspectedCatalog>;

const Issue = Type.Object({
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
  catalogId: Type.Optional(Type.String()),
  count: Type.Integer(),
  lastAt: Type.Optional(Type.String({ format: 'date-time' })),
});
export type Issue = Static<typeof Issue>;

const Copy = Type.Object({
  discovery: Type.String(),
  version: Type.Union([Type.Integer(), Type.Null()]),
  acknowledgedAt: Type.Optional(Type.String({ format: 'date-time' })),
  state: Type.String(),
});

export const Inspection = titled('Inspection', {
  kind: Type.Enum(['node', 'catalog', 'resource', 'unknown']),
  node: Type.Optional(Type.String()),
  catalogId: Type.Optional(Type.String()),
  resourceId: Type.Optional(Type.String()),
  ...verdict,
  chain: Type.Array(ChainLink),
  catalogs: Type.Array(InspectedCatalog),
  issues: Type.Array(Issue),
  copies: Type.Array(Copy),
});
export type Inspection = Static<typeof Inspection>;

export const Change = Type.Object({
  path: Type.String(),
  kind: Type.Enum(['added', 'removed', 'changed']),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});
export type Change = Static<typeof Change>;

export const Difference = Type.Object({
  indexed: Type.Union([Type.Integer(), Type.Null()], { description: 'Its version.' }),
  live: Type.Union([Type.Integer(), Type.Null()]),
  changes: Type.Array(Change),
  truncated: Type.Boolean({ description: 'There are more changes.' }),
});
export type Difference = Static<typeof Difference>;
