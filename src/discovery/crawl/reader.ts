import { ProtocolError } from '../../protocol/errors.ts';
import type { KeyLookup } from '../../protocol/registry-record.ts';
import type { RegistryClient } from '../../registry/client.ts';
import type { Check } from '../../rules/check-attributes.ts';
import type { HostedDocument } from '../../rules/self-hosted/faults.ts';
import { type OpenedDocument, openDocument } from '../../rules/self-hosted/open-document.ts';
import type { HostingNode } from '../../rules/self-hosted/signer.ts';
import type { IndexLimits } from '../../rules/self-hosted/trust-index.ts';
import type { Fetched, Fetcher, FetchOptions } from './fetch.ts';
import { CrawlFault } from './reasons.ts';

// Reading hosted documents: fetch, open, ask the registry for the keys that they claim, trust. Nothing is kept here, so that the
// crawler and the commands that look at a node read in the same way.

export interface Reader {
  fetcher: Fetcher;
  registry: Pick<RegistryClient, 'findKey' | 'findSubscriber'>;
  registryName: string;
  /** Of typed attributes. */
  checker(): Check;
  limits: ReadLimits;
  /** Nodes without a manifest are refused; otherwise the registry's record stands in. */
  requireManifest: boolean;
  allowUnsignedIndex: boolean;
  cutoverFraction: number;
}

export interface ReadLimits extends IndexLimits {
  maxFileBytes: number;
  maxIndexBytes: number;
  maxInflatedBytes: number;
  maxIndexes: number;
}

export type OpenedAnswer = Exclude<Fetched, { kind: 'file' }> | OpenedFile;

export interface OpenedFile {
  kind: 'opened';
  opened: OpenedDocument;
  /** As they came over the wire. */
  bytes: number;
  etag?: string;
  modified?: string;
}

export async function fetchDocument(
  { fetcher, limits }: Reader,
  document: HostedDocument,
  url: string,
  options: FetchOptions & { digest?: string },
): Promise<OpenedAnswer> {
  const fetched = await fetcher.fetch(url, options);
  if (fetched.kind !== 'file') return fetched;
  const { file, etag, modified } = fetched;
  const { maxInflatedBytes } = limits;
  const opened = openDocument(document, file, { digest: options.digest, maxInflatedBytes });
  return { kind: 'opened', opened, bytes: file.wire.length, etag, modified };
}

/** One that must be there, because another document names it. */
export async function fetchNamed(
  reader: Reader,
  document: HostedDocument,
  url: string,
  options: FetchOptions & { digest?: string },
): Promise<OpenedFile> {
  const answer = await fetchDocument(reader, document, url, options);
  if (answer.kind === 'opened') return answer;
  throw new CrawlFault('file-missing', `The ${document} is not there: ${url} has nothing to offer.`, { url });
}

/** What the registry says about the keys that documents claim. */
export async function findKeys(
  { registry }: Pick<Reader, 'registry'>,
  { identity, keyNames }: HostingNode,
  claimed: readonly (string | undefined)[],
): Promise<Map<string, KeyLookup>> {
  const wanted = [...new Set(claimed.filter((name) => name !== undefined))];
  const found = await Promise.all(
    wanted.map((name) => askRegistry(() => registry.findKey(identity, keyNames?.get(name) ?? name))),
  );
  return new Map(wanted.map((name, index) => [name, found[index] ?? { kind: 'unknown-key' }]));
}

/** That the registry cannot be asked says nothing about the node: it is tried again. */
export async function askRegistry<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new CrawlFault('registry-unavailable', error.message, { cause: error });
  }
}
