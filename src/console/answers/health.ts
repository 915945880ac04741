import { titled } from '../../protocol/shapes.ts';
import { type Static, Type } from '../../protocol/type.ts';
import { troubleKinds } from '../../rules/troubles.ts';
import { NearMiss } from './find.ts';

const Time = Type.String({ format: 'date-time' });

export const Trouble = Type.Object({
  kind: Type.Enum([...troubleKinds]),
  role: Type.String(),
  what: Type.String(),
  since: Time,
  next: Type.String(),
});
export type Trouble = Static<typeof Trouble>;

export const Health = titled('Health', {
  healthy: Type.Boolean(),
  reasons: Type.Array(Type.String(), { description: 'Why it is not healthy.' }),
  processes: Type.Array(
    Type.Object({ process: Type.String(), roles: Type.Array(Type.String()), version: Type.String() }),
    { description: 'Those that have reported within the last two minutes.' },
  ),
});
export type Health = Static<typeof Health>;

export const Duplicate = Type.Object({
  nodes: Type.Array(Type.String(), { description: 'Identities of two nodes.' }),
  what: Type.String(),
  next: Type.String(),
});
export type Duplicate = Static<typeof Duplicate>;

/** Rates count per minute. */
export const seriesNames = [
  'publishRate',
  'discoverRate',
  'pushRate',
  'crawlRate',
  'discoverP50Ms',
  'discoverP99Ms',
  'publishP99Ms',
  'waitingCallbacks',
  'waitingPushes',
  'parked',
  'crawlDue',
  'databaseBytes',
  'resources',
  'eventLoopP99Ms',
  'rssBytes',
  'emptySearches',
  'errors',
] as const;

export type SeriesRow = [minuteEpochSeconds: number, ...(number | null)[]];

export const Series = titled('HealthSeries', {
  names: Type.Array(Type.String(), { examples: [[...seriesNames]] }),
  goals: Type.Record(Type.String(), Type.Number(), {
    description: 'Service-level goals: what a number should stay below.',
  }),
  rows: Type.Array(Type.Unsafe<SeriesRow>(Type.Array(Type.Union([Type.Number(), Type.Null()]))), {
    description: 'The minute in seconds since 1970, then a number for each name; null where it is not known.',
  }),
});
export type Series = Static<typeof Series>;

export const EmptySearch = Type.Object({
  at: Time,
  firstAt: Time,
  networkId: Type.Optional(Type.String()),
  intent: Type.Object({}),
  nearMisses: Type.Array(NearMiss),
  times: Type.Integer(),
});
export type EmptySearch = Static<typeof EmptySearch>;
