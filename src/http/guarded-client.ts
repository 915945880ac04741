import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { literalAddress, specialRangeOf } from '../rules/addresses.ts';
import { type AnswerHead, asFetchFailure, FetchFailure } from './fetch-failure.ts';
import { guardedConnector, openConnector, refusal } from './guarded-connector.ts';
import { inflate } from './inflate.ts';
import { createNameLookup } from './name-lookup.ts';

export { FetchFailure } from './fetch-failure.ts';

/**
 * Everything that we call goes through here. Addresses come from messages, records and files of others, so each call has a
 * time-out for the whole exchange, limits on what is read, and no way to an address that is not public. Addresses that the
 * operator configured are not guarded.
 */
export interface GuardedClient {
  /** Reads the whole answer. Throws a FetchFailure when none came that can be used; any HTTP status is an answer. */
  request(url: string, options: RequestOptions): Promise<FetchedAnswer>;
  /** The body as it is served, to be read piece by piece; reading it fails with a FetchFailure. */
  stream(url: string, options: RequestOptions): Promise<StreamedAnswer>;
  close(): Promise<void>;
}

export interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** For the whole exchange: resolving, connecting, redirects, the last byte of the body. */
  timeoutMs: number;
  /** Of the body, as it comes over the wire. */
  maxBytes: number;
  /** Of the body after a Content-Encoding; the same as maxBytes unless given. */
  maxInflatedBytes?: number;
  /** The body stays in its Content-Encoding: the caller undoes it. */
  keepEncoding?: boolean;
  /** Only GET and HEAD are ever redirected; 3 unless given. */
  maxRedirects?: number;
  /** The operator wrote this address: any scheme and range. Does not extend to another origin it redirects to. */
  operatorConfigured?: boolean;
  signal?: AbortSignal;
}

export interface FetchedAnswer extends AnswerHead {
  /** Without its Content-Encoding, unless that is to be kept. */
  body: Buffer;
  /** As it came over the wire; the same buffer where there was no Content-Encoding. */
  wire: Buffer;
  /** Where the answer came from, after redirects. */
  url: string;
}

export interface StreamedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Readable;
  url: string;
}

export interface GuardedClientOptions {
  /** Lets messages, records and files name private addresses and plain HTTP (development). */
  allowPrivateAddresses: boolean;
  /** Addresses of name servers (DNS_SERVERS); those of the system unless given. */
  nameServers?: readonly string[];
  /** Resolves names in another way. */
  lookup?: LookupFunction;
}

const defaultMaxRedirects = 3;
const connectionsPerOrigin = 64;
const keepAliveMs = 10_000;

export function createGuardedClient({
  allowPrivateAddresses,
  nameServers,
  lookup = createNameLookup({ servers: nameServers }),
}: GuardedClientOptions): GuardedClient {
  // Two pools: a connection that was opened without the check can never serve a call that needs it.
  const open = new Agent({ ...agentOptions, connect: openConnector(lookup) });
  const guarded = new Agent({ ...agentOptions, connect: guardedConnector(lookup) });

  function agentFor(url: URL, operatorConfigured: boolean): Agent {
    if (url.username !== '' || url.password !== '') throw badUrl(url, 'it carries a user name or password');
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw badUrl(url, 'it is neither https nor http');
    if (allowPrivateAddresses || operatorConfigured) return open;
    const literal = literalAddress(url.hostname);
    const range = literal === undefined ? undefined : specialRangeOf(literal);
    if (literal !== undefined && range !== undefined) throw refusal(url.hostname, literal, range);
    if (url.protocol !== 'https:') throw badUrl(url, 'only https is called');
    return guarded;
  }

  /** Sends, and follows redirects of reads: every address on the way is judged like the first. */
  async function send(given: URL, options: RequestOptions, signal: AbortSignal): Promise<RawAnswer> {
    const { method = 'GET', body, maxRedirects = defaultMaxRedirects } = options;
    let [url, operatorConfigured] = [given, options.operatorConfigured ?? false];
    let headers: Record<string, string> = { 'user-agent': 'signpost', ...options.headers };
    for (let redirects = 0; ; redirects += 1) {
      const { origin, pathname, search } = url;
      const agent = agentFor(url, operatorConfigured);
      const response = await agent.request({
        origin,
        path: pathname + search,
        method,
        headers,
        body,
        signal,
      });
      if (!isRedirect(method, response)) return { response, url };
      await response.body.dump({ limit: 65_536, signal });
      if (redirects === maxRedirects) {
        throw new FetchFailure('redirects', `${given.href} redirects more than ${maxRedirects} times.`);
      }
      const next = redirectTarget(url, response);
      if (next.origin !== origin) {
        operatorConfigured = false;
        headers = withoutCredentials(headers);
      }
      url = next;
    }
  }

  return {
    async request(text, options) {
      const given = parseUrl(text);
      const deadline = startDeadline(given, options);
      let head: AnswerHead | undefined;
      try {
        const { response, url } = await send(given, options, deadline.signal);
        head = { status: response.statusCode, headers: flatten(response.headers) };
        const wire = await readAll(response, url, options.maxBytes);
        const encoding = options.keepEncoding ? undefined : head.headers['content-encoding'];
        const body = await decode(wire, encoding, url, options);
        return { ...head, body, wire, url: url.href };
      } catch (error) {
        throw Object.assign(asFetchFailure(error, given), { answered: head });
      } finally {
        deadline.clear();
      }
    },

    async stream(text, options) {
      const given = parseUrl(text);
      const deadline = startDeadline(given, options);
      try {
        const { response, url } = await send(given, options, deadline.signal);
        const body = Readable.from(limited(response, url, options.maxBytes), { objectMode: false });
        // Also when the reader goes away before, or without ever, reading.
        body.once('close', () => {
          abandon(response);
          deadline.clear();
        });
        return { status: response.statusCode, headers: flatten(response.headers), body, url: url.href };
      } catch (error) {
        deadline.clear();
        throw asFetchFailure(error, given);
      }
    },

    async close() {
      await Promise.all([open.close(), guarded.close()]);
    },
  };
}

/** The deadline is ours, for the whole exchange; undici's own per phase are off. */
const agentOptions = {
  connections: connectionsPerOrigin,
  keepAliveTimeout: keepAliveMs,
  headersTimeout: 0,
  bodyTimeout: 0,
} satisfies Agent.Options;

interface RawAnswer {
  response: Dispatcher.ResponseData;
  url: URL;
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new FetchFailure('bad-url', `"${text}" is not a URL.`);
  return new URL(text);
}

function badUrl(url: URL, why: string): FetchFailure {
  const where = url.host === '' ? url.protocol : `${url.protocol}//${url.host}`;
  return new FetchFailure('bad-url', `${where}${url.pathname} is not called: ${why}.`);
}

function startDeadline(url: URL, { timeoutMs, signal }: RequestOptions) {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(
      new FetchFailure('timeout', `${url.origin} did not answer completely within ${timeoutMs} ms.`),
    );
  }, timeoutMs);
  const onAbort = () =>
    controller.abort(new FetchFailure('aborted', `The call to ${url.origin} was given up.`, signal?.reason));
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const clear = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  return { signal: controller.signal, clear };
}

function isRedirect(method: string, { statusCode }: Dispatcher.ResponseData): boolean {
  return (method === 'GET' || method === 'HEAD') && [301, 302, 303, 307, 308].includes(statusCode);
}

function redirectTarget(from: URL, { headers }: Dispatcher.ResponseData): URL {
  const location = flatten(headers).location;
  if (location === undefined || !URL.canParse(location, from.href)) {
    throw new FetchFailure('redirects', `${from.href} redirects to nowhere.`);
  }
  return new URL(location, from);
}

/** A signature or cookie meant for one host is not shown to another. */
function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(authorization|cookie|proxy-authorization)$/i.test(name)),
  );
}

async function readAll(response: Dispatcher.ResponseData, url: URL, maxBytes: number): Promise<Buffer> {
  if (response.statusCode === 304) {
    // Has no body, and is what most of the answers to a crawler are.
    await response.body.dump();
    return Buffer.alloc(0);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of limited(response, url, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes of the body, as many as are allowed. */
async function* limited(
  response: Dispatcher.ResponseData,
  url: URL,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const tooLarge = () =>
    new FetchFailure('too-large', `${url.href} answers with more than ${maxBytes} bytes.`);
  let bytes = 0;
  try {
    if (Number(response.headers['content-length']) > maxBytes) throw tooLarge();
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      yield chunk;
    }
  } catch (error) {
    throw asFetchFailure(error, url);
  } finally {
    abandon(response);
  }
}

/** Lets go of the connection; what the rest of the body has to say no longer matters. */
function abandon({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {}).destroy();
}

async function decode(
  wire: Buffer,
  encoding: string | undefined,
  url: URL,
  { maxBytes, maxInflatedBytes = maxBytes }: RequestOptions,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || wire.length === 0) return wire;
  if (name === 'gzip' || name === 'x-gzip') return await inflate(wire, maxInflatedBytes, url.href);
  throw new FetchFailure(
    'bad-encoding',
    `${url.href} answers in the encoding "${encoding}", which is not gzip.`,
  );
}

/** One text per name, as HTTP reads repeated headers. */
function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
