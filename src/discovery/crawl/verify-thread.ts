import { plainError } from '../../carried-error.ts';
import type { Json } from '../../protocol/json.ts';
import { splitJson } from '../../protocol/json-pieces.ts';
import type { BaselineReference, ChangeReference } from '../../protocol/signed-files.ts';
import { openDocument, type ServedFile } from '../../rules/self-hosted/open-document.ts';
import { claimedRecordId, type HostingNode, type Keys } from '../../rules/self-hosted/signer.ts';
import { verifyBaseline, verifyChange } from '../../rules/self-hosted/trust-files.ts';
import {
  claimedKeysOfIndex,
  type IndexLimits,
  type TrustedEntry,
  trustEntries,
  trustIndex,
} from '../../rules/self-hosted/trust-index.ts';

// The work of the thread that verifies large files: inflate, digest, JSON, canonical form, signature, form. The result is a JSON value in pieces
// (json-pieces.ts). The thread has no registry: if a claimed key is missing in the task, the result is its name.

export interface OpenTask {
  file: ServedFile;
  maxInflatedBytes: number;
}

export interface FileTask extends OpenTask {
  node: HostingNode;
  /** Verified before it arrived here. */
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

export type Verdict = { pieces: string[] } | { unknownKeys: string[] };

export function verifyFileHere({ file, maxInflatedBytes, kind, reference, ...reader }: FileTask): Verdict {
  const opened = openDocument(kind, file, { maxInflatedBytes, digest: reference.digest });
  const claimed = claimedRecordId(opened.document);
  if (claimed !== undefined && !reader.keys.has(claimed)) return { unknownKeys: [claimed] };
  if (kind === 'baseline') return inPieces(verifyBaseline(opened, reader));
  return inPieces(verifyChange(opened, reference as ChangeReference, reader));
}

export function verifyIndexHere({ file, maxInflatedBytes, ...asker }: IndexTask): Verdict {
  const opened = openDocument('index', file, { maxInflatedBytes });
  const unknownKeys = claimedKeysOfIndex(opened).filter((key) => !asker.keys.has(key));
  if (unknownKeys.length > 0) return { unknownKeys };
  const index = trustIndex(opened, asker);
  const { entries, faults } = trustEntries(index, asker);
  const plain = faults.map(({ fault, ...about }) => ({ ...about, fault: plainError(fault) }));
  return inPieces({ index, entries, faults: plain });
}

export function readNodeIdHere({ file, maxInflatedBytes }: OpenTask): Verdict {
  const { nodeId } = openDocument('index', file, { maxInflatedBytes }).document;
  return inPieces({ nodeId });
}

function inPieces(value: object): Verdict {
  return { pieces: splitJson(value as Json) };
}
