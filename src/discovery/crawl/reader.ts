import { createBreaks } from '../../breaks.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import type { RegistryClient } from '../../registry/client.ts';
import type { Check } from '../../rules/check-attributes.ts';
import type { InheritanceLimits } from '../../rules/inherited-bytes.ts';
import type { Steps } from '../../rules/self-hosted/check-file.ts';
import { findClaimedKeys } from '../../rules/self-hosted/claims.ts';
import { type HostedDocument, TrustFault } from '../../rules/self-hosted/faults.ts';
import {
  claimedBytes,
  type OpenedDocument,
  openDocument,
  type ServedFile,
} from '../../rules/self-hosted/open-document.ts';
import type { HostingNode, KeyAnswer } from '../../rules/self-hosted/signer.ts';
import type { IndexLimits } from '../../rules/self-hosted/trust-index.ts';
import type { Fetched, Fetcher, FetchOptions } from './fetch.ts';
import { CrawlFault, fileMissing } from './reasons.ts';
import type { Share } from './room.ts';
import { type Aside, asideBytes, type FindKeys } from './verify-aside.ts';

// Reads hosted documents: fetch, open, look up the claimed keys, trust. It keeps no state, so the crawler and commands read in the same way.

export interface Reader {
  fetcher: Fetcher;
  registry: Pick<RegistryClient, 'findKey' | 'findSubscriber'>;
  registryName: string;
  checker(): Check;
  limits: ReadLimits;
  /** Nodes without a manifest are refused; otherwise the registry record replaces it. */
  requireManifest: boolean;
  allowUnsignedIndex: boolean;
  cutoverFraction: number;
  /** Verifies large files in a thread, with room for each; without it, files are verified at once here. */
  aside?: Aside;
  share?: Share;
}

interface ReadLimits extends IndexLimits {
  maxFileBytes: number;
  maxIndexBytes: number;
  maxInflatedBytes: number;
  maxIndexes: number;
  inherited: InheritanceLimits;
}

type OpenedAnswer = Exclude<Fetched, { kind: 'file' }> | OpenedFile;

export interface OpenedFile {
  kind: 'opened';
  opened: OpenedDocument;
  bytes: number;
  etag?: string;
  modified?: string;
}

export interface DocumentOptions extends FetchOptions {
  digest?: string;
  /** If it is less than the limit of the largest files. */
  maxInflatedBytes?: number;
}

export async function fetchDocument(
  reader: Reader,
  document: HostedDocument,
  url: string,
  options: DocumentOptions,
): Promise<OpenedAnswer> {
  const { digest, maxInflatedBytes: limit, signal } = options;
  const fetched = await reader.fetcher.fetch(url, { ...options, share: reader.share });
  if (fetched.kind !== 'file') return fetched;
  const { file, etag, modified } = fetched;
  const open = async (maxInflatedBytes: number) => openDocument(document, file, { digest, maxInflatedBytes });
  const opened = await inRoom(reader, file, signal, open, limit);
  return { kind: 'opened', opened, bytes: file.wire.length, etag, modified };
}

/** A document that must exist, because another one refers to it. */
export async function fetchNamed(
  reader: Reader,
  document: HostedDocument,
  url: string,
  options: DocumentOptions,
): Promise<OpenedFile> {
  const answer = await fetchDocument(reader, document, url, options);
  if (answer.kind === 'opened') return answer;
  throw fileMissing(document, url);
}

/** The same, as served. */
export async function fetchServed(
  { fetcher, share }: Reader,
  document: HostedDocument,
  url: string,
  options: FetchOptions,
): Promise<ServedFile> {
  const fetched = await fetcher.fetch(url, { ...options, share });
  if (fetched.kind === 'file') return fetched.file;
  throw fileMissing(document, url);
}

/** Opens a file when there is room for it. If it exceeds its declared size, it gets the maximum. */
export async function inRoom<T>(
  { share, limits }: Reader,
  file: ServedFile,
  signal: AbortSignal,
  open: (maxInflatedBytes: number) => Promise<T>,
  limit = limits.maxInflatedBytes,
): Promise<T> {
  const maxInflatedBytes = Math.min(limit, limits.maxInflatedBytes);
  const claimed = Math.min(claimedBytes(file), maxInflatedBytes);
  await share?.take(claimed, signal);
  try {
    return await open(claimed);
  } catch (error) {
    const isMore = error instanceof TrustFault && error.code === 'inflates-too-large';
    if (!isMore || claimed === maxInflatedBytes) throw error;
  }
  await share?.take(maxInflatedBytes - claimed, signal);
  return open(maxInflatedBytes);
}

/** Other work runs between the steps. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  const takeBreak = createBreaks();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await takeBreak();
  }
}

/** Files that may become large are verified in a thread, because a file's declared size may be false. */
export function mayBeLarge(maxInflatedBytes: number): boolean {
  return maxInflatedBytes >= asideBytes;
}

/** Finds keys for verification elsewhere: first those that the node probably signs with, then those that it claims. */
export function keyFinder(reader: Reader, node: HostingNode): FindKeys {
  return async (names) => {
    if (names) return findKeys(reader, node, names);
    const records = await askRegistry(() => reader.registry.findSubscriber(node.identity));
    const likely = [...records.map(({ recordId }) => recordId), ...(node.keyNames?.keys() ?? [])];
    return findKeys(reader, node, likely.slice(0, maxLikelyKeys));
  };
}

const maxLikelyKeys = 20;

export async function findKeys(
  { registry }: Pick<Reader, 'registry'>,
  node: HostingNode,
  claimed: readonly (string | undefined)[],
): Promise<Map<string, KeyAnswer>> {
  return findClaimedKeys(node, claimed, (name) =>
    askRegistry<KeyAnswer>(() => registry.findKey(node.identity, name)).catch(asUnavailable),
  );
}

function asUnavailable(error: unknown): KeyAnswer {
  if (!(error instanceof CrawlFault)) throw error;
  return { kind: 'unavailable', reason: error.message };
}

/** An unreachable registry says nothing about the node: the work is tried again. */
export async function askRegistry<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new CrawlFault('registry-unavailable', error.message, { cause: error });
  }
}
