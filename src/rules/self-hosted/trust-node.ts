import { splitIdentity } from '../../protocol/identity.ts';
import { isJsonObject, type Json } from '../../protocol/json.ts';
import {
  type HostedRecord,
  parseManifest,
  parseSubscriberRecords,
} from '../../protocol/read-signed-files.ts';
import type { Manifest, ManifestFile } from '../../protocol/signed-files.ts';
import { type HostedDocument, TrustFault } from './faults.ts';
import type { OpenedDocument } from './open-document.ts';
import { type HostingNode, type Keys, namesNode, verifySigner } from './signer.ts';

// The first two links of the chain (self-hosted spec: Discovery crawl order, 2 and 3): the manifest, signed with a key that the
// registry knows as the node's; the Subscriber record, bound to it by digest and signed likewise.

/** Nobody else can make what these functions return. */
const trusted = Symbol('trusted');

export interface TrustedManifest {
  readonly manifest: Manifest;
  /** The files that may hold the Subscriber record. */
  readonly recordFiles: readonly ManifestFile[];
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
  const names = [host, hostname(host), splitIdentity(node.identity).namespace].map((name) =>
    name.toLowerCase(),
  );
  if (!names.includes(manifest.domain.toLowerCase())) {
    throw new TrustFault(
      'manifest',
      'domain-mismatch',
      `The manifest at ${url} is that of ${manifest.domain}, which is neither ${host} nor the namespace of ${node.identity}.`,
      undefined,
      { expected: host, got: manifest.domain },
    );
  }
  return { manifest, recordFiles: recordFiles(manifest, node), signedBy, [trusted]: 'manifest' };
}

/** @param opened its digest checked against that of the manifest */
export function trustSubscriberRecord(
  { document, url, digest }: OpenedDocument,
  { node, manifest, keys }: { node: HostingNode; manifest: TrustedManifest; keys: Keys },
): TrustedRecord {
  if (digest === undefined || !manifest.recordFiles.some((file) => file.digest === digest)) {
    throw new TrustFault(
      'record',
      'digest-mismatch',
      `The record at ${url} is not one that the manifest names.`,
    );
  }
  const isBare = document.records === undefined;
  const isSigned = document.proof !== undefined || document.signature !== undefined;
  const signedBy = isBare && !isSigned ? undefined : verifySigner('record', document, node, keys);
  const records = wellFormed('record', url, () => parseSubscriberRecords(document));
  if (isInactive(document.registry)) {
    throw new TrustFault(
      'record',
      'record-inactive',
      `The file at ${url} is that of a registry whose state is inactive.`,
    );
  }
  const own = records.filter(({ subscriberId }) => namesNode(subscriberId, node));
  if (own.length === 0) {
    throw new TrustFault(
      'record',
      'record-missing',
      `The file at ${url} holds no record of ${node.identity}.`,
    );
  }
  const nextUpdate = typeof document.next_update === 'string' ? document.next_update : undefined;
  return { catalogIndexUrls: indexUrls(own), nextUpdate, signedBy, [trusted]: 'record' };
}

/** A bare record is that of no registry. */
function isInactive(registry: Json | undefined): boolean {
  const state = isJsonObject(registry) ? registry.state : undefined;
  return typeof state === 'string' && state.toLowerCase() === 'inactive';
}

/** Runs a parser of somebody else's document. */
export function wellFormed<T>(kind: HostedDocument, url: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TrustFault(kind, 'malformed', `The ${kind} at ${url} is malformed: ${reason}.`, error);
  }
}

/** A manifest may list files of other registries; where none is named as ours usually is, any may be it. */
function recordFiles({ files }: Manifest, { registryName }: HostingNode): ManifestFile[] {
  const named = files.filter(({ registry }) => [subscriberRegistry, registryName].includes(registry));
  return named.length > 0 ? named : files;
}

const subscriberRegistry = 'beckn_subscriber';

function indexUrls(records: readonly HostedRecord[]): string[] {
  return [...new Set(records.flatMap(({ catalogIndexUrls }) => catalogIndexUrls))];
}

function hostname(host: string): string {
  return host.replace(/:\d+$/, '');
}
