import type { ChangeReference } from '../../protocol/signed-files.ts';
import { openDocument } from '../../rules/self-hosted/open-document.ts';
import { claimedRecordId } from '../../rules/self-hosted/signer.ts';
import {
  judgeBaseline,
  judgeChange,
  type TrustedBaseline,
  type TrustedChange,
  trustBaseline,
  trustChange,
} from '../../rules/self-hosted/trust-files.ts';
import { inTurns, unpackBaseline, unpackChange } from './packed-files.ts';
import { findKeys, keyFinder, mayBeLarge, type Reader } from './reader.ts';
import type { FileTask } from './verify-thread.ts';

/** One baseline or change file, trusted; a large one in a thread, and what it holds is checked a little at a time. */
export async function readFile(
  reader: Reader,
  task: Omit<FileTask, 'keys'>,
  signal: AbortSignal,
): Promise<TrustedBaseline | TrustedChange> {
  const { file, maxInflatedBytes, node, entry, kind, reference } = task;
  const checker = reader.checker();
  if (reader.aside && mayBeLarge(maxInflatedBytes)) {
    const packed = await reader.aside.verifyFile(task, keyFinder(reader, node), signal);
    const judge = { node, entry, checker };
    return kind === 'baseline'
      ? inTurns(judgeBaseline(await unpackBaseline(packed), judge))
      : inTurns(judgeChange(await unpackChange(packed), judge));
  }
  const opened = openDocument(kind, file, { digest: reference.digest, maxInflatedBytes });
  const keys = await findKeys(reader, node, [claimedRecordId(opened.document)]);
  const parts = { node, entry, keys, checker };
  return kind === 'baseline'
    ? trustBaseline(opened, parts)
    : trustChange(opened, reference as ChangeReference, parts);
}
