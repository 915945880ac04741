import { parseRetryAfter } from '../../delivery/retry-policy.ts';
import { createSlots } from '../../delivery/slots.ts';
import { FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import type { Metrics } from '../../metrics.ts';
import type { ServedFile } from '../../rules/self-hosted/open-document.ts';
import { type CrawlCode, CrawlFault } from './reasons.ts';
import type { Share } from './room.ts';

// Fetches bytes within limits, a few files of a host at a time; trust is decided elsewhere. "Unchanged" and "not found" are values.

export interface Fetcher {
  fetch(url: string, options: FetchOptions): Promise<Fetched>;
}

export interface FetchOptions {
  maxBytes: number;
  condition?: { etag?: string | null; modified?: string | null };
  operatorConfigured?: boolean;
  share?: Share;
  signal: AbortSignal;
}

export type Fetched =
  | { kind: 'unchanged' }
  | { kind: 'missing'; status: number }
  | { kind: 'file'; file: ServedFile; etag?: string; modified?: string };

const requestsPerHost = 2;
const requestsAtOnce = 64;

interface FetcherParts {
  client: GuardedClient;
  metrics?: Pick<Metrics, 'counter'>;
  now(): Date;
  timeoutMs: number;
}

export function createFetcher({ client, metrics, now, timeoutMs }: FetcherParts): Fetcher {
  const slots = createSlots({ total: requestsAtOnce, perParty: requestsPerHost });
  const fetches = metrics?.counter('signpost_crawl_fetches_total', 'Files the crawler asked for', [
    'outcome',
  ]);
  for (const outcome of ['fetched', 'unchanged', 'missing', 'failed']) fetches?.inc({ outcome }, 0);
  const fetchedBytes = metrics?.counter('signpost_crawl_fetched_bytes_total', 'Bytes the crawler fetched');

  return {
    async fetch(url, { maxBytes, condition, operatorConfigured, share, signal }) {
      const leave = await enter(hostOf(url), share, signal);
      try {
        const headers = conditionalHeaders(condition);
        const asking = { headers, timeoutMs, maxBytes, signal, keepEncoding: true, operatorConfigured };
        const answer = await client.request(url, asking);
        const { status, wire } = answer;
        fetchedBytes?.inc(wire.length);
        // A host that answers 304 to an unconditional request hides its content.
        const isConditional = 'if-none-match' in headers || 'if-modified-since' in headers;
        if (status === 304 && isConditional) return count('unchanged', { kind: 'unchanged' });
        if (status === 404 || status === 410) return count('missing', { kind: 'missing', status });
        if (status !== 200) throw statusFault(url, status, answer.headers, now());
        const { etag, 'last-modified': modified } = answer.headers;
        const file = { url, wire, isEncoded: isEncoded(url, answer.headers) };
        return count('fetched', { kind: 'file', file, etag, modified });
      } catch (error) {
        fetches?.inc({ outcome: 'failed' });
        throw error instanceof FetchFailure ? faultOf(error, url) : error;
      } finally {
        leave();
      }
    },
  };

  /** Requests nothing while a response waits for room, and leaves the slot to hosts with room. */
  async function enter(host: string, share: Share | undefined, signal: AbortSignal): Promise<() => void> {
    for (;;) {
      const leave = await slots.enter(host, signal);
      if (share === undefined || share.mayFetch()) return leave;
      leave();
      await share.pass(signal);
    }
  }

  function count(outcome: string, fetched: Fetched): Fetched {
    fetches?.inc({ outcome });
    return fetched;
  }
}

/** The host with its port, which identifies it. */
export function hostOf(url: string): string {
  if (!isAddress(url)) throw new CrawlFault('bad-url', `"${url}" is not a URL.`, { url });
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`;
}

/** A URL with a valid host name. */
export function isAddress(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname.length <= maxHostLength;
}

/** RFC 1035, section 2.3.4. */
const maxHostLength = 255;

function conditionalHeaders(condition: FetchOptions['condition']): Record<string, string> {
  return {
    accept: 'application/json, */*;q=0.1',
    'accept-encoding': 'gzip',
    ...(condition?.etag && { 'if-none-match': condition.etag }),
    ...(condition?.modified && { 'if-modified-since': condition.modified }),
  };
}

/** It is decoded when the file is opened: before that, its full size is unknown. */
function isEncoded(url: string, headers: Record<string, string>): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (['', 'identity'].includes(encoding)) return false;
  if (['gzip', 'x-gzip'].includes(encoding)) return true;
  const problem = `${url} answers in the encoding "${encoding}", which is not gzip.`;
  throw new CrawlFault('bad-encoding', problem, { url });
}

function statusFault(url: string, status: number, headers: Record<string, string>, now: Date): CrawlFault {
  const isBusy = status === 429 || status >= 500;
  return new CrawlFault('http-status', `${url} answers ${status}.`, {
    ...{ url, hostFailed: isBusy },
    ...(isBusy && { retryAfterMs: parseRetryAfter(headers['retry-after'], now) }),
  });
}

function faultOf({ kind, message, cause }: FetchFailure, url: string): Error {
  if (kind === 'aborted') return cause instanceof Error ? cause : new Error(message);
  const hostFailed = kind === 'unreachable' || kind === 'timeout';
  return new CrawlFault(kind satisfies CrawlCode, message, { url, hostFailed, cause });
}
