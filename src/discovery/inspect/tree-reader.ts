import type { ParticipantRecord } from '../../protocol/registry-record.ts';
import type { Check } from '../../rules/check-attributes.ts';
import type { HostedDocument } from '../../rules/self-hosted/faults.ts';
import type { OpenedDocument } from '../../rules/self-hosted/open-document.ts';
import type { HostingNode, Keys } from '../../rules/self-hosted/signer.ts';
import type { JudgedEntries, TrustedIndex } from '../../rules/self-hosted/trust-index.ts';
import { fileMissing } from '../crawl/reasons.ts';

/** How a verification reads published files: the commands like the crawler, the client package by `fetch`. Throws reading faults. */
export interface TreeReader {
  registryName: string;
  limits: { maxIndexes: number };
  checker(): Check;
  /** Undefined if the file does not exist. */
  open(document: HostedDocument, url: string, digest?: string): Promise<OpenedFile | undefined>;
  readIndex(node: HostingNode, url: string): Promise<JudgedEntries & { index: TrustedIndex }>;
  findKeys(node: HostingNode, claimed: readonly (string | undefined)[]): Promise<Keys>;
  findSubscriber(identity: string): Promise<ParticipantRecord[]>;
}

export interface OpenedFile {
  opened: OpenedDocument;
  /** As served. */
  bytes: number;
}

/** A file that must exist, because another document refers to it. */
export async function openNamed(
  reader: Pick<TreeReader, 'open'>,
  ...[document, url, digest]: Parameters<TreeReader['open']>
): Promise<OpenedFile> {
  const file = await reader.open(document, url, digest);
  if (file) return file;
  throw fileMissing(document, url);
}
