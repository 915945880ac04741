import type { ListedFile } from '../../protocol/read-signed-files.ts';
import type { DigestsFile } from '../../protocol/signed-files.ts';
import { TrustFault } from './faults.ts';
import { type OpenedDocument, openInline } from './open-document.ts';
import { claimedRecordId, type HostingNode, type Keys } from './signer.ts';
import {
  type TrustedManifest,
  type TrustedRecord,
  trustDigests,
  trustSubscriberRecord,
} from './trust-node.ts';

// From a trusted manifest to the Subscriber record of the node: by the digests document, if there is one, then the first file that has the record.

interface RecordReader {
  open(document: 'digests' | 'record', url: string, digest?: string): Promise<OpenedDocument>;
  findKeys(claimed: readonly (string | undefined)[]): Promise<Keys>;
}

export interface ReadRecord {
  /** The address of the record, or that of the manifest. */
  url: string;
  record: TrustedRecord;
  digests?: DigestsFile;
}

/** A manifest may list files of several registries. */
const maxRecordFiles = 5;

export async function readSubscriberRecord(
  reader: RecordReader,
  node: HostingNode,
  listed: TrustedManifest,
): Promise<ReadRecord> {
  const { manifest, digests } = await readDigests(reader, node, listed);
  const message = `The manifest of ${node.identity} lists no files.`;
  let fault: unknown = new TrustFault('record', 'record-missing', message);
  for (const file of manifest.recordFiles.slice(0, maxRecordFiles)) {
    try {
      const opened = await openListed(reader, manifest, file);
      const keys = await reader.findKeys([claimedRecordId(opened.document)]);
      const record = trustSubscriberRecord(opened, { node, manifest, keys });
      return { url: opened.url, record, ...(digests && { digests }) };
    } catch (error) {
      if (!(error instanceof TrustFault && isOfAnother(error))) throw error;
      fault = error;
    }
  }
  throw fault;
}

async function readDigests(
  reader: RecordReader,
  node: HostingNode,
  manifest: TrustedManifest,
): Promise<{ manifest: TrustedManifest; digests?: DigestsFile }> {
  const { digests: url } = manifest.manifest;
  if (url === undefined) return { manifest };
  const opened = await reader.open('digests', url);
  const keys = await reader.findKeys([claimedRecordId(opened.document)]);
  return trustDigests(opened, { node, manifest, keys });
}

async function openListed(
  reader: RecordReader,
  manifest: TrustedManifest,
  { url = manifest.url, digest, inline }: ListedFile,
): Promise<OpenedDocument> {
  return inline ? openInline(url, inline) : reader.open('record', url, digest);
}

/** The file is unusable, but the manifest may name another one. */
function isOfAnother({ code }: TrustFault): boolean {
  return code === 'record-missing' || code === 'record-inactive';
}
