import { parseBaselineFile, parseChangeFile } from '../../protocol/read-signed-files.ts';
import type { BaselineFile, ChangeFile, ChangeReference } from '../../protocol/signed-files.ts';
import type { Check } from '../check-attributes.ts';
import { checkFile, checkFileGeometries, inOne, type Steps } from './check-file.ts';
import { type HostedDocument, TrustFault } from './faults.ts';
import type { OpenedDocument } from './open-document.ts';
import { type HostingNode, type Keys, verifySigner } from './signer.ts';
import type { TrustedEntry } from './trust-index.ts';
import { wellFormed } from './trust-node.ts';

// Baseline and change files (self-hosted spec: Discovery crawl order, 5). A file is trusted as a whole or not at all. Genuine: its bytes have the
// digest of the entry, it is signed with a key of the node, and it is the file that the entry means. Trusted: its content is valid as well.

/** Only these functions can make these values. */
const genuine = Symbol('genuine');
const trusted = Symbol('trusted');

interface SignedFile<File> {
  readonly file: File;
  readonly signedBy: string;
}

interface Genuine<File> extends SignedFile<File> {
  readonly [genuine]: true;
}

interface Trusted<File> extends SignedFile<File> {
  readonly [trusted]: true;
}

export type GenuineBaseline = Genuine<BaselineFile>;
export type GenuineChange = Genuine<ChangeFile>;
export type TrustedBaseline = Trusted<BaselineFile>;
export type TrustedChange = Trusted<ChangeFile>;

export interface FileReader {
  node: HostingNode;
  entry: TrustedEntry;
  keys: Keys;
  checker: Check;
}

/** @param opened its digest checked against that of the entry */
export function trustBaseline(opened: OpenedDocument, reader: FileReader): TrustedBaseline {
  return inOne(judgeFile(verifyBaseline(opened, reader), reader));
}

/** @param opened its digest checked against that of the reference */
export function trustChange(opened: OpenedDocument, reference: ChangeReference, reader: FileReader) {
  return inOne(judgeFile(verifyChange(opened, reference, reader), reader));
}

export function* judgeFile<File extends BaselineFile | ChangeFile>(
  { file, signedBy }: Genuine<File>,
  { node, entry, checker }: Omit<FileReader, 'keys'>,
): Steps<Trusted<File>> {
  yield* checkFile(file, { node, entry: entry.entry, checker });
  return { file, signedBy, [trusted]: true };
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
  checkFileGeometries(file);
  return { file, signedBy, [genuine]: true };
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
  checkFileGeometries(file);
  return { file, signedBy, [genuine]: true };
}

function unnamed(kind: HostedDocument, url: string, catalogId: string): TrustFault {
  const message = `The ${kind} at ${url} is not one that the entry of ${catalogId} names.`;
  return new TrustFault(kind, 'digest-mismatch', message);
}

function requireCatalog(kind: HostedDocument, named: string, catalogId: string): void {
  if (named === catalogId) return;
  const message = `The ${kind} is one of ${named}, but the entry is that of ${catalogId}.`;
  throw new TrustFault(kind, 'catalog-mismatch', message, { compared: { expected: catalogId, got: named } });
}

function requireVersion(kind: HostedDocument, member: string, found: number, announced: number): void {
  if (found === announced) return;
  const message = `The ${kind} has ${member} ${found}, but the entry announces ${announced}.`;
  const compared = { expected: `${member} ${announced}`, got: `${member} ${found}` };
  throw new TrustFault(kind, 'version-mismatch', message, { compared });
}
