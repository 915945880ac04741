import { identityOf, splitIdentity } from '../protocol/identity.ts';

// Who may publish MASTER catalogs: "published by a network facilitator" (catalog spec: What the service does).

export interface MasterPolicy {
  /** MASTER_PUBLISHERS: `*` is anyone, `facilitator` the facilitator of each network, anything else a subscriberId. */
  masterPublishers: readonly string[];
  registryName: string;
}

/** Whether a participant may publish MASTER catalogs in a network. Its facilitator is the participant whose namespace is the first half of its id. */
export function judgeMasters(
  identity: string,
  { masterPublishers, registryName }: MasterPolicy,
): 'everywhere' | ((networkId: string) => boolean) {
  const isListed = (name: string) => name === anyone || identityOf(name, registryName) === identity;
  if (masterPublishers.some((name) => name !== facilitator && isListed(name))) return 'everywhere';
  const { namespace } = splitIdentity(identity);
  return (networkId) => masterPublishers.includes(facilitator) && networkId.startsWith(`${namespace}/`);
}

const anyone = '*';
const facilitator = 'facilitator';
