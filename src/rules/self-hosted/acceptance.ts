import type { IndexEntry } from '../../protocol/signed-files.ts';
import { networksMeet } from '../extends.ts';
import { judgeMasters, type MasterPolicy } from '../master-publishers.ts';

// Whether a genuine entry is one for us: that it is genuine is decided elsewhere (trust-index.ts).

export interface AcceptancePolicy extends MasterPolicy {
  /** Networks that are crawled; none means that every entry is relevant. */
  networkIds: readonly string[];
  /** A publisher must be a member of the networks that it names. */
  enforceMembership: boolean;
}

export type Acceptance =
  /** In these networks; none means every one. */
  | { kind: 'accepted'; networkIds: string[] }
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
      reason: `${identity} is not a member of ${foreign}, which ${catalogId} names.`,
    };
  }
  if (catalogType !== 'MASTER') return { kind: 'accepted', networkIds };
  const isAllowed = judgeMasters(identity, policy);
  if (isAllowed === 'everywhere') return { kind: 'accepted', networkIds };
  // It counts only in the networks of its facilitator, also where it names none.
  const named = networkIds.length > 0 ? networkIds : [...policy.networkIds, ...networkMemberships];
  const allowed = [...new Set(named.filter(isAllowed))];
  if (allowed.length > 0) return { kind: 'accepted', networkIds: allowed };
  const where = named.length > 0 ? ` in ${named.join(', ')}` : ' that name no network';
  return {
    kind: 'master-not-allowed',
    reason: `MASTER catalogs of ${identity}${where} are not accepted here: MASTER_PUBLISHERS says who may publish them.`,
  };
}
