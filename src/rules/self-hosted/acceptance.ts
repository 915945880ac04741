import { identityOf } from '../../protocol/identity.ts';
import type { IndexEntry } from '../../protocol/signed-files.ts';
import { networksMeet } from '../extends.ts';

// Whether a genuine entry is one for us: that it is genuine is decided elsewhere (trust-index.ts).

export interface AcceptancePolicy {
  /** Networks that are crawled; none means that every entry is relevant. */
  networkIds: readonly string[];
  /** SubscriberIds that may publish MASTER catalogs; none means anyone. */
  masterPublishers: readonly string[];
  /** A publisher must be a member of the networks that it names. */
  enforceMembership: boolean;
  registryName: string;
}

export type Acceptance =
  | { kind: 'accepted' }
  | { kind: 'not-relevant' | 'not-a-member' | 'master-not-allowed'; reason: string };

export function judgeEntry(
  { catalogId, catalogType, networkIds = [] }: Pick<IndexEntry, 'catalogId' | 'catalogType' | 'networkIds'>,
  publisher: { identity: string; networkMemberships: readonly string[] },
  policy: AcceptancePolicy,
): Acceptance {
  const { identity, networkMemberships } = publisher;
  // "When omitted the catalog is relevant to every DS crawling the index" (self-hosted spec: Entry, networkIds).
  if (!networksMeet(networkIds, policy.networkIds)) {
    return {
      kind: 'not-relevant',
      reason: `${catalogId} is for ${networkIds.join(', ')}, none of which is crawled here.`,
    };
  }
  const foreign = networkIds.find((networkId) => !networkMemberships.includes(networkId));
  if (policy.enforceMembership && foreign !== undefined) {
    return {
      kind: 'not-a-member',
      reason: `${identity} is no member of ${foreign}, which ${catalogId} names.`,
    };
  }
  const masterPublishers = policy.masterPublishers.map((id) => identityOf(id, policy.registryName));
  if (catalogType === 'MASTER' && masterPublishers.length > 0 && !masterPublishers.includes(identity)) {
    return { kind: 'master-not-allowed', reason: `MASTER catalogs of ${identity} are not accepted here.` };
  }
  return { kind: 'accepted' };
}
