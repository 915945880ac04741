/** Parses foreign signed files: known variants become the form that we write, and then the schema decides. Signatures are checked over the document as received. */

import { faultAt, type Segments } from './fault.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { findParticipantRecord } from './registry-record.ts';
import { maxNetworkIdLength, titled } from './shapes.ts';
import {
  BaselineFile,
  CatalogIndex,
  ChangeFile,
  DigestsFile,
  FileSignature,
  IndexEntry,
  Manifest,
  ManifestFile,
} from './signed-files.ts';
import { type Static, type TSchema, Type } from './type.ts';
import { validator } from './validate.ts';

const ListedFile = titled('ListedFile', {
  registry: Type.String(),
  url: Type.Optional(ManifestFile.properties.url),
  digest: Type.Optional(ManifestFile.properties.digest),
  /** A whole DeDi file instead of its address. */
  inline: Type.Optional(Type.Unsafe<JsonObject>(Type.Unknown())),
});
export type ListedFile = Static<typeof ListedFile>;

export const ManifestOutline = titled('ManifestOutline', {
  ...Manifest.properties,
  type: Type.Optional(Manifest.properties.type),
  digests: Type.Optional(ManifestFile.properties.url),
  files: Type.Array(ListedFile),
});
export type ManifestOutline = Static<typeof ManifestOutline>;

/** In the older form, which we write, and in the newer ones: a digests document, entries without a digest, inline files. */
export function parseManifest(document: unknown): ManifestOutline {
  const listed = isJsonObject(document) && Array.isArray(document.files) ? document.files : undefined;
  const read = listed ? { ...(document as JsonObject), files: listed.map(withInline) } : document;
  const manifest = validator(ManifestOutline)(settled(ManifestOutline, read));
  for (const [index, { url, inline }] of manifest.files.entries()) {
    if (url === undefined && inline === undefined)
      throw faultAt('SCH_REQUIRED_FIELD_MISSING', ['files', index, 'url'], 'is missing');
    if (url !== undefined && inline !== undefined)
      throw faultAt('SCH_FIELD_NOT_ALLOWED', ['files', index, 'url'], 'is not allowed with an inline file');
  }
  return manifest;
}

function withInline(file: Json): Json {
  if (!isJsonObject(file) || file.records === undefined) return file;
  const registry = isJsonObject(file.registry) ? (file.registry.name ?? null) : (file.registry ?? null);
  return { registry, url: file.url ?? null, inline: file };
}

export function parseDigests(document: unknown): DigestsFile {
  return validator(DigestsFile)(document);
}

/** The participants that a subscriber record file, or a bare record instead of one, names. Its keys are not confirmed by the registry. */
export function parseSubscriberRecords(document: unknown) {
  const listed = isJsonObject(document) && Array.isArray(document.records) ? document.records : [document];
  const records = listed.map(findParticipantRecord).filter((record) => record !== undefined);
  if (records.length === 0)
    throw faultAt('SCH_REQUIRED_FIELD_MISSING', ['records'], 'has no subscriber record');
  return records.map(({ recordId, subscriberId, url, type, catalogIndexUrls }) => {
    return { recordId, subscriberId, url, type, catalogIndexUrls };
  });
}

export const IndexOutline = titled('IndexOutline', {
  nodeId: CatalogIndex.properties.nodeId,
  /** Deployed publishers omit it. */
  next_update: Type.Optional(CatalogIndex.properties.next_update),
  catalogs: Type.Array(Type.Unknown()),
  signature: Type.Optional(FileSignature),
});
export type IndexOutline = Static<typeof IndexOutline>;

/** The index with its entries unchecked, as received: one of them may be bad and the others still count. */
export function parseCatalogIndex(document: unknown): IndexOutline {
  return validator(IndexOutline)(settled(IndexOutline, document));
}

export function parseIndexEntry(value: unknown, at: Segments = []): IndexEntry {
  const entry = validator(IndexEntry)(withRanges(settled(IndexEntry, withDefaults(value))), at);
  if (entry.retiredAt === undefined && !entry.baseline) {
    const problem = 'is missing in an entry that is not retired';
    throw faultAt('SCH_REQUIRED_FIELD_MISSING', [...at, 'baseline'], problem);
  }
  for (const [index, change] of entry.changes.entries()) {
    const place = [...at, 'changes', index];
    checkRange(change, place);
    if (change.version !== change.toVersion)
      throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', [...place, 'version'], 'must equal toVersion');
  }
  return entry;
}

export function parseBaselineFile(document: unknown): BaselineFile {
  if (isJsonObject(document) && document.fromVersion !== undefined)
    throw faultAt('SCH_FIELD_NOT_ALLOWED', ['fromVersion'], 'is not allowed in a baseline file');
  return validator(BaselineFile)(settled(BaselineFile, document));
}

export function parseChangeFile(document: unknown): ChangeFile {
  const listed = isJsonObject(document)
    ? { ...document, resources: document.resources ?? {}, offers: document.offers ?? {} }
    : document;
  const file = validator(ChangeFile)(withRange(settled(ChangeFile, listed)));
  checkRange(file, []);
  return file;
}

/** A null counts as missing, a missing list as empty, and an optional next_update as missing if it is empty or Go's zero time: some encoders write these. Never changes domain attributes. */
function settled(schema: TSchema, value: unknown): unknown {
  if (Type.IsArray(schema) && Array.isArray(value)) return value.map((item) => settled(schema.items, item));
  if (!Type.IsObject(schema) || !isJsonObject(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [name, known] of Object.entries(schema.properties)) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    const isUnsaid = name === 'next_update' && Type.IsOptional(known) && isUnsetTime(member);
    if (member !== undefined && member !== null && !isUnsaid) result[name] = settled(known, member);
    else if (Type.IsArray(known) && !Type.IsOptional(known)) result[name] = [];
    else delete result[name];
  }
  return result;
}

function isUnsetTime(value: unknown): boolean {
  return value === '' || value === '0001-01-01T00:00:00Z';
}

/** Accepts variants of deployed publishers: the type in another case, and entries without isActive, which are active. */
function withDefaults(entry: unknown): unknown {
  if (!isJsonObject(entry)) return entry;
  const { catalogType, isActive, retiredAt } = entry;
  const read = {
    ...entry,
    ...(typeof catalogType === 'string' && { catalogType: catalogType.toUpperCase() }),
    isActive: isActive ?? true,
  };
  return retiredAt === undefined || retiredAt === null ? read : retiredMembers(read);
}

/** In the entry of a retired catalog, no fault outside id, version, end and signature may be a reason to keep the catalog on sale. */
function retiredMembers(entry: JsonObject): JsonObject {
  const { baseline: _baseline, dependencies: _dependencies, networkIds, schemaTypes, ...rest } = entry;
  return {
    ...rest,
    catalogType: entry.catalogType === 'MASTER' ? 'MASTER' : 'REGULAR',
    isActive: entry.isActive === true,
    changes: [],
    ...(isTextList(networkIds, maxNetworkIdLength) && { networkIds }),
    ...(isTextList(schemaTypes) && { schemaTypes }),
  };
}

function isTextList(value: unknown, maxLength = Number.POSITIVE_INFINITY): boolean {
  const isText = (item: unknown) => typeof item === 'string' && item !== '' && item.length <= maxLength;
  return Array.isArray(value) && value.every(isText);
}

function withRanges(entry: unknown): unknown {
  if (!isJsonObject(entry) || !Array.isArray(entry.changes)) return entry;
  return { ...entry, changes: entry.changes.map((change) => withVersion(withRange(change))) };
}

/** A change that names only its version leads to it from the previous one. */
function withRange(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { version, fromVersion, toVersion } = value;
  if (typeof version === 'number' && fromVersion === undefined && toVersion === undefined)
    return { ...value, fromVersion: version - 1, toVersion: version };
  return value;
}

/** The version of a change in an index is its target version. */
function withVersion(value: unknown): unknown {
  if (!isJsonObject(value) || value.toVersion === undefined) return value;
  return { version: value.toVersion, ...value };
}

function checkRange({ fromVersion, toVersion }: { fromVersion: number; toVersion: number }, at: Segments) {
  if (fromVersion >= toVersion)
    throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', [...at, 'fromVersion'], 'must be lower than toVersion');
}
