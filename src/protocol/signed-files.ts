/** The files that a Provider Node signs and hosts (self-hosted spec: Resources and their fields), as we write them; `read-signed-files.ts` parses foreign ones. All are open: the signature covers extra members. */

import {
  CatalogType,
  Descriptor,
  Offer,
  Provider,
  ReceivedCatalog,
  Resource,
  TimePeriod,
} from './catalog.ts';
import { Variant } from './publish-messages.ts';
import { CatalogIndexPointer } from './registry-answers.ts';
import { DateTime, Id, NetworkId, oneOfTexts, SchemaType, titled, Uri } from './shapes.ts';
import { type Static, Type } from './type.ts';

const Version = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Size = Type.Integer({ minimum: 0, description: 'Number of bytes served.' });
const NextUpdate = Type.String({ ...DateTime, description: 'When the next update is expected.' });
const Digest = Type.String({
  pattern: '^[sS][hH][aA]-?256:[0-9A-Fa-f]{64}$',
  description:
    'sha256:<hex> of the file as it is stored. Readers also accept that of the decompressed bytes.',
});

export type FileSignature = string | { keyId: string; value: string; canonicalization?: string | null };
export const FileSignature = Type.Unsafe<FileSignature>({
  type: ['string', 'object'],
  properties: {
    keyId: { type: 'string' },
    value: { type: 'string', description: 'Ed25519 signature in Base64 or base64url.' },
    canonicalization: { type: ['string', 'null'] },
  },
  required: ['keyId', 'value'],
  title: 'FileSignature',
  description:
    'A detached JWS with unencoded payload (RFC 7797), as text; or an object with the bare signature.',
});

const Proof = titled('Proof', {
  verification_method: Type.String({ description: 'kid of the key.' }),
  canonicalization: Type.Optional(Type.String({ examples: ['JCS'] })),
  jws: Type.String({ description: 'Detached JWS with unencoded payload (RFC 7797).' }),
});

export const ManifestKey = Type.Object(
  {
    kid: Type.String(),
    kty: Type.String(),
    crv: Type.Optional(Type.String()),
    x: Type.Optional(Type.String()),
  },
  { title: 'ManifestKey', description: 'A public key as JWK: kty OKP, crv Ed25519.' },
);
export type ManifestKey = Static<typeof ManifestKey>;

export const ManifestFile = Type.Object(
  { registry: Type.String(), url: Uri, digest: Digest },
  { title: 'ManifestFile', description: 'The digest is over the raw bytes of the file.' },
);
export type ManifestFile = Static<typeof ManifestFile>;

/** A signed document that a manifest may name: digests by name of registry, which take precedence over those of its files. */
export const DigestsFile = titled('DigestsFile', {
  dedi_version: Type.String({ examples: ['0.1'] }),
  type: oneOfTexts(['dedi-digests']),
  domain: Type.String(),
  updated_at: DateTime,
  next_update: NextUpdate,
  digests: Type.Record(Type.String(), Type.String()),
  proof: Proof,
});
export type DigestsFile = Static<typeof DigestsFile>;

export const Manifest = titled('Manifest', {
  dedi_version: Type.String({ examples: ['0.1'] }),
  type: oneOfTexts(['dedi-manifest']),
  domain: Type.String(),
  name: Type.Optional(Type.String()),
  keys: Type.Array(ManifestKey),
  updated_at: Type.Optional(DateTime),
  next_update: NextUpdate,
  files: Type.Array(ManifestFile),
  proof: Proof,
});
export type Manifest = Static<typeof Manifest>;

export const SubscriberRecord = titled('SubscriberRecord', {
  record_name: Type.String(),
  details: Type.Object({
    subscriber_id: Type.String(),
    url: Type.Optional(Type.String()),
    type: Type.Optional(Type.String({ examples: ['BPP'] })),
    domain: Type.Optional(Type.String()),
    countries: Type.Optional(Type.Array(Type.String({ examples: ['IND'] }))),
  }),
  meta: Type.Object({
    catalog_index_urls: Type.Array(CatalogIndexPointer, { description: 'The only pointer a crawler has.' }),
  }),
});
export type SubscriberRecord = Static<typeof SubscriberRecord>;

export const SubscriberRecordFile = titled('SubscriberRecordFile', {
  dedi_version: Type.String({ examples: ['0.1'] }),
  type: oneOfTexts(['dedi-file']),
  source_url: Uri,
  next_update: NextUpdate,
  publisher: Type.Object({ domain: Type.String(), key: ManifestKey }),
  namespace: Type.String(),
  registry: Type.Object({
    name: Type.String({ examples: ['beckn_subscriber'] }),
    schema: Type.Optional(Type.Unknown()),
    state: Type.String(),
    updated_at: DateTime,
  }),
  records: Type.Array(SubscriberRecord),
  proof: Proof,
});
export type SubscriberRecordFile = Static<typeof SubscriberRecordFile>;

export const BaselineReference = titled('BaselineReference', {
  version: Version,
  url: Uri,
  size: Size,
  digest: Digest,
});
export type BaselineReference = Static<typeof BaselineReference>;

export const ChangeReference = titled('ChangeReference', {
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Equals toVersion.' }),
  fromVersion: Version,
  toVersion: Version,
  url: Uri,
  size: Type.Optional(Size),
  digest: Digest,
});
export type ChangeReference = Static<typeof ChangeReference>;

export const MasterDependency = titled('MasterDependency', {
  catalogId: Id,
  version: Type.Optional(Version),
  indexUrl: Type.Optional(Type.String({ description: 'A hint, not a delegation of trust.' })),
});
export type MasterDependency = Static<typeof MasterDependency>;

export const IndexEntry = Type.Object(
  {
    catalogId: Id,
    entryVersion: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Only rises.' }),
    catalogType: CatalogType,
    networkIds: Type.Optional(Type.Array(NetworkId, { description: 'Omitted: relevant to every crawler.' })),
    schemaTypes: Type.Optional(Type.Array(SchemaType)),
    isActive: Type.Boolean({ description: 'A paused catalog stays indexed, but is not transactable.' }),
    retiredAt: Type.Optional(Type.String({ ...DateTime, description: 'Set once, never unset.' })),
    baseline: Type.Optional(BaselineReference),
    changes: Type.Array(ChangeReference),
    dependencies: Type.Optional(Type.Object({ masters: Type.Optional(Type.Array(MasterDependency)) })),
    signature: FileSignature,
  },
  {
    title: 'IndexEntry',
    description: 'Self-signed. A retired entry is written without isActive, baseline and changes.',
  },
);
export type IndexEntry = Static<typeof IndexEntry>;

export const CatalogIndex = titled('CatalogIndex', {
  nodeId: Type.String({ minLength: 1 }),
  next_update: NextUpdate,
  catalogs: Type.Array(IndexEntry),
  signature: FileSignature,
});
export type CatalogIndex = Static<typeof CatalogIndex>;

/** As in publishDirectives, for the resources of the file; a resource without one extends nothing. */
export const FileDirective = titled('FileDirective', {
  resourceId: Id,
  extends: Type.Object({ masterResourceId: Id }),
  variant: Type.Optional(Variant),
});
export type FileDirective = Static<typeof FileDirective>;

export const BaselineFile = Type.Object(
  {
    catalogId: Id,
    version: Version,
    next_update: Type.Optional(NextUpdate),
    catalog: ReceivedCatalog,
    directives: Type.Optional(Type.Array(FileDirective)),
    signature: FileSignature,
  },
  { title: 'BaselineFile', description: 'A complete snapshot of the catalog.' },
);
export type BaselineFile = Static<typeof BaselineFile>;

const removals = Type.Array(Id, { description: 'Ids.' });

export const CatalogOverlay = Type.Object(
  {
    descriptor: Type.Optional(Descriptor),
    provider: Type.Optional(Provider),
    bppId: Type.Optional(Type.String()),
    bppUri: Type.Optional(Uri),
    isActive: Type.Optional(Type.Boolean()),
    validity: Type.Optional(TimePeriod),
  },
  { title: 'CatalogOverlay', description: 'Catalog-level members that replace those of the catalog.' },
);
export type CatalogOverlay = Static<typeof CatalogOverlay>;

export const ChangeFile = Type.Object(
  {
    catalogId: Id,
    fromVersion: Version,
    toVersion: Version,
    next_update: Type.Optional(NextUpdate),
    resources: Type.Object({ upserts: Type.Array(Resource), removals }),
    offers: Type.Object({ upserts: Type.Array(Offer), removals }),
    catalog: Type.Optional(CatalogOverlay),
    directives: Type.Optional(Type.Array(FileDirective)),
    signature: FileSignature,
  },
  { title: 'ChangeFile', description: 'Added, updated (whole objects) or removed (ids) since fromVersion.' },
);
export type ChangeFile = Static<typeof ChangeFile>;
