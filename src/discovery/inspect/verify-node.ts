import { identityOf } from '../../protocol/identity.ts';
import { claimedFileUrls, claimedHostOf, claimedNodeOf } from '../../rules/self-hosted/claims.ts';
import type { OpenedDocument } from '../../rules/self-hosted/open-document.ts';
import { readSubscriberRecord } from '../../rules/self-hosted/read-record.ts';
import { claimedRecordId, type HostingNode, keyNamesOf } from '../../rules/self-hosted/signer.ts';
import { type TrustedManifest, trustManifest } from '../../rules/self-hosted/trust-node.ts';
import { requireIndexes } from '../crawl/places.ts';
import { CrawlFault, isNoHost } from '../crawl/reasons.ts';
import { type About, type Finding, fault, holds, staleness, warning } from './findings.ts';
import { openNamed, type TreeReader } from './tree-reader.ts';

// The first links of the chain (self-hosted spec: Discovery crawl order, 2 and 3): the manifest, and the Subscriber record that it names by digest.

export interface TreeSource {
  manifestUrls: readonly string[];
  /** Places to try if it is at none of these. */
  otherManifestUrls?: readonly string[];
  indexUrls: readonly string[];
  /** The serving host; unknown for a directory. */
  host?: string;
  /** Only the indexes are requested, nothing above them. */
  isIndexOnly?: boolean;
}

export interface NodeCheck {
  source: TreeSource;
  reader: TreeReader;
  node: HostingNode;
  now: Date;
  /** The indexes in the registry record, for readers that accept them without a manifest (REQUIRE_MANIFEST=false). */
  standIn?: readonly string[];
}

/** A node with a valid manifest and record. */
export interface VerifiedNode {
  /** With the manifest's names for its keys. */
  node: HostingNode;
  indexUrls: readonly string[];
}

/** Returns undefined if a link before the indexes is broken. */
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
      const places = [source.manifestUrls[0], source.otherManifestUrls?.[0]];
      const missing = `There is no manifest at ${places.filter((url) => url !== undefined).join(' or ')}`;
      if (check.standIn === undefined) throw new CrawlFault('manifest-missing', `${missing}.`);
      const told = `${missing}: with REQUIRE_MANIFEST=false, the registry's own record is used.`;
      yield warning(about, 'manifest-missing', told);
      return 'missing';
    }
    about.url = first.url;
    const { document } = first;
    const records = await reader.findSubscriber(check.node.identity);
    const node = { ...check.node, keyNames: keyNamesOf(document, records) };
    const keys = await reader.findKeys(node, [claimedRecordId(document)]);
    const host = source.host === undefined ? claimedHostOf(document) : new URL(first.url).host;
    const manifest = trustManifest(first, { node, host, keys });
    const { next_update: nextUpdate } = manifest.manifest;
    const { signedBy: key } = manifest;
    yield holds({ ...about, key }, `signed with ${key}, next update ${nextUpdate}`);
    yield* staleness(about, nextUpdate, now);
    for (const copy of copies) {
      if (JSON.stringify(copy.document) !== JSON.stringify(document))
        yield warning(about, 'copies-differ', `The manifest at ${copy.url} is different.`);
    }
    return { manifest, node };
  } catch (error) {
    yield fault(about, error);
    return undefined;
  }
}

/** Without a manifest, only the registry names the indexes. */
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
  { reader, node, now }: NodeCheck,
  manifest: TrustedManifest,
): AsyncGenerator<Finding, readonly string[] | undefined> {
  const about: About = { document: 'record' };
  try {
    const parts = {
      open: async (...named: Parameters<TreeReader['open']>) => (await openNamed(reader, ...named)).opened,
      findKeys: (claimed: readonly (string | undefined)[]) => reader.findKeys(node, claimed),
    };
    const { url, record } = await readSubscriberRecord(parts, node, manifest);
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

type ReadableTree = Pick<NodeCheck, 'source' | 'reader'>;

/** The owner of the tree: the named node, otherwise the one that the tree claims. */
export async function describeNode(
  { source, reader }: ReadableTree,
  named: string | undefined,
  otherwise: string,
): Promise<HostingNode> {
  const { registryName } = reader;
  const claimed = named ?? (await findClaimedNode({ source, reader })) ?? otherwise;
  const identity = identityOf(claimed, registryName);
  const [record] = await reader.findSubscriber(identity);
  return { identity, recordSubscriberId: record?.subscriberId, registryName };
}

/** Nothing is verified here: the signatures must be from this node's keys. */
async function findClaimedNode({ source, reader }: ReadableTree): Promise<string | undefined> {
  const [manifest] = await openManifests({ source, reader }).catch(() => []);
  const named = manifest && claimedNodeOf(manifest.document);
  if (named !== undefined) return named;
  const claiming = [
    ...claimedFileUrls(manifest?.document ?? {}).map((url) => ({ document: 'record', url }) as const),
    ...source.indexUrls.map((url) => ({ document: 'index', url }) as const),
  ];
  for (const { document, url } of claiming) {
    const file = await reader.open(document, url).catch(() => undefined);
    const name = file && claimedNodeOf(file.opened.document);
    if (name !== undefined) return name;
  }
  const domain = manifest?.document.domain;
  return typeof domain === 'string' ? domain : undefined;
}

async function openManifests({ source, reader }: ReadableTree): Promise<OpenedDocument[]> {
  const open = async (urls: readonly string[]): Promise<OpenedDocument[]> => {
    const found: OpenedDocument[] = [];
    for (const url of urls) {
      const file = await reader.open('manifest', url);
      if (file) found.push(file.opened);
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
