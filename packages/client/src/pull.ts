import { gunzipSync } from 'node:zlib';
import { actions } from '../../../src/protocol/actions.ts';
import type { ReceivedCatalog } from '../../../src/protocol/catalog.ts';
import { sha256Matches } from '../../../src/protocol/digest.ts';
import { isJsonObject, parseJson } from '../../../src/protocol/json.ts';
import { type DownloadManifest, OnPullMessage } from '../../../src/protocol/pull-messages.ts';
import { validator } from '../../../src/protocol/validate.ts';
import { askAndWait, type CallOptions, type Core } from './core.ts';
import { asSignpostError, SignpostError } from './errors.ts';
import { chooseFetch } from './fetch-public.ts';
import { readBytes } from './read-bytes.ts';

export interface PullOptions extends Omit<CallOptions, 'messageId'> {
  /** Number of catalogs per request (1 to 100, default 20). */
  pageSize?: number;
  /** A larger download is refused (default 256 MiB, and eight times that when decompressed). */
  maxDownloadBytes?: number;
  /** Time limit of a download (default 300,000). */
  downloadTimeoutMs?: number;
}

const defaultMaxDownloadBytes = 256 * 1024 * 1024;
const maxInflation = 8;
const defaultDownloadTimeoutMs = 300_000;

/**
 * Every catalog of a subscription, page by page (catalog spec: POST /catalog/pull). Downloads that the service offers are fetched, from a public
 * address unless the options allow others, compared with their checksum, and read.
 */
export async function* pull(
  core: Core,
  subscriptionId: string,
  {
    pageSize = 20,
    maxDownloadBytes = defaultMaxDownloadBytes,
    downloadTimeoutMs = defaultDownloadTimeoutMs,
    ...options
  }: PullOptions = {},
): AsyncGenerator<ReceivedCatalog, void, void> {
  const { signal } = options;
  for (let offset = 0; ; ) {
    const message = { subscriptionId, mode: 'FULL', limit: pageSize, offset };
    const question = { action: actions.pull, service: 'catalog', message } as const;
    const { callback } = await askAndWait(core, question, options);
    if (!callback) return;
    const { status, error, downloadManifest, pagination, catalogs = [] } = callback.message;
    const { messageId } = callback.context;
    if (status === 'FAILED') {
      const { code = 'NET_INTERNAL_ERROR', message: problem = 'The pull failed.', details } = error ?? {};
      throw new SignpostError(code, problem, { path: details?.path, messageId });
    }
    const downloading = { messageId, maxBytes: maxDownloadBytes, timeoutMs: downloadTimeoutMs, signal };
    const page = downloadManifest ? await download(core, downloadManifest, downloading) : catalogs;
    yield* page;
    offset += page.length;
    if (!pagination || page.length === 0 || offset >= pagination.total) return;
  }
}

interface DownloadOptions {
  messageId: string;
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal;
}

async function download(
  { settings }: Core,
  { url, checksum }: DownloadManifest,
  { messageId, maxBytes, timeoutMs, signal }: DownloadOptions,
): Promise<ReceivedCatalog[]> {
  const fail = (problem: string, cause?: unknown) =>
    new SignpostError('NET_CATALOG_SOURCE_UNAVAILABLE', `The download ${problem}.`, { messageId, cause });
  const notFetched = (error: unknown): never => {
    signal?.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw fail(`at ${url} cannot be fetched: ${reason}`, error);
  };
  const timeout = AbortSignal.timeout(timeoutMs);
  const ends = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const response = await chooseFetch(settings)(url, { signal: ends }).catch(notFetched);
  if (!response.ok) throw fail(`at ${url} answers ${response.status}`);
  const bytes = await readBytes(response, maxBytes).catch(notFetched);
  if (!sha256Matches(checksum, bytes)) throw fail('does not have its checksum');
  try {
    const document = parseJson(gunzipSync(bytes, { maxOutputLength: maxBytes * maxInflation }));
    const catalogs = isJsonObject(document) ? document.catalogs : undefined;
    return validator(OnPullMessage)({ status: 'COMPLETED', catalogs }).catalogs ?? [];
  } catch (error) {
    throw fail('cannot be read', asSignpostError(error, messageId));
  }
}
