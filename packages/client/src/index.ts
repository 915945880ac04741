// The public interface of this package: sign, publish, discover, verify.

export type { Catalog, Offer, Provider, ReceivedCatalog, Resource } from '../../../src/protocol/catalog.ts';
export type { Context } from '../../../src/protocol/context.ts';
export type { Intent, OnDiscoverMessage, SpatialEntry } from '../../../src/protocol/discover-messages.ts';
export type { ErrorCode } from '../../../src/protocol/errors.ts';
export { generateSeed } from '../../../src/protocol/keys.ts';
export type {
  OnPublishMessage,
  PublishDirective,
  PublishMessage,
  PublishResult,
} from '../../../src/protocol/publish-messages.ts';
export type { OnPullMessage } from '../../../src/protocol/pull-messages.ts';
export type { KeyLookup, ParticipantRecord } from '../../../src/protocol/registry-record.ts';
export type { SearchFilters } from '../../../src/protocol/search-messages.ts';
export type { Subscription, SubscriptionSelection } from '../../../src/protocol/subscription-messages.ts';
export {
  type Availability,
  findAvailability,
  findDistance,
  type Hit,
  type Place,
} from '../../../src/rules/hit.ts';
export { findLowestPrices, findPrices, type Price } from '../../../src/rules/prices.ts';
export { expressHandler, fastifyPlugin, fetchHandler, type Receiver } from './adapters.ts';
export type { CallOptions } from './core.ts';
export type { DiscoverOptions, Found } from './discover.ts';
export { SignpostError } from './errors.ts';
export { createInbox, type Inbox } from './inbox.ts';
export type { Listener, ListenOptions } from './listen.ts';
export { type ClientLogger, publicKeyFromSeed, type SignpostOptions } from './options.ts';
export { createProver, type Proof, type ProofFile, type Prover } from './prove.ts';
export type { PublishOptions } from './publish.ts';
export type { PullOptions } from './pull.ts';
export type { ReceivedRequest, SentAnswer } from './receive.ts';
export { createRegistry, type Registry, type RegistryOptions } from './registry.ts';
export type { SearchOptions } from './search.ts';
export { Signpost } from './signpost.ts';
export type { SubscribeOptions } from './subscriptions.ts';
export type { TreeFault, TreeReport, VerifyTreeOptions } from './tree-report.ts';
export {
  type ReceivedMessage,
  type ResolvedKey,
  type VerifyOptions,
  verifyRequest,
} from './verify-request.ts';
export { verifyTree } from './verify-tree.ts';
