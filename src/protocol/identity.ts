/**
 * A subscriberId is `namespace_id/registry_id` (catalog spec: Authentication) or a bare domain name. The identity, the key of all records, has both
 * halves: a bare domain is in the network's default registry.
 */
export function identityOf(subscriberId: string, registryName: string): string {
  return subscriberId.includes('/') ? subscriberId : `${subscriberId}/${registryName}`;
}

export function splitIdentity(identity: string): { namespace: string; registryName: string } {
  const slash = identity.indexOf('/');
  if (slash === -1)
    throw new Error(`${identity} is a subscriberId, not an identity: it has no registry name`);
  return { namespace: identity.slice(0, slash), registryName: identity.slice(slash + 1) };
}

export function isSubscriberId(text: string): boolean {
  const parts = text.split('/');
  return parts.length <= 2 && parts.every(isIdPart);
}

/** One segment of a lookup address: it cannot change the path that contains it. */
export function isIdPart(text: string): boolean {
  return /^[A-Za-z0-9._:~-]{1,255}$/.test(text) && text !== '.' && text !== '..';
}

/** The path of a question to a DeDi registry. Names that no registry can hold have none, and are never requested. */
export function findRegistryPath(
  question: 'lookup' | 'query',
  identity: string,
  ...more: string[]
): RegistryPath | undefined {
  const { namespace, registryName } = splitIdentity(identity);
  const names = [namespace, registryName, ...more];
  return names.every(isIdPart) ? `/${[question, ...names].map(encodeURIComponent).join('/')}` : undefined;
}

export type RegistryPath = `/${string}`;

/**
 * Whether the caller in a request's context (bppId or bapId) is the identity that signed: by its subscriberId, or by the `subscriber_id` of its
 * registry record if that is the namespace or a sub-domain of it. A record alone proves nothing: anybody may write any name into theirs.
 */
export function namesIdentity(
  contextId: string,
  identity: string,
  recordSubscriberId: string | undefined,
  registryName: string,
): boolean {
  if (identityOf(contextId, registryName) === identity) return true;
  const { namespace } = splitIdentity(identity);
  return contextId === recordSubscriberId && (contextId === namespace || contextId.endsWith(`.${namespace}`));
}
