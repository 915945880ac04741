import { isJsonObject, type JsonObject } from '../../protocol/json.ts';
import type { HostingNode, KeyAnswer } from './signer.ts';

// What hosted documents say about themselves, before anything of it is trusted: it decides which keys the registry is asked for, and those
// keys decide whether the documents are believed.

/** The subscriber_id in a Subscriber record file or a bare record, or the nodeId of an index. */
export function claimedNodeOf(document: JsonObject): string | undefined {
  const [record = document] = Array.isArray(document.records) ? document.records : [];
  const details = isJsonObject(record) && isJsonObject(record.details) ? record.details : {};
  const name = details.subscriber_id ?? document.nodeId;
  return typeof name === 'string' ? name : undefined;
}

/** Addresses of the record files that a manifest lists. */
export function claimedFileUrls({ files }: JsonObject): string[] {
  return Array.isArray(files) ? files.filter(isJsonObject).map(({ url }) => String(url)) : [];
}

/** The host in the first address that a manifest lists: of a directory, nothing else says which host will serve it. */
export function claimedHostOf({ files }: JsonObject): string {
  const [file] = Array.isArray(files) ? files : [];
  const url = isJsonObject(file) && typeof file.url === 'string' ? file.url : '';
  return URL.canParse(url) ? new URL(url).host : '';
}

/** A node has a few keys. Without a limit, a document that claims very many would have the registry asked for each. */
const maxKeysAtOnce = 100;

/** Asks the registry for the keys that documents claim; each key once. */
export async function findClaimedKeys(
  { keyNames }: HostingNode,
  claimed: readonly (string | undefined)[],
  findKey: (recordId: string) => Promise<KeyAnswer>,
): Promise<Map<string, KeyAnswer>> {
  const wanted = [...new Set(claimed.filter((name) => name !== undefined))];
  const found = await Promise.all(
    wanted.slice(0, maxKeysAtOnce).map((name) => findKey(keyNames?.get(name) ?? name)),
  );
  const reason = `it was not asked, because more than ${maxKeysAtOnce} keys are claimed`;
  return new Map(wanted.map((name, index) => [name, found[index] ?? { kind: 'unknown-key', reason }]));
}
