import { parseBaselineFile, parseChangeFile } from '../../protocol/read-signed-files.ts';
import type { BaselineFile, ChangeFile, ChangeReference } from '../../protocol/signed-files.ts';
import type { Check } from '../check-attributes.ts';
import { checkBaseline, checkChange } from './check-file.ts';
import { type HostedDocument, TrustFault } from './faults.ts';
import type { OpenedDocument } from './open-document.ts';
import { type HostingNode, type Keys, verifySigner } from './signer.ts';
import type { TrustedEntry } from './trust-index.ts';
import { wellFormed } from './trust-node.ts';

// Baseline and change files (self-hosted spec: Discovery crawl order, 5). A file is trusted as a whole or not at all: its bytes
// have the digest of the entry, it is signed with a key of the node, it is the file that the entry means, and what it holds is
// sound in itself.

/** Nobody else can make what these functions return. */
const trusted = Symbol('trusted');

export interface TrustedBaseline {
  readonly file: BaselineFile;
  readonly signedBy: string;
  readonly [trusted]: 'baseline';
}

export interface TrustedChange {
  readonly file: ChangeFile;
  readonly signedBy: string;
  readonly [trusted]: 'change';
}

export interface FileReader {
  node: HostingNode;
  entry: TrustedEntry;
  keys: Keys;
  checker: Check;
}

/** @param opened its digest checked against that of the entry */
export function trustBaseline(
  opened: OpenedDocument,
  { node, entry, keys, checker }: FileReader,
): TrustedBaseline {
  const { document, url, digest } = opened;
  const { baseline, catalogId } = entry.entry;
  if (baseline === undefined || digest !== baseline.digest) throw unnamed('baseline', url, catalogId);
  const signedBy = verifySigner('baseline', document, node, keys);
  const file = wellFormed('baseline', url, () => parseBaselineFile(document));
  requireCatalog('baseline', file.catalogId, catalogId);
  requireCatalog('baseline', file.catalog.id, catalogId);
  requireVersion('baseline', 'version', file.version, baseline.version);
  checkBaseline(file, { node, entry: entry.entry, checker });
  return { file, signedBy, [trusted]: 'baseline' };
}

/** @param opened its digest checked against that of the reference */
export function trustChange(
  opened: OpenedDocument,
  reference: ChangeReference,
  { node, entry, keys, checker }: FileReader,
): TrustedChange {
  const { document, url, digest } = opened;
  const { changes, catalogId } = entry.entry;
  if (!changes.includes(reference) || digest !== reference.digest) throw unnamed('change', url, catalogId);
  const signedBy = verifySigner('change', document, node, keys);
  const file = wellFormed('change', url, () => parseChangeFile(document));
  requireCatalog('change', file.catalogId, catalogId);
  requireVersion('change', 'fromVersion', file.fromVersion, reference.fromVersion);
  requireVersion('change', 'toVersion', file.toVersion, reference.toVersion);
  checkChange(file, { node, entry: entry.entry, checker });
  return { file, signedBy, [trusted]: 'change' };
}

function unnamed(kind: HostedDocument, url: string, catalogId: string): TrustFault {
  return new TrustFault(
    kind,
    'digest-mismatch',
    `The ${kind} at ${url} is not one that the entry of ${catalogId} names.`,
  );
}

function requireCatalog(kind: HostedDocument, named: string, catalogId: string): void {
  if (named === catalogId) return;
  throw new TrustFault(
    kind,
    'catalog-mismatch',
    `The ${kind} is one of ${named}, but the entry is that of ${catalogId}.`,
  );
}

function requireVersion(kind: HostedDocument, member: string, found: number, announced: number): void {
  if (found === announced) return;
  throw new TrustFault(
    kind,
    'version-mismatch',
    `The ${kind} has ${member} ${found}, but the entry announces ${announced}.`,
  );
}
