import type {
  NamespaceSummary,
  RegistryRecord,
  RegistrySummary,
  VersionList,
} from '../protocol/registry-answers.ts';
import type { Subscriber } from '../storage/registry/participants.ts';
import type { KeyRecord, NamedRegistry } from '../storage/registry/records.ts';

// Records, registries and namespaces in the form that DeDi clients read.

/** Namespaces, registries and lists change with every record in them. */
export const listTtlSeconds = 30;

/** A record has versions. A namespace and a registry have one: nothing known of them can change, except their records. */
export const onlyVersion = '1';

/** @param moment at which its validity is judged */
export function renderRecord(record: KeyRecord, moment: Date): RegistryRecord {
  const { recordId, subscriberId, url, type, domain, countries, publicKey, validFrom, validUntil } = record;
  // A live key past its validity reads as expired, without any write.
  const isOver = record.state === 'live' && validUntil && validUntil < moment;
  const state = isOver ? 'expired' : record.state;
  return {
    record_id: recordId,
    record_name: recordId,
    namespace: record.namespace,
    registry_name: record.registryName,
    details: {
      subscriber_id: subscriberId,
      ...(url !== null && { url }),
      ...(type !== null && { type }),
      ...(domain !== null && { domain }),
      ...(countries !== null && { countries }),
      // Some peers do not read the state: so a key that must not be used is not shown.
      ...(state === 'live' && { signing_public_key: publicKey }),
      ...(validFrom && { valid_from: validFrom.toISOString() }),
      ...(validUntil && { valid_until: validUntil.toISOString() }),
    },
    meta: {
      ...(record.catalogIndexUrls.length > 0 && {
        catalog_index_urls: record.catalogIndexUrls.map((url) => ({ url })),
      }),
    },
    network_memberships: record.networkMemberships,
    state,
    version: String(record.version),
    version_count: record.version,
    ttl: record.ttlSeconds,
    ...renderTimes([record]),
  };
}

export function renderRegistry(namespace: string, registry: NamedRegistry): RegistrySummary {
  return {
    namespace,
    registry_name: registry.registryName,
    state: 'live',
    query_allowed: true,
    record_count: registry.records,
    meta: {},
    ...{ version: onlyVersion, version_count: 1, ttl: listTtlSeconds },
    ...renderTimes([registry]),
  };
}

export function renderNamespace(namespace: string, registries: readonly NamedRegistry[]): NamespaceSummary {
  return {
    ...{ namespace, name: namespace, registry_count: registries.length, meta: {} },
    ...{ version: onlyVersion, version_count: 1, ttl: listTtlSeconds },
    ...renderTimes(registries),
  };
}

export function renderVersions(record: KeyRecord, versions: readonly number[]): VersionList {
  return {
    ...{ namespace: record.namespace, registry_name: record.registryName, record_name: record.recordId },
    total_versions: record.version,
    versions: versions.map(String),
    ttl: record.ttlSeconds,
    ...renderTimes([record]),
  };
}

export function renderOnlyVersion(names: Partial<Subscriber>, registries: readonly NamedRegistry[]) {
  const { namespace = '', registryName } = names;
  return {
    ...{ namespace, ...(registryName !== undefined && { registry_name: registryName }) },
    ...{ total_versions: 1, versions: [onlyVersion], ttl: listTtlSeconds },
    ...renderTimes(registries),
  };
}

function renderTimes(items: readonly Pick<NamedRegistry, 'createdAt' | 'updatedAt'>[]) {
  const created = items.map(({ createdAt }) => createdAt.getTime());
  const updated = items.map(({ updatedAt }) => updatedAt.getTime());
  return {
    created_at: new Date(Math.min(...created)).toISOString(),
    updated_at: new Date(Math.max(...updated)).toISOString(),
  };
}
