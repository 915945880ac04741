import { isJsonObject, type JsonObject } from '../../protocol/json.ts';
import { findParticipantRecord } from '../../protocol/registry-record.ts';
import type { HostingNode, KeyAnswer } from './signer.ts';

// Claims of hosted documents, before anything is trusted: they decide which keys are looked up in the registry.

/** The subscriber_id in a Subscriber record file, also inline in a manifest, in a bare or a flat record, or the nodeId of an index. */
export function claimedNodeOf(document: JsonObject): string | undefined {
  const inline = Array.isArray(document.files) ? document.files.filter(isJsonObject) : [];
  const [record = document] = [document, ...inline].flatMap(({ records }) => records ?? []);
  const name = findParticipantRecord(record)?.subscriberId ?? document.nodeId;
  return typeof name === 'string' ? name : undefined;
}

export function claimedFileUrls({ files }: JsonObject): string[] {
  const urls = Array.isArray(files) ? files.map((file) => isJsonObject(file) && file.url) : [];
  return urls.filter((url) => typeof url === 'string');
}

/** The host in the first address that a manifest lists: for a directory, nothing else says which host will serve it. */
export function claimedHostOf(manifest: JsonObject): string {
  const [url = ''] = claimedFileUrls(manifest);
  return URL.canParse(url) ? new URL(url).host : '';
}

/** A node has a few keys. Without a limit, a document that claims very many would cause a lookup for each. */
const maxKeysAtOnce = 100;

export async function findClaimedKeys(
  { keyNames }: HostingNode,
  claimed: readonly (string | undefined)[],
  findKey: (recordId: string) => Promise<KeyAnswer>,
): Promise<Map<string, KeyAnswer>> {
  const wanted = [...new Set(claimed.filter((name) => name !== undefined))];
  const asked = wanted.slice(0, maxKeysAtOnce);
  const found = await Promise.all(asked.map((name) => findKey(keyNames?.get(name) ?? name)));
  const reason = `it was not asked, because more than ${maxKeysAtOnce} keys are claimed`;
  return new Map(wanted.map((name, index) => [name, found[index] ?? { kind: 'unknown-key', reason }]));
}
