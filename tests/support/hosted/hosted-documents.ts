// The documents of a node that hosts one catalog, before they are signed.

export const sampleCatalog = {
  id: 'catalog-1',
  descriptor: { name: 'Chargers' },
  provider: { id: 'p', descriptor: { name: 'P' } },
  resources: [{ id: 'r1', descriptor: { name: 'One' } }, { id: 'r2' }],
  offers: [{ id: 'o1', resourceIds: ['r1'] }],
};

export interface HostedFacts {
  /** Bare domain of the node, and its identity in the registry. */
  domain: string;
  identity: string;
  /** Base address of the files. */
  base: string;
  networkIds: readonly string[];
  catalogId: string;
  updatedAt: string;
  nextUpdate: string;
}

/** How other documents reference a file. */
export interface FileFacts {
  url: string;
  size: number;
  digest: string;
}

export const hostedPaths = {
  manifest: '/.well-known/dedi.index.json',
  record: '/subscriber.json',
  index: '/index/catalogs.index.json',
  baseline: '/catalogs/1.v2.json',
  change: '/catalogs/changes/1.v3.json',
} as const;

export function hostedDocuments({ domain, identity, base, networkIds, catalogId, ...times }: HostedFacts) {
  const next_update = times.nextUpdate;
  const updated_at = times.updatedAt;
  return {
    manifest: ({ url, digest }: Pick<FileFacts, 'url' | 'digest'>) => ({
      ...{ dedi_version: '0.1', type: 'dedi-manifest', domain, keys: [], updated_at, next_update },
      files: [{ registry: 'beckn_subscriber', url, digest }],
    }),
    record: () => ({
      ...{ dedi_version: '0.1', type: 'dedi-file', source_url: base + hostedPaths.record, next_update },
      publisher: { domain, key: 'key-1' },
      namespace: domain,
      registry: { name: 'beckn_subscriber', state: 'live', updated_at },
      records: [
        {
          record_name: 'key-1',
          details: { subscriber_id: domain, url: base, type: 'BPP' },
          meta: { catalog_index_urls: [{ url: base + hostedPaths.index }] },
        },
      ],
    }),
    index: (entries: readonly unknown[]) => ({ nodeId: identity, next_update, catalogs: entries }),
    entry: (baseline: FileFacts, change: FileFacts) => ({
      ...{ catalogId, entryVersion: 4, catalogType: 'REGULAR', networkIds, isActive: true },
      baseline: { version: 2, ...baseline },
      changes: [{ version: 3, fromVersion: 2, toVersion: 3, ...change }],
    }),
    baseline: () => ({
      ...{ catalogId, version: 2, next_update, catalog: { ...sampleCatalog, id: catalogId } },
    }),
    change: () => ({
      ...{ catalogId, fromVersion: 2, toVersion: 3, next_update },
      resources: { upserts: [{ id: 'r3' }], removals: ['r2'] },
      offers: { upserts: [], removals: [] },
    }),
  };
}
