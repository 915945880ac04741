import { manifestUrlsAt } from '../../../src/discovery/crawl/places.ts';
import { CrawlFault } from '../../../src/discovery/crawl/reasons.ts';
import type { Finding } from '../../../src/discovery/inspect/findings.ts';
import { openDirectory } from '../../../src/discovery/inspect/tree-directory.ts';
import { openNamed, type TreeReader } from '../../../src/discovery/inspect/tree-reader.ts';
import {
  describeNode,
  type TreeSource as VerifiedSource,
} from '../../../src/discovery/inspect/verify-node.ts';
import { verifyTree as verifyLinks } from '../../../src/discovery/inspect/verify-tree.ts';
import { findClaimedKeys } from '../../../src/rules/self-hosted/claims.ts';
import type { CatalogContent } from '../../../src/rules/self-hosted/content.ts';
import type { HostedDocument } from '../../../src/rules/self-hosted/faults.ts';
import { openDocument, type ServedFile } from '../../../src/rules/self-hosted/open-document.ts';
import { claimedKeysOfIndex, trustEntries, trustIndex } from '../../../src/rules/self-hosted/trust-index.ts';
import { asSignpostError } from './errors.ts';
import { chooseFetch, type FetchFile } from './fetch-public.ts';
import { readBytes } from './read-bytes.ts';
import { createRegistry, defaultRegistryName } from './registry.ts';
import type { TreeReport, VerifyTreeOptions } from './tree-report.ts';

const maxFileBytes = 64 * 1024 * 1024;
const fetchTimeoutMs = 30_000;

/** The limits of the crawler. */
const limits = { maxIndexes: 100, maxEntries: 20_000, maxChanges: 1_000, maxMasters: 8 };
const maxInflatedBytes = 100 * 1024 * 1024;

/**
 * Reads the files that a Provider Node publishes, from its host or a directory, like a new crawler (self-hosted spec: Discovery crawl order):
 * manifest → Subscriber record → indexes → entries → baseline and change files. Every signature, digest and version is checked; domain schemas of
 * attributes are not. Throws only if the registry is unreachable.
 */
export async function verifyTree(place: string | URL, options: VerifyTreeOptions): Promise<TreeReport> {
  return (await walkTree(place, options)).report;
}

export interface WalkedTree {
  report: TreeReport;
  files: { document: HostedDocument; url: string; digest?: string }[];
  /** Content of the requested catalog, if all its files are valid. */
  content?: CatalogContent;
}

/** Likewise, and returns what it read. If `asked` is given, it reads only that catalog. */
export async function walkTree(place: string | URL, options: VerifyTreeOptions, asked?: string) {
  const { fetch: ask = fetch, allowPrivateAddresses, signal } = options;
  const report: TreeReport = { isValid: false, documents: 0, catalogs: [], faults: [] };
  const walked: WalkedTree = { report, files: [] };
  const source = await openSource(place, chooseFetch({ allowPrivateAddresses, fetch: ask }), signal);
  const reader = createReader(source, options, walked.files);
  try {
    const node = await describeNode({ source, reader }, options.node, source.host ?? '');
    const links = verifyLinks({
      ...{ source, reader, node, now: new Date() },
      isAsked: (catalogId) => asked === undefined || asked === catalogId,
      onCatalog({ catalogId, catalogType }, content) {
        const counts = { resources: content?.resources.size ?? 0, offers: content?.offers.size ?? 0 };
        report.catalogs.push({ catalogId, catalogType, version: content?.version, ...counts });
        if (catalogId === asked) walked.content = content;
      },
    });
    for await (const link of links) note(report, link);
    if (walked.files.length > 0) report.node = node.identity;
  } catch (error) {
    throw asSignpostError(error);
  }
  report.isValid = report.faults.length === 0;
  return walked;
}

function note(report: TreeReport, link: Finding): void {
  if (link.kind === 'holds' && link.document !== 'catalog') report.documents += 1;
  if (link.kind !== 'fault') return;
  const { url, catalogId, code, message, hint } = link;
  // If the files of a catalog do not match, the fault is in the entry that lists them.
  const document = link.document === 'catalog' ? 'entry' : (link.document as HostedDocument);
  report.faults.push({ document, url, catalogId, code, message, hint });
}

function createReader(source: TreeSource, options: VerifyTreeOptions, files: WalkedTree['files']) {
  const registry = openRegistry(options);
  const reader: TreeReader = {
    registryName: options.registryName ?? defaultRegistryName,
    limits,
    checker: () => ({ check: () => [] }),
    async open(document, url, digest) {
      const file = await source.read(url).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        const problem = `The ${document} at ${url} cannot be read: ${reason}.`;
        throw new CrawlFault('unreachable', problem, { url, cause: error });
      });
      if (!file) return undefined;
      // A manifest may be at two places.
      const isCopy = document === 'manifest' && files.some((one) => one.document === document);
      const isKnown = isCopy || files.some((one) => one.url === url);
      if (!isKnown) files.push({ document, url, ...(digest !== undefined && { digest }) });
      return { opened: openDocument(document, file, { digest, maxInflatedBytes }), bytes: file.wire.length };
    },
    async readIndex(node, url) {
      const { opened } = await openNamed(reader, 'index', url);
      const keys = await reader.findKeys(node, claimedKeysOfIndex(opened));
      const index = trustIndex(opened, { node, keys, limits, allowUnsigned: false });
      return { index, ...trustEntries(index, { node, keys, limits }) };
    },
    findKeys: (node, claimed) =>
      findClaimedKeys(node, claimed, (name) => registry.findKey(node.identity, name)),
    findSubscriber: (identity) => registry.findSubscriber(identity),
  };
  return reader;
}

export function openRegistry({ registry, registryName = defaultRegistryName, fetch }: VerifyTreeOptions) {
  return typeof registry === 'string' ? createRegistry({ url: registry, registryName, fetch }) : registry;
}

// Source of published files: the host that serves them, or a directory, before it is uploaded.

interface TreeSource extends VerifiedSource {
  /** Undefined if the file does not exist; throws if that is unknown. */
  read(url: string): Promise<ServedFile | undefined>;
}

async function openSource(place: string | URL, ask: FetchFile, signal?: AbortSignal): Promise<TreeSource> {
  const text = String(place);
  return /^https?:\/\//.test(text) ? httpSource(new URL(text), ask, signal) : directorySource(text);
}

function httpSource({ origin, host }: URL, ask: FetchFile, signal?: AbortSignal): TreeSource {
  return {
    host,
    manifestUrls: manifestUrlsAt(origin),
    indexUrls: [],
    async read(url) {
      const timeout = AbortSignal.timeout(fetchTimeoutMs);
      const response = await ask(url, { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
      if (response.status === 404 || response.status === 410) return undefined;
      if (!response.ok) throw new Error(`it answers ${response.status}`);
      // fetch removes a Content-Encoding; otherwise the first bytes of the file show it.
      return { url, wire: await readBytes(response, maxFileBytes) };
    },
  };
}

async function directorySource(path: string): Promise<TreeSource> {
  const { read, ...urls } = await openDirectory(path);
  return {
    ...urls,
    async read(url) {
      const wire = await read(url);
      return wire && { url, wire };
    },
  };
}
