import { claimedFileUrls, claimedHostOf, claimedNodeOf } from '../../rules/self-hosted/claims.ts';
import { claimedRecordId, type HostingNode, keyNamesOf } from '../../rules/self-hosted/signer.ts';
import { type TrustedManifest, trustManifest } from '../../rules/self-hosted/trust-node.ts';
import type { Fetcher } from '../crawl/fetch.ts';
import { isNoHost, readRecord, requireIndexes } from '../crawl/read-node.ts';
import { askRegistry, fetchDocument, findKeys, type OpenedFile, type Reader } from '../crawl/reader.ts';
import { CrawlFault } from '../crawl/reasons.ts';
import { type About, type Finding, fault, holds, staleness, warning } from './findings.ts';

// The first links of the chain (self-hosted spec: Discovery crawl order, 2 and 3): the manifest, and the Subscriber record that it names by digest.

export interface TreeSource {
  fetcher: Fetcher;
  manifestUrls: readonly string[];
  /** Where it may be if it is at none of these. */
  otherManifestUrls?: readonly string[];
  indexUrls: readonly string[];
  /** The host that serves it; unknown for a directory. */
  host?: string;
  /** Only the indexes are asked for, nothing above them. */
  isIndexOnly?: boolean;
}

export interface NodeCheck {
  source: TreeSource;
  reader: Reader;
  node: HostingNode;
  now: Date;
  signal: AbortSignal;
  /** The indexes of the registry's own record, where a reader does with them if there is no manifest (REQUIRE_MANIFEST=false). */
  standIn?: readonly string[];
}

const maxNodeFileBytes = 1024 * 1024;

/** What is known of a node once its manifest and its record hold. */
export interface VerifiedNode {
  /** With the names that its manifest has for its keys. */
  node: HostingNode;
  indexUrls: readonly string[];
}

/** Returns undefined where a link on the way to the indexes is broken. */
export async function* verifyNode(check: NodeCheck): AsyncGenerator<Finding, VerifiedNode | undefined> {
  const verified = yield* verifyManifest(check);
  if (verified === undefined) return undefined;
  if (verified === 'missing') return yield* verifyStandIn(check);
  const { manifest, node } = verified;
  const indexUrls = yield* verifyRecord({ ...check, node }, manifest);
  return indexUrls && { node, indexUrls };
}

async function* verifyManifest(
  check: NodeCheck,
): AsyncGenerator<Finding, { manifest: TrustedManifest; node: HostingNode } | 'missing' | undefined> {
  const { source, reader, now } = check;
  const about: About = { document: 'manifest', url: source.manifestUrls[0] };
  try {
    const [first, ...copies] = await openManifests(check);
    if (!first) {
      const places = [source.manifestUrls[0], source.otherManifestUrls?.[0]].filter(
        (url) => url !== undefined,
      );
      const missing = `There is no manifest at ${places.join(' or ')}`;
      if (check.standIn === undefined) throw new CrawlFault('manifest-missing', `${missing}.`);
      const told = `${missing}: with REQUIRE_MANIFEST=false, the registry's own record stands in.`;
      yield warning(about, 'manifest-missing', told);
      return 'missing';
    }
    about.url = first.opened.url;
    const { document } = first.opened;
    const records = await askRegistry(() => reader.registry.findSubscriber(check.node.identity));
    const node = { ...check.node, keyNames: keyNamesOf(document, records) };
    const keys = await findKeys(reader, node, [claimedRecordId(document)]);
    const host = source.host === undefined ? claimedHostOf(document) : new URL(first.opened.url).host;
    const manifest = trustManifest(first.opened, { node, host, keys });
    const { next_update: nextUpdate } = manifest.manifest;
    yield holds(
      { ...about, key: manifest.signedBy },
      `signed with ${manifest.signedBy}, next update ${nextUpdate}`,
    );
    yield* staleness(about, nextUpdate, now);
    for (const { opened } of copies) {
      if (JSON.stringify(opened.document) !== JSON.stringify(document))
        yield warning(about, 'copies-differ', `The manifest at ${opened.url} is another one.`);
    }
    return { manifest, node };
  } catch (error) {
    yield fault(about, error);
    return undefined;
  }
}

/** Without a manifest, only the registry says where the indexes are. */
function* verifyStandIn({
  reader,
  node,
  standIn = [],
}: NodeCheck): Generator<Finding, VerifiedNode | undefined> {
  const about: About = { document: 'record' };
  try {
    const indexUrls = requireIndexes(reader, node.identity, standIn);
    yield holds(about, `that of the registry, indexes: ${indexUrls.length}`);
    return { node, indexUrls };
  } catch (error) {
    yield fault(about, error);
    return undefined;
  }
}

async function* verifyRecord(
  { reader, node, now, signal }: NodeCheck,
  manifest: TrustedManifest,
): AsyncGenerator<Finding, readonly string[] | undefined> {
  const about: About = { document: 'record' };
  try {
    const { url, record } = await readRecord(reader, node, manifest, signal);
    about.url = url;
    const signed = record.signedBy === undefined ? 'bound by its digest' : `signed with ${record.signedBy}`;
    const key = record.signedBy === undefined ? {} : { key: record.signedBy };
    yield holds({ ...about, ...key }, `${signed}, indexes: ${record.catalogIndexUrls.length}`);
    yield* staleness(about, record.nextUpdate, now);
    return requireIndexes(reader, node.identity, record.catalogIndexUrls);
  } catch (error) {
    yield fault({ ...about, url: about.url ?? manifest.recordFiles[0]?.url }, error);
    return undefined;
  }
}

/** The node that the tree claims to belong to. Nothing is verified here: the signatures will have to be those of this node's keys. */
export async function findClaimedNode(check: Omit<NodeCheck, 'node' | 'now'>): Promise<string | undefined> {
  const { source, reader, signal } = check;
  const [manifest] = await openManifests(check).catch(() => []);
  const named = manifest && claimedNodeOf(manifest.opened.document);
  if (named !== undefined) return named;
  const urls = manifest ? claimedFileUrls(manifest.opened.document) : [];
  for (const url of [...urls, ...source.indexUrls]) {
    const maxBytes = reader.limits.maxIndexBytes;
    const answer = await fetchDocument(reader, 'record', url, { maxBytes, signal }).catch(() => undefined);
    const name = answer?.kind === 'opened' ? claimedNodeOf(answer.opened.document) : undefined;
    if (name !== undefined) return name;
  }
  const domain = manifest?.opened.document.domain;
  return typeof domain === 'string' ? domain : undefined;
}

async function openManifests({
  source,
  reader,
  signal,
}: Omit<NodeCheck, 'node' | 'now'>): Promise<OpenedFile[]> {
  const open = async (urls: readonly string[]): Promise<OpenedFile[]> => {
    const found: OpenedFile[] = [];
    for (const url of urls) {
      const answer = await fetchDocument(reader, 'manifest', url, { maxBytes: maxNodeFileBytes, signal });
      if (answer.kind === 'opened') found.push(answer);
    }
    return found;
  };
  const found = await open(source.manifestUrls);
  if (found.length > 0 || source.otherManifestUrls === undefined) return found;
  return open(source.otherManifestUrls).catch((error) => {
    if (isNoHost(error)) return [];
    throw error;
  });
}
