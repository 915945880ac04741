import type { BaselineReference, ChangeReference } from '../../protocol/signed-files.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { type OpenedDocument, openDocument, type ServedFile } from '../../rules/self-hosted/open-document.ts';
import { claimedRecordId, type HostingNode, type Keys } from '../../rules/self-hosted/signer.ts';
import { verifyBaseline, verifyChange } from '../../rules/self-hosted/trust-files.ts';
import {
  claimedKeysOfIndex,
  type IndexLimits,
  type TrustedEntry,
  trustEntries,
  trustIndex,
} from '../../rules/self-hosted/trust-index.ts';
import {
  type PackedFile,
  type PackedIndex,
  type PlainFault,
  packBaseline,
  packChange,
  packIndex,
  plainFault,
} from './packed-files.ts';

// What runs in the thread that verifies large files: inflate, digest, JSON, canonical form, signature, form. Input and result are copied. The
// registry cannot be asked here: where a key is claimed that did not come along, its name is the result.

export interface OpenTask {
  file: ServedFile;
  maxInflatedBytes: number;
}

export interface FileTask extends OpenTask {
  node: HostingNode;
  /** Trusted before it came here. */
  entry: TrustedEntry;
  kind: 'baseline' | 'change';
  reference: BaselineReference | ChangeReference;
  keys: Keys;
}

export interface IndexTask extends OpenTask {
  node: HostingNode;
  keys: Keys;
  limits: IndexLimits;
  allowUnsigned: boolean;
}

export type Verdict<T> = { value: T } | { unknownKeys: string[] } | { fault: PlainFault };

export function verifyFileHere(task: FileTask): Verdict<PackedFile> {
  return judged<PackedFile>(() => {
    const { file, kind, reference, maxInflatedBytes, keys } = task;
    const opened = openDocument(kind, file, { maxInflatedBytes, digest: reference.digest });
    const claimed = claimedRecordId(opened.document);
    if (claimed !== undefined && !keys.has(claimed)) return { unknownKeys: [claimed] };
    return { value: packed(opened, task) };
  });
}

function packed(opened: OpenedDocument, { kind, reference, ...reader }: FileTask): PackedFile {
  if (kind === 'baseline') return packBaseline(verifyBaseline(opened, reader));
  return packChange(verifyChange(opened, reference as ChangeReference, reader));
}

export function verifyIndexHere(task: IndexTask): Verdict<PackedIndex> {
  return judged<PackedIndex>(() => {
    const { file, maxInflatedBytes, ...asker } = task;
    const opened = openDocument('index', file, { maxInflatedBytes });
    const unknownKeys = claimedKeysOfIndex(opened).filter((key) => !asker.keys.has(key));
    if (unknownKeys.length > 0) return { unknownKeys };
    const index = trustIndex(opened, asker);
    return { value: packIndex(index, trustEntries(index, asker)) };
  });
}

export function readNodeIdHere({ file, maxInflatedBytes }: OpenTask): Verdict<unknown> {
  return judged(() => ({ value: openDocument('index', file, { maxInflatedBytes }).document.nodeId }));
}

/** A fault as plain values: the class of an error does not come through. */
function judged<T>(work: () => Verdict<T>): Verdict<T> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TrustFault)) throw error;
    return { fault: plainFault(error) };
  }
}
