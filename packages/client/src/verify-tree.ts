import { ProtocolError } from '../../../src/protocol/errors.ts';
import { identityOf } from '../../../src/protocol/identity.ts';
import type { JsonObject } from '../../../src/protocol/json.ts';
import type { BaselineReference, ChangeReference } from '../../../src/protocol/signed-files.ts';
import { assembleCatalog, describeGap } from '../../../src/rules/self-hosted/assemble.ts';
import {
  claimedFileUrls,
  claimedHostOf,
  claimedNodeOf,
  findClaimedKeys,
} from '../../../src/rules/self-hosted/claims.ts';
import type { CatalogContent } from '../../../src/rules/self-hosted/content.ts';
import { type HostedDocument, TrustFault } from '../../../src/rules/self-hosted/faults.ts';
import { type OpenedDocument, openDocument } from '../../../src/rules/self-hosted/open-document.ts';
import { type RecordReader, readSubscriberRecord } from '../../../src/rules/self-hosted/read-record.ts';
import {
  claimedRecordId,
  type HostingNode,
  type Keys,
  keyNamesOf,
} from '../../../src/rules/self-hosted/signer.ts';
import { type FileReader, trustBaseline, trustChange } from '../../../src/rules/self-hosted/trust-files.ts';
import {
  claimedKeysOfIndex,
  type TrustedEntry,
  trustEntries,
  trustIndex,
} from '../../../src/rules/self-hosted/trust-index.ts';
import { trustManifest } from '../../../src/rules/self-hosted/trust-node.ts';
import { asSignpostError } from './errors.ts';
import { chooseFetch } from './fetch-public.ts';
import { createRegistry, defaultRegistryName, type Registry } from './registry.ts';
import type { TreeFault, TreeReport, VerifyTreeOptions } from './tree-report.ts';
import { openSource, type TreeSource } from './tree-source.ts';

/** Those of the crawler. */
const limits = { maxEntries: 20_000, maxChanges: 1_000, maxMasters: 8 };
const maxInflatedBytes = 100 * 1024 * 1024;

/**
 * Reads what a Provider Node publishes as files, from its host or out of a directory, as a crawler does that has never seen it (self-hosted spec:
 * Discovery crawl order): manifest → Subscriber record → indexes → entries → baseline and change files. Every signature, digest and version is
 * checked; domain schemas of attributes are not. Throws only where the registry cannot be asked.
 */
export async function verifyTree(place: string | URL, options: VerifyTreeOptions): Promise<TreeReport> {
  return (await walkTree(place, options)).report;
}

/** Likewise, with what was read. Of several catalogs, only the one that `catalogId` names, where it is given. */
export async function walkTree(
  place: string | URL,
  options: VerifyTreeOptions,
  catalogId?: string,
): Promise<WalkedTree> {
  const { registryName = defaultRegistryName, fetch: ask = fetch, allowPrivateAddresses, signal } = options;
  const report: TreeReport = { isValid: false, documents: 0, catalogs: [], faults: [] };
  const source = openSource(place, chooseFetch({ allowPrivateAddresses, fetch: ask }), signal);
  const walk: Walk = { source, registry: openRegistry(options), registryName, report, files: [], catalogId };
  try {
    const reached = await verifyNode(walk, options.node);
    if (reached) for (const url of reached.indexUrls) await verifyIndex(walk, reached.node, url);
  } catch (error) {
    throw asSignpostError(error);
  }
  report.isValid = report.faults.length === 0;
  return walk;
}

export function openRegistry({
  registry,
  registryName = defaultRegistryName,
  fetch: ask,
}: VerifyTreeOptions) {
  return typeof registry === 'string'
    ? createRegistry({ url: registry, registryName, fetch: ask })
    : registry;
}

export interface WalkedTree {
  report: TreeReport;
  /** The documents that were read, in the order of the chain. */
  files: { document: HostedDocument; url: string; digest?: string }[];
  /** Of the catalog that was asked for, if all of its files hold. */
  content?: CatalogContent;
  /** The host answers, and has no manifest. */
  hasNoManifest?: boolean;
}

interface Walk extends WalkedTree {
  source: TreeSource;
  registry: Registry;
  registryName: string;
  catalogId: string | undefined;
}

async function verifyNode(
  walk: Walk,
  named: string | undefined,
): Promise<{ node: HostingNode; indexUrls: readonly string[] } | undefined> {
  const { source } = walk;
  const about: About = { document: 'manifest', url: source.manifestUrls[0] };
  const verified = await note(walk, about, async () => {
    const opened = await openManifest(walk);
    about.url = opened.url;
    const node = await describeNode(walk, opened.document, named);
    const keys = await findKeys(walk, node, [claimedRecordId(opened.document)]);
    const host = source.host ?? claimedHostOf(opened.document);
    return { node, manifest: trustManifest(opened, { node, host, keys }) };
  });
  if (!verified) return undefined;
  const { node, manifest } = verified;
  const read = await note(walk, { document: 'record', url: manifest.recordFiles[0]?.url }, async () => {
    const reader: RecordReader = {
      open: (document, url, digest) => open(walk, document, url, digest),
      findKeys: (claimed) => findKeys(walk, node, claimed),
    };
    return readSubscriberRecord(reader, node, manifest);
  });
  return read && { node, indexUrls: read.record.catalogIndexUrls };
}

async function describeNode(
  walk: Walk,
  manifest: JsonObject,
  named: string | undefined,
): Promise<HostingNode> {
  const { registry, registryName, report } = walk;
  const identity = identityOf(named ?? (await findClaimedNode(walk, manifest)), registryName);
  report.node = identity;
  const records = await registry.findSubscriber(identity);
  const recordSubscriberId = records[0]?.subscriberId;
  return { identity, registryName, recordSubscriberId, keyNames: keyNamesOf(manifest, records) };
}

async function verifyIndex(walk: Walk, node: HostingNode, url: string): Promise<void> {
  let keys: Keys = new Map();
  const index = await note(walk, { document: 'index', url }, async () => {
    const opened = await open(walk, 'index', url);
    keys = await findKeys(walk, node, claimedKeysOfIndex(opened));
    return trustIndex(opened, { node, keys, limits, allowUnsigned: false });
  });
  if (!index) return;
  const { entries, faults } = trustEntries(index, { node, keys, limits });
  const isAsked = (catalogId?: string) => walk.catalogId === undefined || walk.catalogId === catalogId;
  for (const { catalogId, fault } of faults.filter((one) => isAsked(one.catalogId)))
    walk.report.faults.push(describeFault({ document: 'entry', catalogId, url }, fault));
  for (const entry of entries.filter((one) => isAsked(one.entry.catalogId)))
    await verifyCatalog(walk, node, entry);
}

async function verifyCatalog(walk: Walk, node: HostingNode, trusted: TrustedEntry): Promise<void> {
  const { report } = walk;
  const { entry } = trusted;
  const { catalogId, catalogType, baseline, changes, retiredAt } = entry;
  report.documents += 1;
  if (retiredAt !== undefined || !baseline) {
    report.catalogs.push({ catalogId, catalogType, resources: 0, offers: 0 });
    return;
  }
  const read = <T>(
    document: 'baseline' | 'change',
    { url, digest }: BaselineReference | ChangeReference,
    trust: (opened: OpenedDocument, reader: FileReader) => { file: T },
  ) =>
    note(walk, { document, catalogId, url }, async () => {
      const opened = await open(walk, document, url, digest);
      const keys = await findKeys(walk, node, [claimedRecordId(opened.document)]);
      return trust(opened, { node, entry: trusted, keys, checker: { check: () => [] } }).file;
    });
  const base = await read('baseline', baseline, trustBaseline);
  const files = new Map<ChangeReference, ReturnType<typeof trustChange>['file']>();
  for (const change of changes) {
    const file = await read('change', change, (opened, reader) => trustChange(opened, change, reader));
    if (file) files.set(change, file);
  }
  if (!base || files.size !== changes.length) return;
  try {
    const content = assembleCatalog(entry, base, files);
    if (!content) {
      const gap = { code: 'gap', message: describeGap(entry), hint: gapHint };
      report.faults.push({ document: 'entry', catalogId, ...gap });
      return;
    }
    if (catalogId === walk.catalogId) walk.content = content;
    const { version, resources, offers } = content;
    report.catalogs.push({ catalogId, catalogType, version, resources: resources.size, offers: offers.size });
  } catch (error) {
    report.faults.push(describeFault({ document: 'entry', catalogId }, error));
  }
}

const gapHint = 'Publish a new baseline, or list every change since the last one.';

type About = Pick<TreeFault, 'document' | 'url' | 'catalogId'>;

/** Records whether a document is valid; undefined if it is not. */
async function note<T>({ report }: Walk, about: About, verify: () => Promise<T>): Promise<T | undefined> {
  try {
    const value = await verify();
    report.documents += 1;
    return value;
  } catch (error) {
    // The registry could not be asked: that says nothing about the document.
    if (error instanceof ProtocolError) throw error;
    report.faults.push(describeFault(about, error));
    return undefined;
  }
}

function describeFault(about: About, error: unknown): TreeFault {
  if (error instanceof TrustFault)
    return { ...about, code: error.code, message: error.message, hint: error.hint };
  const reason = error instanceof Error ? error.message : String(error);
  return {
    ...about,
    code: 'unreachable',
    message: `The ${about.document} at ${about.url} cannot be read: ${reason}.`,
    hint: 'Upload the file to this address, and let anybody read it.',
  };
}

async function openManifest(walk: Walk): Promise<OpenedDocument> {
  for (const url of walk.source.manifestUrls) {
    const opened = await openIfThere(walk, 'manifest', url);
    if (opened) return opened;
  }
  walk.hasNoManifest = true;
  throw new Error(nothingThere);
}

async function open(...named: Parameters<typeof openIfThere>): Promise<OpenedDocument> {
  const opened = await openIfThere(...named);
  if (!opened) throw new Error(nothingThere);
  return opened;
}

const nothingThere = 'there is nothing at this address';

async function openIfThere(
  { source, files }: Walk,
  document: HostedDocument,
  url: string,
  digest?: string,
): Promise<OpenedDocument | undefined> {
  const file = await source.read(url);
  if (!file) return undefined;
  files.push({ document, url, ...(digest !== undefined && { digest }) });
  return openDocument(document, file, { digest, maxInflatedBytes });
}

async function findKeys(
  { registry }: Walk,
  node: HostingNode,
  claimed: readonly (string | undefined)[],
): Promise<Keys> {
  return findClaimedKeys(node, claimed, (name) => registry.findKey(node.identity, name));
}

/** The node that the files claim to belong to. Nothing is verified here: the signatures will have to be those of this node's keys. */
async function findClaimedNode(walk: Walk, manifest: JsonObject): Promise<string> {
  const named = claimedNodeOf(manifest);
  if (named !== undefined) return named;
  for (const url of claimedFileUrls(manifest)) {
    const opened = await open(walk, 'record', url).catch(() => undefined);
    const name = opened && claimedNodeOf(opened.document);
    if (name !== undefined) return name;
  }
  return String(manifest.domain);
}
