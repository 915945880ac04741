import { isIdPart, splitIdentity } from '../../protocol/identity.ts';
import type { ParticipantRecord } from '../../protocol/registry-record.ts';
import type { DigestsFile } from '../../protocol/signed-files.ts';
import { parseInstant } from '../../protocol/time.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { type ReadRecord, readSubscriberRecord } from '../../rules/self-hosted/read-record.ts';
import { claimedRecordId, type HostingNode, keyNamesOf } from '../../rules/self-hosted/signer.ts';
import { type TrustedManifest, trustManifest } from '../../rules/self-hosted/trust-node.ts';
import type { ReadNode } from '../../storage/crawl/nodes.ts';
import type { TargetRow } from '../../storage/crawl/targets.ts';
import { manifestPlaces, manifestUrlsAt, requireIndexes } from './places.ts';
import { askRegistry, fetchDocument, fetchNamed, findKeys, type OpenedFile, type Reader } from './reader.ts';
import { CrawlFault, isNoHost } from './reasons.ts';

// The first links of the chain (self-hosted spec: Discovery crawl order): the registry record of a node gives the place of its manifest; the
// manifest, signed with a registered key, names the Subscriber record by digest; the record lists the indexes.

export interface NodeQuestion {
  identity: string;
  configuredUrl?: string;
  /** The known state of the manifest, so that an unchanged one costs little. */
  manifest?: { url: string; etag?: string | null; modified?: string | null };
  /** Time of the last read digests document. */
  digestsAt?: Date;
  signal: AbortSignal;
}

/** The places of a node's manifest, and its registry records. */
export interface NodeRecord {
  records: ParticipantRecord[];
  /** Origins; later ones are used if the first has no manifest. */
  places: [base: string, ...more: string[]];
  url?: string;
}

/** They are opened at once in this thread, because both limits are small. */
export const nodeFileLimits = { maxBytes: 1024 * 1024, maxInflatedBytes: 1024 * 1024 };

export async function findNodeRecord(
  reader: Reader,
  { identity, configuredUrl }: NodeQuestion,
): Promise<NodeRecord> {
  const records = await askRegistry(() => reader.registry.findSubscriber(identity));
  if (records.length === 0)
    throw new TrustFault('manifest', 'node-unknown', `The registry has no usable record of ${identity}.`);
  const url = records.find((record) => record.url !== undefined && URL.canParse(record.url))?.url;
  const [base, ...more] = manifestPlaces(identity, [configuredUrl ?? url]);
  if (base === undefined)
    throw new CrawlFault('bad-url', `${identity} has no url in the registry; its namespace is not a host.`);
  return { records, places: [base, ...more], url };
}

export async function readNode(reader: Reader, question: NodeQuestion, found: NodeRecord): Promise<ReadNode> {
  const { identity, signal } = question;
  const { records, url } = found;
  const known = {
    subscriberId: records[0]?.subscriberId ?? splitIdentity(identity).namespace,
    networkMemberships: [...new Set(records.flatMap(({ networkMemberships }) => networkMemberships))],
    url,
  };
  const { answer, place } = await fetchManifest(reader, question, found);
  if (answer === 'unchanged') return { ...known, manifest: keptManifest(question) };
  if (answer === 'missing')
    return { ...known, indexUrls: requireIndexes(reader, identity, urlsOfRegistry(reader, found)) };

  const { opened, etag, modified } = answer;
  const keyNames = keyNamesOf(opened.document, records);
  const node = { ...hostingNode(reader, identity, records), keyNames };
  const keys = await findKeys(reader, node, [claimedRecordId(opened.document)]);
  const manifest = trustManifest(opened, { node, host: new URL(place).host, keys });
  const { record, digests } = await readRecord(reader, node, manifest, signal);
  return {
    ...known,
    // The digests document changes while the manifest does not, so conditional requests must not skip them.
    manifest: digests ? { url: opened.url } : { url: opened.url, etag, modified },
    ...(digests && { digestsAt: refuseOlder(digests, question) }),
    keyNames,
    nextUpdate: earlier(manifest.manifest.next_update, digests?.next_update, record.nextUpdate),
    indexUrls: requireIndexes(reader, identity, record.catalogIndexUrls),
  };
}

export function hostingNode(
  { registryName }: Pick<Reader, 'registryName'>,
  identity: string,
  records: readonly Pick<ParticipantRecord, 'subscriberId'>[],
): HostingNode {
  return { identity, recordSubscriberId: records[0]?.subscriberId, registryName };
}

/** A node whose manifest and record were read before. */
export function crawledNode(
  { registryName }: Pick<Reader, 'registryName'>,
  { node, subscriber_id, key_names }: Pick<TargetRow, 'node' | 'subscriber_id' | 'key_names'>,
): HostingNode {
  const keyNames = new Map(key_names);
  return { identity: node, registryName, keyNames, recordSubscriberId: subscriber_id ?? undefined };
}

/** Tries the next place only if a host answers that it has no manifest: any other failure may be temporary. */
async function fetchManifest(
  reader: Reader,
  { configuredUrl, ...question }: NodeQuestion,
  { places }: NodeRecord,
): Promise<{ answer: OpenedFile | 'unchanged' | 'missing'; place: string }> {
  const [base, ...more] = places;
  const answer = await fetchManifestAt(reader, base, { ...question, configuredUrl });
  const [namespace] = more;
  if (answer !== 'missing' || namespace === undefined) return { answer, place: base };
  try {
    return { answer: await fetchManifestAt(reader, namespace, question), place: namespace };
  } catch (error) {
    if (isNoHost(error)) return { answer, place: base };
    throw error;
  }
}

async function fetchManifestAt(
  reader: Reader,
  base: string,
  { manifest, configuredUrl, signal }: Omit<NodeQuestion, 'identity'>,
): Promise<OpenedFile | 'unchanged' | 'missing'> {
  const options = { ...nodeFileLimits, signal, operatorConfigured: configuredUrl !== undefined };
  for (const url of manifestUrlsAt(base)) {
    const condition = manifest?.url === url ? manifest : undefined;
    const answer = await fetchDocument(reader, 'manifest', url, { ...options, condition });
    if (answer.kind === 'opened') return answer;
    if (answer.kind === 'unchanged') return 'unchanged';
  }
  return 'missing';
}

/** The domain in the manifest at an address, a claim until the manifest is verified. Only an operator's address may be private and without TLS. */
export async function readDomain(
  reader: Reader,
  address: string,
  { isOperators, signal }: { isOperators: boolean; signal: AbortSignal },
): Promise<string> {
  const configured = isOperators ? { configuredUrl: address } : {};
  const answer = await fetchManifestAt(reader, address, { ...configured, signal });
  if (answer === 'missing' || answer === 'unchanged')
    throw new CrawlFault('manifest-missing', `There is no manifest at ${address}.`, { url: address });
  const { domain } = answer.opened.document;
  if (typeof domain !== 'string' || !isIdPart(domain))
    throw new TrustFault('manifest', 'malformed', `The manifest at ${address} names no domain.`);
  return domain;
}

function keptManifest({ manifest }: NodeQuestion): ReadNode['manifest'] {
  const { url = '', etag, modified } = manifest ?? {};
  return { url, ...(etag && { etag }), ...(modified && { modified }) };
}

/** Without a manifest, no signed document of the node names its indexes: the registry record must do. */
function urlsOfRegistry({ requireManifest }: Reader, { places, records }: NodeRecord): string[] {
  const urls = [...new Set(records.flatMap(({ catalogIndexUrls }) => catalogIndexUrls))];
  if (requireManifest || urls.length === 0)
    throw new CrawlFault('manifest-missing', `There is no manifest at ${places.join(' or ')}.`, {
      url: manifestUrlsAt(places[0])[0],
    });
  return urls;
}

export function readRecord(
  reader: Reader,
  node: HostingNode,
  manifest: TrustedManifest,
  signal: AbortSignal,
): Promise<ReadRecord> {
  const open = async (document: 'digests' | 'record', url: string, digest?: string) =>
    (await fetchNamed(reader, document, url, { ...nodeFileLimits, digest, signal })).opened;
  return readSubscriberRecord(
    { open, findKeys: (claimed) => findKeys(reader, node, claimed) },
    node,
    manifest,
  );
}

/** An old digests document could bring back an old record. */
function refuseOlder({ updated_at: updatedAt }: DigestsFile, { identity, digestsAt }: NodeQuestion): Date {
  const at = parseInstant(updatedAt) ?? new Date(0);
  const message = `The digests document of ${identity} is of ${updatedAt}, which is older than one read before.`;
  if (digestsAt !== undefined && at < digestsAt) throw new CrawlFault('rollback', message);
  return at;
}

function earlier(...texts: (string | undefined)[]): Date | undefined {
  const times = texts.flatMap((text) => (text === undefined ? [] : (parseInstant(text) ?? [])));
  return times.sort((one, other) => one.getTime() - other.getTime())[0];
}
