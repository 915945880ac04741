import type { Config } from '../config.ts';
import type { PublishWarning } from '../protocol/publish-messages.ts';
import {
  findConsiderationWarnings,
  findContextWarnings,
  findCoverWarnings,
  findNetworkWarnings,
  findOfferWarnings,
  findStrictWarnings,
  limitWarnings,
  offeredElsewhere,
  strangeNetworks,
} from '../rules/publish-warnings.ts';
import type { Submission } from '../rules/submission.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';
import type { CatalogRow } from '../storage/catalog/catalogs.ts';
import { findResourceIds, findResourceIdsOf } from '../storage/catalog/documents.ts';
import type { OpenSubmission } from '../storage/catalog/submissions.ts';
import { findSubscribedNetworks } from '../storage/catalog/subscriptions.ts';
import type { Transaction } from '../storage/database.ts';

const none: ReadonlySet<string> = new Set();

interface WarningsOf {
  submission: Pick<OpenSubmission, 'publisher' | 'networkMemberships'>;
  part: Submission;
  /** All catalogs of the message: an offer may name a resource of another one. */
  parts: readonly Submission[];
  stored: CatalogRow | undefined;
}

/** Warnings for the publisher of a catalog. Queries storage only for questions that the message does not answer. */
export async function findWarnings(
  tx: Transaction,
  { config, schemas }: { config: Pick<Config, 'DEFAULT_NETWORK_ID'>; schemas: Pick<SchemaStore, 'checker'> },
  { submission, part, parts, stored }: WarningsOf,
): Promise<PublishWarning[]> {
  const strange = strangeNetworks(part, {
    defaultNetworkId: config.DEFAULT_NETWORK_ID,
    networkMemberships: submission.networkMemberships,
  });
  const subscribed = strange.length > 0 ? await findSubscribedNetworks(tx, strange) : [];
  const unsubscribed = strange.filter((networkId) => !subscribed.includes(networkId));
  const isMerged = stored?.owner === submission.publisher && part.updateMode === 'MERGE';
  const foreign = offeredElsewhere(part, []);
  // A FULL publish removes everything that it does not repeat.
  const own = isMerged && foreign.length > 0 ? await findResourceIds(tx, stored.key, foreign) : none;
  const offered = offeredElsewhere(part, parts).filter((id) => !own.has(id));
  // An offer attaches to resources of the same owner in a shared network.
  const attached = { networkIds: part.networkIds, ids: offered, except: stored?.key };
  const held = offered.length > 0 ? await findResourceIdsOf(tx, submission.publisher, attached) : [];
  const unknownIds = new Set(offered.filter((id) => !held.includes(id)));
  const foreignIds = new Set(foreign.filter((id) => !own.has(id)));
  return limitWarnings([
    ...findContextWarnings(part, schemas.checker()),
    ...findOfferWarnings(part, unknownIds),
    ...findCoverWarnings(part, { foreignIds, unknownIds, isWhole: !isMerged }),
    ...findNetworkWarnings(part, unsubscribed),
    ...findConsiderationWarnings(part),
    ...findStrictWarnings(part),
  ]);
}
