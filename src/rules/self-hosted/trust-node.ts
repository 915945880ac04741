import { splitIdentity } from '../../protocol/identity.ts';
import { isJsonObject, type Json } from '../../protocol/json.ts';
import {
  type ListedFile,
  type ManifestOutline,
  parseDigests,
  parseManifest,
  parseSubscriberRecords,
} from '../../protocol/read-signed-files.ts';
import type { DigestsFile } from '../../protocol/signed-files.ts';
import { type HostedDocument, TrustFault, type TrustFaultCode } from './faults.ts';
import type { OpenedDocument } from './open-document.ts';
import { type HostingNode, type Keys, namesNode, verifySigner } from './signer.ts';

// The first two links of the chain (self-hosted spec: Discovery crawl order, 2 and 3): the manifest, signed with a key of the node, and the Subscriber record, bound to it by digest and signed likewise.

const trusted = Symbol('trusted');

export interface TrustedManifest {
  readonly url: string;
  readonly manifest: ManifestOutline;
  readonly recordFiles: readonly ListedFile[];
  readonly signedBy: string;
  readonly [trusted]: 'manifest';
}

export interface TrustedRecord {
  readonly catalogIndexUrls: readonly string[];
  /** Undefined for a bare record, which lives as long as the manifest that names it. */
  readonly nextUpdate: string | undefined;
  /** Undefined for a bare record, which only the manifest's digest binds. */
  readonly signedBy: string | undefined;
  readonly [trusted]: 'record';
}

/** @param host the host that served the manifest */
export function trustManifest(
  { document, url }: OpenedDocument,
  { node, host, keys }: { node: HostingNode; host: string; keys: Keys },
): TrustedManifest {
  const signedBy = verifySigner('manifest', document, node, keys);
  const manifest = wellFormed('manifest', url, () => parseManifest(document));
  const hostname = host.replace(/:\d+$/, '');
  const names = [host, hostname, splitIdentity(node.identity).namespace].map((name) => name.toLowerCase());
  if (!names.includes(manifest.domain.toLowerCase())) {
    throw new TrustFault(
      'manifest',
      'domain-mismatch',
      `The manifest at ${url} is that of ${manifest.domain}, which is neither ${host} nor the namespace of ${node.identity}.`,
      undefined,
      { expected: host, got: manifest.domain },
    );
  }
  const files = recordFiles(manifest, node);
  if (manifest.digests === undefined) requireDigests(url, files);
  return { url, manifest, recordFiles: files, signedBy, [trusted]: 'manifest' };
}

/** The manifest with the digests of the document that it names, which count more than its own. */
export function trustDigests(
  { document, url }: OpenedDocument,
  { node, manifest, keys }: { node: HostingNode; manifest: TrustedManifest; keys: Keys },
): { manifest: TrustedManifest; digests: DigestsFile } {
  verifySigner('digests', document, node, keys);
  const file = wellFormed('digests', url, () => parseDigests(document));
  const { domain } = manifest.manifest;
  if (file.domain.toLowerCase() !== domain.toLowerCase()) {
    throw new TrustFault(
      'digests',
      'domain-mismatch',
      `The digests at ${url} are those of ${file.domain}, and the manifest is that of ${domain}.`,
      undefined,
      { expected: domain, got: file.domain },
    );
  }
  const files = manifest.recordFiles.map((listed) =>
    Object.hasOwn(file.digests, listed.registry)
      ? { ...listed, digest: file.digests[listed.registry] }
      : listed,
  );
  requireDigests(url, files);
  return { manifest: { ...manifest, recordFiles: files }, digests: file };
}

/** Without a digest, nothing binds a hosted file to the manifest. An inline file is part of it. */
function requireDigests(url: string, files: readonly ListedFile[]): void {
  const unbound = files.find(({ inline, digest }) => inline === undefined && digest === undefined);
  if (unbound)
    throw new TrustFault(
      'manifest',
      'malformed',
      `Neither the manifest nor its digests document has a digest of ${unbound.url}: see ${url}.`,
    );
}

/** @param opened an inline file of the manifest, or its digest checked against that of the manifest */
export function trustSubscriberRecord(
  { document, url, digest }: OpenedDocument,
  { node, manifest, keys }: { node: HostingNode; manifest: TrustedManifest; keys: Keys },
): TrustedRecord {
  const refuse = (code: TrustFaultCode, message: string) => new TrustFault('record', code, message);
  const isNamed = (file: ListedFile) =>
    file.inline === undefined ? digest !== undefined && file.digest === digest : file.inline === document;
  if (!manifest.recordFiles.some(isNamed))
    throw refuse('digest-mismatch', `The record at ${url} is not one that the manifest names.`);
  const isBare = document.records === undefined;
  const isSigned = document.proof !== undefined || document.signature !== undefined;
  const signedBy = isBare && !isSigned ? undefined : verifySigner('record', document, node, keys);
  const records = wellFormed('record', url, () => parseSubscriberRecords(document));
  if (isInactive(document.registry))
    throw refuse('record-inactive', `The file at ${url} is that of a registry whose state is inactive.`);
  const own = records.filter(({ subscriberId }) => namesNode(subscriberId, node));
  if (own.length === 0)
    throw refuse('record-missing', `The file at ${url} has no record of ${node.identity}.`);
  const nextUpdate = typeof document.next_update === 'string' ? document.next_update : undefined;
  const catalogIndexUrls = [...new Set(own.flatMap((record) => record.catalogIndexUrls))];
  return { catalogIndexUrls, nextUpdate, signedBy, [trusted]: 'record' };
}

/** A bare record is that of no registry. */
function isInactive(registry: Json | undefined): boolean {
  const state = isJsonObject(registry) ? registry.state : undefined;
  return typeof state === 'string' && state.toLowerCase() === 'inactive';
}

export function wellFormed<T>(kind: HostedDocument, url: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TrustFault(kind, 'malformed', `The ${kind} at ${url} is malformed: ${reason}.`, error);
  }
}

/** A manifest may list files of other registries; where none is named as ours usually is, any may be it. */
function recordFiles({ files }: ManifestOutline, { registryName }: HostingNode): ListedFile[] {
  const named = files.filter(({ registry }) => [subscriberRegistry, registryName].includes(registry));
  return named.length > 0 ? named : files;
}

const subscriberRegistry = 'beckn_subscriber';
