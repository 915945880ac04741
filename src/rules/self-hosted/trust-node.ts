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

// The first two links of the chain (self-hosted spec: Discovery crawl order, 2 and 3): the manifest, signed with a key of the node, and the Subscriber record, bound to it by digest and also signed.

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
  /** Undefined for a bare record, which is valid as long as the manifest that names it. */
  readonly nextUpdate: string | undefined;
  /** Undefined for a bare record: only the manifest's digest binds it. */
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
    const message = `The manifest at ${url} is that of ${manifest.domain}, which is neither ${host} nor the namespace of ${node.identity}.`;
    const compared = { expected: host, got: manifest.domain };
    throw new TrustFault('manifest', 'domain-mismatch', message, { compared });
  }
  const files = recordFiles(manifest, node);
  if (manifest.digests === undefined) requireDigests(url, files);
  return { url, manifest, recordFiles: files, signedBy, [trusted]: 'manifest' };
}

/** The manifest with the digests of the named document, which take precedence over its own. */
export function trustDigests(
  { document, url }: OpenedDocument,
  { node, manifest, keys }: { node: HostingNode; manifest: TrustedManifest; keys: Keys },
): { manifest: TrustedManifest; digests: DigestsFile } {
  verifySigner('digests', document, node, keys);
  const file = wellFormed('digests', url, () => parseDigests(document));
  const { domain } = manifest.manifest;
  if (file.domain.toLowerCase() !== domain.toLowerCase()) {
    const message = `The digests at ${url} are those of ${file.domain}, and the manifest is that of ${domain}.`;
    const compared = { expected: domain, got: file.domain };
    throw new TrustFault('digests', 'domain-mismatch', message, { compared });
  }
  const files = manifest.recordFiles.map((listed) =>
    Object.hasOwn(file.digests, listed.registry)
      ? { ...listed, digest: file.digests[listed.registry] }
      : listed,
  );
  requireDigests(url, files);
  return { manifest: { ...manifest, recordFiles: files }, digests: file };
}

/** Without a digest, nothing binds a hosted file to the manifest. An inline file is part of the manifest. */
function requireDigests(url: string, files: readonly ListedFile[]): void {
  const unbound = files.find(({ inline, digest }) => inline === undefined && digest === undefined);
  if (unbound === undefined) return;
  const message = `Neither the manifest nor its digests document has a digest of ${unbound.url}: see ${url}.`;
  throw new TrustFault('manifest', 'malformed', message);
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

/** A bare record belongs to no registry. */
function isInactive(registry: Json | undefined): boolean {
  const state = isJsonObject(registry) ? registry.state : undefined;
  return typeof state === 'string' && state.toLowerCase() === 'inactive';
}

export function wellFormed<T>(kind: HostedDocument, url: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The ${kind} at ${url} is malformed: ${reason}.`;
    throw new TrustFault(kind, 'malformed', message, { cause: error });
  }
}

/** A manifest may list files of other registries; if none has the usual name of ours, any may be it. */
function recordFiles({ files }: ManifestOutline, { registryName }: HostingNode): ListedFile[] {
  const named = files.filter(({ registry }) => [subscriberRegistry, registryName].includes(registry));
  return named.length > 0 ? named : files;
}

const subscriberRegistry = 'beckn_subscriber';
