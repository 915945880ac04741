import { parseBaselineFile, parseChangeFile } from '../../protocol/read-signed-files.ts';
import type { BaselineFile, ChangeFile, ChangeReference } from '../../protocol/signed-files.ts';
import type { Check } from '../check-attributes.ts';
import {
  checkBaseline,
  checkBaselineGeometries,
  checkChange,
  checkChangeGeometries,
  inOne,
  type Steps,
} from './check-file.ts';
import { type HostedDocument, TrustFault } from './faults.ts';
import type { OpenedDocument } from './open-document.ts';
import { type HostingNode, type Keys, verifySigner } from './signer.ts';
import type { TrustedEntry } from './trust-index.ts';
import { wellFormed } from './trust-node.ts';

// Baseline and change files (self-hosted spec: Discovery crawl order, 5). A file is trusted as a whole or not at all: its bytes
// have the digest of the entry, it is signed with a key of the node, it is the file that the entry means: then it is genuine. And what it
// holds is sound in itself: then it is trusted.

/** Nobody else can make what these functions return. */
const genuine = Symbol('genuine');
const trusted = Symbol('trusted');

export interface GenuineBaseline {
  readonly file: BaselineFile;
  readonly signedBy: string;
  readonly [genuine]: 'baseline';
}

export interface GenuineChange {
  readonly file: ChangeFile;
  readonly signedBy: string;
  readonly [genuine]: 'change';
}

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
export function trustBaseline(opened: OpenedDocument, reader: FileReader): TrustedBaseline {
  return inOne(judgeBaseline(verifyBaseline(opened, reader), reader));
}

/** @param opened its digest checked against that of the reference */
export function trustChange(
  opened: OpenedDocument,
  reference: ChangeReference,
  reader: FileReader,
): TrustedChange {
  return inOne(judgeChange(verifyChange(opened, reference, reader), reader));
}

export function* judgeBaseline(
  { file, signedBy }: GenuineBaseline,
  { node, entry, checker }: Omit<FileReader, 'keys'>,
): Steps<TrustedBaseline> {
  yield* checkBaseline(file, { node, entry: entry.entry, checker });
  return { file, signedBy, [trusted]: 'baseline' };
}

export function* judgeChange(
  { file, signedBy }: GenuineChange,
  { node, entry, checker }: Omit<FileReader, 'keys'>,
): Steps<TrustedChange> {
  yield* checkChange(file, { node, entry: entry.entry, checker });
  return { file, signedBy, [trusted]: 'change' };
}

export function verifyBaseline(
  opened: OpenedDocument,
  { node, entry, keys }: Omit<FileReader, 'checker'>,
): GenuineBaseline {
  const { document, url, digest } = opened;
  const { baseline, catalogId } = entry.entry;
  if (baseline === undefined || digest !== baseline.digest) throw unnamed('baseline', url, catalogId);
  const signedBy = verifySigner('baseline', document, node, keys);
  const file = wellFormed('baseline', url, () => parseBaselineFile(document));
  requireCatalog('baseline', file.catalogId, catalogId);
  requireCatalog('baseline', file.catalog.id, catalogId);
  requireVersion('baseline', 'version', file.version, baseline.version);
  checkBaselineGeometries(file);
  return { file, signedBy, [genuine]: 'baseline' };
}

export function verifyChange(
  opened: OpenedDocument,
  reference: ChangeReference,
  { node, entry, keys }: Omit<FileReader, 'checker'>,
): GenuineChange {
  const { document, url, digest } = opened;
  const { changes, catalogId } = entry.entry;
  if (!changes.includes(reference) || digest !== reference.digest) throw unnamed('change', url, catalogId);
  const signedBy = verifySigner('change', document, node, keys);
  const file = wellFormed('change', url, () => parseChangeFile(document));
  requireCatalog('change', file.catalogId, catalogId);
  requireVersion('change', 'fromVersion', file.fromVersion, reference.fromVersion);
  requireVersion('change', 'toVersion', file.toVersion, reference.toVersion);
  checkChangeGeometries(file);
  return { file, signedBy, [genuine]: 'change' };
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
    undefined,
    { expected: catalogId, got: named },
  );
}

function requireVersion(kind: HostedDocument, member: string, found: number, announced: number): void {
  if (found === announced) return;
  throw new TrustFault(
    kind,
    'version-mismatch',
    `The ${kind} has ${member} ${found}, but the entry announces ${announced}.`,
    undefined,
    { expected: `${member} ${announced}`, got: `${member} ${found}` },
  );
}
