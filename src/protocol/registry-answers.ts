import { recordStates } from './registry-record.ts';
import { titled } from './shapes.ts';
import { type Static, Type } from './type.ts';

// Answers of a DeDi registry, as our registry role writes them: `{message, data}`, and `{message, code}` for refusals.

const RecordState = Type.Enum([...recordStates], {
  title: 'RecordState',
  description: 'Only keys in state live are usable.',
});

/** self-hosted spec: Subscriber record pointer. */
export const CatalogIndexPointer = titled('CatalogIndexPointer', {
  url: Type.String({ format: 'uri', description: 'HTTPS address of one signed catalog index.' }),
});

const RegistryRecordDetails = titled('RegistryRecordDetails', {
  subscriber_id: Type.String({ description: 'Identity of the participant, a domain name.' }),
  url: Type.Optional(Type.String({ description: 'Base address for callbacks and pushes.' })),
  type: Type.Optional(Type.String({ description: 'Role in the network, for example BPP or BAP.' })),
  domain: Type.Optional(Type.String()),
  countries: Type.Optional(Type.Array(Type.String({ examples: ['IND'] }))),
  signing_public_key: Type.Optional(
    Type.String({
      description:
        'Ed25519 public key: 32 raw bytes in Base64 or base64url, SPKI DER in Base64, or PEM. Only in records in state live.',
    }),
  ),
  encr_public_key: Type.Optional(Type.String()),
  valid_from: Type.Optional(Type.String({ format: 'date-time' })),
  valid_until: Type.Optional(Type.String({ format: 'date-time' })),
});

export const RegistryRecord = Type.Object(
  {
    record_id: Type.String({ description: 'Name of the signing-key record: the second segment of a keyId.' }),
    record_name: Type.String({ description: 'The same name, where DeDi clients look for it.' }),
    namespace: Type.String({ description: 'First half of the identity of the participant.' }),
    registry_name: Type.String({ description: 'Second half of the identity of the participant.' }),
    details: RegistryRecordDetails,
    meta: Type.Object(
      { catalog_index_urls: Type.Optional(Type.Array(CatalogIndexPointer)) },
      { description: 'Where the participant hosts its signed catalog indexes.' },
    ),
    network_memberships: Type.Array(Type.String(), { description: 'Networks, as namespace_id/registry_id.' }),
    state: RecordState,
    version: Type.String({ description: 'Name of this version: its number.' }),
    version_count: Type.Integer({ minimum: 1, description: 'Number of versions at that time.' }),
    ttl: Type.Integer({ minimum: 0, description: 'Seconds for which a reader may keep the record.' }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'RegistryRecord', description: 'One signing key of one participant.' },
);
export type RegistryRecord = Static<typeof RegistryRecord>;

const version = Type.String({ description: 'Name of this version.' });
const versionCount = Type.Integer({ minimum: 1, description: 'How many versions there are.' });
const time = Type.String({ format: 'date-time' });
const ttl = Type.Integer({ minimum: 0, description: 'Seconds for which a reader may keep the answer.' });
const count = Type.Integer({ minimum: 0 });
const meta = Type.Object({}, { description: 'Empty.' });
const versioned = { meta, version, version_count: versionCount, ttl, created_at: time, updated_at: time };
const page = { page_number: Type.Integer({ minimum: 1 }), page_size: Type.Integer({ minimum: 1 }) };

export const NamespaceSummary = Type.Object(
  { namespace: Type.String(), name: Type.String(), registry_count: count, ...versioned },
  { title: 'NamespaceSummary', description: 'One half of an identity or of a networkId.' },
);
export type NamespaceSummary = Static<typeof NamespaceSummary>;

export const RegistrySummary = Type.Object(
  {
    namespace: Type.String(),
    registry_name: Type.String(),
    state: RecordState,
    query_allowed: Type.Boolean(),
    record_count: count,
    ...versioned,
  },
  { title: 'RegistrySummary', description: 'The keys of a participant, or of the members of a network.' },
);
export type RegistrySummary = Static<typeof RegistrySummary>;

export const VersionList = titled('VersionList', {
  namespace: Type.String(),
  registry_name: Type.Optional(Type.String()),
  record_name: Type.Optional(Type.String()),
  total_versions: Type.Integer({ minimum: 1 }),
  versions: Type.Array(Type.String(), { description: 'The newest first. Each is a version_id of a lookup.' }),
  ...{ ttl, created_at: time, updated_at: time },
});
export type VersionList = Static<typeof VersionList>;

const answerOf = <T extends Parameters<typeof Type.Object>[0][string]>(title: string, data: T) =>
  Type.Object({ message: Type.String(), data }, { title });

export const LookupAnswer = answerOf('LookupAnswer', RegistryRecord);
export const RegistryAnswer = answerOf('RegistryAnswer', RegistrySummary);
export const NamespaceAnswer = answerOf('NamespaceAnswer', NamespaceSummary);
export const VersionsAnswer = answerOf('VersionsAnswer', VersionList);

export const QueryAnswer = answerOf(
  'QueryAnswer',
  Type.Object({
    ...{ namespace: Type.String(), registry_name: Type.String() },
    ...{ total_records: count, total_pages: count, ...page },
    records: Type.Array(RegistryRecord),
  }),
);
export type QueryAnswer = Static<typeof QueryAnswer>;

export const RegistriesAnswer = answerOf(
  'RegistriesAnswer',
  Type.Object({
    ...{ namespace: Type.String(), total_registries: count, total_pages: count, ...page },
    registries: Type.Array(RegistrySummary),
  }),
);
export type RegistriesAnswer = Static<typeof RegistriesAnswer>;

export type RegistryErrorCode = 'NOT_FOUND' | 'INVALID_PARAMETER';
