import type { Config } from '../config.ts';
import type { PublishWarning } from '../protocol/publish-messages.ts';
import {
  findContextWarnings,
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

interface WarningsOf {
  submission: Pick<OpenSubmission, 'publisher' | 'networkMemberships'>;
  part: Submission;
  /** All catalogs of the message: an offer may name a resource of another one. */
  parts: readonly Submission[];
  /** The catalog before this publish. */
  stored: CatalogRow | undefined;
}

/** What the publisher of a catalog should know although it is no error; storage is asked only about what the message leaves open. */
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
  const offered = offeredElsewhere(part, parts);
  const held = new Set(
    offered.length > 0 ? await findHeld(tx, submission.publisher, { part, stored, ids: offered }) : [],
  );
  return limitWarnings([
    ...findContextWarnings(part, schemas.checker()),
    ...findOfferWarnings(part, new Set(offered.filter((id) => !held.has(id)))),
    ...findNetworkWarnings(
      part,
      strange.filter((networkId) => !subscribed.includes(networkId)),
    ),
    ...findStrictWarnings(part),
  ]);
}

/** An offer attaches to resources of the same owner in a shared network; what a FULL does not repeat is gone. */
async function findHeld(
  tx: Transaction,
  owner: string,
  { part, stored, ids }: { part: Submission; stored: CatalogRow | undefined; ids: string[] },
): Promise<string[]> {
  const { networkIds, updateMode } = part;
  const own =
    stored?.owner === owner && updateMode === 'MERGE' ? await findResourceIds(tx, stored.key, ids) : [];
  return [...own, ...(await findResourceIdsOf(tx, owner, { networkIds, ids, except: stored?.key }))];
}
