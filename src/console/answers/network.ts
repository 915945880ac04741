import { CatalogType } from '../../protocol/catalog.ts';
import { ResourceDirective } from '../../protocol/publish-messages.ts';
import { titled } from '../../protocol/shapes.ts';
import { type Static, Type } from '../../protocol/type.ts';
import { Change } from './inspect.ts';

const Time = Type.String({ format: 'date-time' });
const Names = Type.Array(Type.String());

export const Overview = titled('Overview', {
  catalogs: Type.Integer(),
  resources: Type.Integer(),
  participants: Type.Integer(),
  subscriptions: Type.Integer(),
  nodes: Type.Integer(),
  deliveries: Type.Object({
    waiting: Type.Integer(),
    parked: Type.Integer(),
    oldestWaitingAt: Type.Optional(Time),
  }),
  crawl: Type.Object({
    failing: Type.Integer({
      description:
        'Nodes where something could not be read recently: `failing` and `with failing catalogs` in the list of nodes.',
    }),
    failingCatalogs: Type.Integer({ description: 'Crawled catalogs that could not be read recently.' }),
  }),
  index: Type.Object({ version: Type.Integer(), resources: Type.Integer() }),
});
export type Overview = Static<typeof Overview>;

const ParticipantKey = Type.Object({
  recordId: Type.String(),
  publicKey: Type.String(),
  state: Type.String(),
  validFrom: Type.Optional(Time),
  validUntil: Type.Optional(Time),
});

export const Participant = Type.Object({
  identity: Type.String(),
  subscriberId: Type.String(),
  registry: Type.String(),
  type: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  networks: Names,
  keys: Type.Array(ParticipantKey),
});
export type Participant = Static<typeof Participant>;

export const Subscription = Type.Object({
  id: Type.String(),
  subscriber: Type.String(),
  url: Type.Optional(Type.String()),
  networkIds: Names,
  schemaTypes: Names,
  status: Type.String(),
  createdAt: Time,
});
export type Subscription = Static<typeof Subscription>;

export const Feed = Type.Object({
  catalogUrl: Type.String(),
  service: Type.Optional(Type.String()),
  networkId: Type.String({ description: 'Empty for every network.' }),
  state: Type.Enum(['cancelled', 'failing', 'subscribing', 'pulling', 'in step']),
  lastPullAt: Type.Optional(Time),
  nextAt: Type.Optional(Time),
  lastError: Type.Optional(Type.String()),
});
export type Feed = Static<typeof Feed>;

export const Master = Type.Object({
  catalogId: Type.String(),
  owner: Type.Optional(Type.String()),
  source: Type.Enum(['service', 'crawl']),
  networks: Names,
  dependents: Type.Array(
    Type.Object({
      catalogId: Type.String(),
      owner: Type.Union([Type.String(), Type.Null()]),
      networks: Names,
    }),
    { description: 'The first fifty.' },
  ),
  dependentCount: Type.Integer(),
  orMore: Type.Boolean({ description: 'More resources extend it than were checked.' }),
});
export type Master = Static<typeof Master>;

export const ReceiverName = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'The identity that pushes go to, or the origin that callbacks go to.',
});

export const Receiver = Type.Object({
  receiver: ReceiverName,
  kind: Type.Enum(['push', 'callback']),
  waiting: Type.Integer(),
  parked: Type.Integer(),
  orMore: Type.Boolean({ description: 'There are more than were counted: 10,000 of each at most.' }),
  oldestWaitingAt: Type.Optional(Time),
  nextTryAt: Type.Optional(Time),
  isTroubled: Type.Boolean({ description: 'Something is parked or fails.' }),
  lastAnswer: Type.Optional(
    Type.Object({
      at: Type.Optional(Time),
      status: Type.Optional(Type.Integer()),
      error: Type.Optional(Type.String()),
    }),
  ),
});
export type Receiver = Static<typeof Receiver>;

export const Replay = titled('Replayed', { callbacks: Type.Integer(), pushes: Type.Integer() });
export type Replay = Static<typeof Replay>;

/** States in order, failures first. */
export const deliveryStates = ['parked', 'open', 'delivered'] as const;

export const Delivery = Type.Object({
  id: Type.String({ examples: ['push-7', 'callback-12'] }),
  receiver: ReceiverName,
  action: Type.String(),
  about: Type.String({ description: 'The catalogId of a push, the messageId of a callback.' }),
  state: Type.Enum([...deliveryStates]),
  detail: Type.String({ description: 'Details: refused, no endpoint, skipped …' }),
  form: Type.Optional(
    Type.Enum(['full', 'strict'], {
      description: 'Form of the last attempt: everything, or strict form if the receiver has closed schemas.',
    }),
  ),
  attempts: Type.Integer({ description: 'For a push: failures in a row.' }),
  failingSince: Type.Optional(Time),
  nextTryAt: Type.Optional(Time),
  lastStatus: Type.Optional(Type.Integer()),
  lastError: Type.Optional(Type.String()),
  acknowledgedVersion: Type.Optional(Type.Integer({ description: 'For a push: version at the receiver.' })),
  version: Type.Optional(Type.Integer({ description: 'For a push: the current version.' })),
  createdAt: Type.Optional(Time),
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryHistory = titled('DeliveryHistory', {
  ...Delivery.properties,
  history: Type.Array(
    Type.Object({
      at: Time,
      durationMs: Type.Integer(),
      url: Type.String(),
      status: Type.Optional(Type.Integer({ description: 'Missing if there was no answer.' })),
      answer: Type.String({ description: 'The first kilobyte of the answer, or why there was none.' }),
      request: Type.String({ description: 'The first two kilobytes of the body.' }),
    }),
    { description: 'The last ten requests, the oldest first; empty if the first one succeeded.' },
  ),
});
export type DeliveryHistory = Static<typeof DeliveryHistory>;

export const nodeStandings = [
  'not crawled yet',
  'failing',
  'with failing catalogs',
  'nothing published',
  'read',
  'no longer crawled',
] as const;

export const CrawledNode = Type.Object({
  node: Type.String(),
  state: Type.Enum([...nodeStandings]),
  catalogs: Type.Integer(),
  failing: Type.Integer({ description: 'Catalogs and indexes that could not be read recently.' }),
  lastLookAt: Type.Optional(Time),
  nextAt: Type.Optional(Time),
  lastCode: Type.Optional(
    Type.String({ description: 'The code of the last line of the crawl log: the cause, not its effect.' }),
  ),
  lastMessage: Type.Optional(Type.String()),
  lastLineAt: Type.Optional(Time),
});
export type CrawledNode = Static<typeof CrawledNode>;

export const LogLine = Type.Object({
  id: Type.Integer(),
  node: Type.String(),
  catalogId: Type.Optional(Type.String()),
  indexUrl: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  document: Type.Optional(Type.String({ description: 'Which document it is about.' })),
  code: Type.String({ examples: ['digest-mismatch'] }),
  message: Type.String(),
  hint: Type.String(),
  firstAt: Type.String({ format: 'date-time' }),
  at: Type.String({ format: 'date-time' }),
  times: Type.Integer(),
});
export type LogLine = Static<typeof LogLine>;

export const AuditLine = Type.Object({
  id: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  action: Type.String({ examples: ['deliveries.replay'] }),
  target: Type.String(),
  outcome: Type.String({ description: '`done`, or the reason for the failure.' }),
  actor: Type.Enum(['console', 'cli']),
  operator: Type.String({
    description: 'The name of the operator at the console, or the system user that ran a command.',
  }),
  from: Type.Optional(Type.String({ description: 'The address that a request to the console came from.' })),
});
export type AuditLine = Static<typeof AuditLine>;

export const CatalogSource = Type.Enum(['service', 'push', 'pull', 'crawl']);

export const CatalogSummary = Type.Object({
  catalogId: Type.String(),
  name: Type.Optional(Type.String()),
  owner: Type.Optional(
    Type.String({ description: 'Identity of the publisher; missing if the id was released.' }),
  ),
  source: CatalogSource,
  service: Type.Optional(Type.String({ description: 'The catalog service that a copy came from.' })),
  networks: Type.Array(Type.String()),
  type: CatalogType,
  schemaTypes: Type.Array(Type.String()),
  resources: Type.Integer(),
  offers: Type.Integer(),
  orMore: Type.Optional(Type.Boolean({ description: 'There are more documents than were counted.' })),
  version: Type.Optional(Type.Integer({ description: 'Not known for a copy that was pushed or pulled.' })),
  updatedAt: Type.String({ format: 'date-time' }),
  state: Type.String({ examples: ['active', 'inactive', 'served', 'paused', 'withdrawn'] }),
});
export type CatalogSummary = Static<typeof CatalogSummary>;

const CatalogVersion = Type.Object({
  version: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  by: Type.String(),
  messageId: Type.Optional(Type.String()),
  status: Type.Optional(Type.String({ examples: ['published in full', 'merged'] })),
});

export const CatalogDetails = titled('CatalogDetails', {
  ...CatalogSummary.properties,
  document: Type.Object({}, { description: 'The catalog, without its documents if it is large.' }),
  documentTruncated: Type.Optional(Type.Boolean()),
  resourceDirectives: Type.Array(ResourceDirective, {
    description:
      'Which master resources its resources extend, and as which variants; only the first 200. Not known for a copy that was pushed or pulled.',
  }),
  versions: Type.Array(CatalogVersion, {
    description: 'The latest first, as far as HISTORY_DAYS keeps them.',
  }),
});
export type CatalogDetails = Static<typeof CatalogDetails>;

export const CatalogDifference = titled('CatalogDifference', {
  changes: Type.Array(Type.Object({ ...Change.properties, version: Type.Integer() })),
  truncated: Type.Boolean(),
  removed: Type.Integer({ description: 'How many documents were removed.' }),
  note: Type.String(),
});
export type CatalogDifference = Static<typeof CatalogDifference>;
