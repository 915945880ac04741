import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Config } from '../config.ts';
import {
  type ConnectionOptions,
  type Connections,
  createConnections,
  guardedConnector,
  openConnector,
} from './connections-to-origins.ts';
import { exchange, startDeadline, type WholeAnswer } from './exchange.ts';
import { type AnswerHead, asFetchFailure, FetchFailure } from './fetch-failure.ts';
import { createFewCalls } from './few-calls.ts';
import { decodeBody } from './inflate.ts';
import { createNameLookup } from './name-lookup.ts';
import { findLiteralRefusal } from './public-addresses.ts';

export { FetchFailure } from './fetch-failure.ts';

/** The client for all outgoing calls: a time limit for the whole exchange, size limits, and only public addresses, unless the operator configured the address. */
export interface GuardedClient {
  /** Reads the whole answer. Throws a FetchFailure if there is no usable answer; every HTTP status is an answer. */
  request(url: string, options: RequestOptions): Promise<FetchedAnswer>;
  /** Returns the body as it arrives, in pieces; reading it fails with a FetchFailure. */
  stream(url: string, options: RequestOptions): Promise<AnswerHead & { body: Readable; url: string }>;
  close(): Promise<void>;
}

export interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  headers?: Record<string, string>;
  /** In pieces, if joining them would cost more than sending them. */
  body?: Uint8Array | string | readonly Uint8Array[];
  /** For the whole exchange: resolving, connecting, redirects, the last byte of the body. */
  timeoutMs: number;
  maxBytes: number;
  /** Limit of the body after decoding its Content-Encoding; default: maxBytes. */
  maxInflatedBytes?: number;
  /** Keeps the Content-Encoding: the caller decodes the body. */
  keepEncoding?: boolean;
  /** Only GET and HEAD are redirected; default 3. */
  maxRedirects?: number;
  /** The operator configured this address: any scheme and range. Does not extend to redirects to another origin. */
  operatorConfigured?: boolean;
  signal?: AbortSignal;
}

export interface FetchedAnswer extends AnswerHead {
  body: Buffer;
  /** As received; the same buffer if there was no Content-Encoding. */
  wire: Buffer;
  /** Address of the answer, after redirects. */
  url: string;
}

export interface GuardedClientOptions {
  /** Allows messages, records and files to name private addresses and plain HTTP (development). */
  allowPrivateAddresses: boolean;
  /** Addresses of name servers (DNS_SERVERS); default: those of the system. */
  nameServers?: readonly string[];
  lookup?: LookupFunction;
  /** For a command: unguarded calls do not use undici (few-calls.ts). */
  fewCalls?: boolean;
}

const defaultMaxRedirects = 3;
const maxRedirectBytes = 65_536;
const connectionsPerOrigin = 64;
const keepAliveMs = 10_000;

export function createConfiguredClient(config: Pick<Config, 'ALLOW_PRIVATE_ADDRESSES' | 'DNS_SERVERS'>) {
  const { ALLOW_PRIVATE_ADDRESSES: allowPrivateAddresses, DNS_SERVERS: nameServers } = config;
  return createGuardedClient({ allowPrivateAddresses, nameServers });
}

export function createGuardedClient({
  allowPrivateAddresses,
  nameServers,
  lookup = createNameLookup({ servers: nameServers }),
  fewCalls = false,
}: GuardedClientOptions): GuardedClient {
  // Two pools: a connection that was opened without the check can never serve a call that needs it.
  const open = createConnections(connectionsPerOrigin, { ...agentOptions, connect: openConnector(lookup) });
  const connect = guardedConnector(lookup);
  const guarded = createConnections(connectionsPerOrigin, { ...agentOptions, connect });
  const few = fewCalls ? createFewCalls(lookup) : undefined;

  function connectionsFor(url: URL, operatorConfigured: boolean): Connections {
    if (url.username !== '' || url.password !== '') throw badUrl(url, 'it carries a user name or password');
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw badUrl(url, 'it is neither https nor http');
    if (allowPrivateAddresses || operatorConfigured) return open;
    const refused = findLiteralRefusal(url.hostname);
    if (refused) throw refused;
    if (url.protocol !== 'https:') throw badUrl(url, 'only https is allowed');
    return guarded;
  }

  /** Sends with `exchange` and follows redirects of reads. Every address on the way is checked like the first. */
  async function send<Answer extends Head>(
    given: URL,
    options: RequestOptions,
    exchanged: (connection: Connection, request: Dispatcher.DispatchOptions, url: URL) => Promise<Answer>,
  ): Promise<{ answer: Answer; url: URL }> {
    const { method = 'GET', maxRedirects = defaultMaxRedirects } = options;
    // undici documents iterables, but its types lack them.
    const body = options.body as Uint8Array | undefined;
    let [url, operatorConfigured] = [given, options.operatorConfigured ?? false];
    let headers: Record<string, string> = {
      'user-agent': 'signpost',
      ...(Array.isArray(options.body) && {
        'content-length': String(options.body.reduce((sum, piece) => sum + piece.length, 0)),
      }),
      ...options.headers,
    };
    for (let redirects = 0; ; redirects += 1) {
      const { origin, pathname, search } = url;
      const connections = connectionsFor(url, operatorConfigured);
      const connection = { ...connections.take(origin), isOpen: connections === open };
      const request = { origin, path: pathname + search, method, headers, body };
      const answer = await exchanged(connection, request, url);
      if (!isRedirect(method, answer.status)) return { answer, url };
      if (redirects === maxRedirects)
        throw new FetchFailure('redirects', `${given.href} redirects more than ${maxRedirects} times.`);
      const next = redirectTarget(url, answer);
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
      const { method = 'GET', maxBytes } = options;
      const seen: { answered?: AnswerHead } = {};
      try {
        const { answer, url } = await send(given, options, ({ agent, leave, isOpen }, request, asked) =>
          exchange(few && isOpen ? few : agent(), request, {
            deadline,
            limitBody({ status, headers }) {
              if (isRedirect(method, status)) return { maxBytes: maxRedirectBytes };
              seen.answered = { status, headers: flatten(headers) };
              // A 304 may state the length of a body that it does not have; undici treats that as an error.
              return status === 304 ? undefined : { maxBytes, fail: () => tooLarge(asked, maxBytes) };
            },
          }).finally(leave),
        );
        const { status, body: wire } = answer;
        const headers = seen.answered?.headers ?? flatten(answer.headers);
        const encoding = options.keepEncoding ? undefined : headers['content-encoding'];
        const body = await decodeBody(wire, encoding, options, url.href);
        return { status, headers, body, wire, url: url.href };
      } catch (error) {
        throw Object.assign(asFetchFailure(error, given), seen);
      } finally {
        deadline.clear();
      }
    },

    async stream(text, options) {
      const given = parseUrl(text);
      const { method = 'GET' } = options;
      const deadline = startDeadline(given, options);
      const { signal } = deadline;
      try {
        const { answer, url } = await send(given, options, async ({ agent, leave }, request) => {
          const asked = agent().request({ ...request, signal });
          asked.then(({ body }) => body.once('close', leave), leave);
          const { statusCode: status, headers, body } = await asked;
          if (isRedirect(method, status)) await body.dump({ limit: maxRedirectBytes, signal });
          return { status, headers, body };
        });
        const body = Readable.from(limited(answer, url, options.maxBytes), { objectMode: false });
        // This event also comes if the reader never reads, or stops early.
        body.once('close', () => {
          abandon(answer);
          deadline.clear();
        });
        return { status: answer.status, headers: flatten(answer.headers), body, url: url.href };
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

/** Our deadline applies to the whole exchange; undici's time limits of its phases are off. */
const agentOptions = {
  keepAliveTimeout: keepAliveMs,
  headersTimeout: 0,
  bodyTimeout: 0,
} satisfies ConnectionOptions;

type Connection = ReturnType<Connections['take']> & { isOpen: boolean };

type Head = Omit<WholeAnswer, 'body'>;
type Streamed = Head & Pick<Dispatcher.ResponseData, 'body'>;

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new FetchFailure('bad-url', `"${text}" is not a URL.`);
  return new URL(text);
}

function badUrl(url: URL, why: string): FetchFailure {
  const where = url.host === '' ? url.protocol : `${url.protocol}//${url.host}`;
  return new FetchFailure('bad-url', `${where}${url.pathname} is not called: ${why}.`);
}

function isRedirect(method: string, status: number): boolean {
  return (method === 'GET' || method === 'HEAD') && [301, 302, 303, 307, 308].includes(status);
}

function redirectTarget(from: URL, { headers }: Head): URL {
  const location = flatten(headers).location;
  if (location === undefined || !URL.canParse(location, from.href))
    throw new FetchFailure('redirects', `${from.href} redirects to an invalid address.`);
  return new URL(location, from);
}

/** Headers that redirects to another host must not carry: signatures and cookies. */
function withoutCredentials(headers: Record<string, string>): Record<string, string> {
  const isSecret = (name: string) => /^(authorization|cookie|proxy-authorization)$/i.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isSecret(name)));
}

async function* limited(answer: Streamed, url: URL, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    if (Number(answer.headers['content-length']) > maxBytes) throw tooLarge(url, maxBytes);
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(url, maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw asFetchFailure(error, url);
  } finally {
    abandon(answer);
  }
}

function tooLarge(url: URL, maxBytes: number): FetchFailure {
  return new FetchFailure('too-large', `${url.href} answers with more than ${maxBytes} bytes.`);
}

/** Releases the connection; the rest of the body does not matter. */
function abandon({ body }: Pick<Streamed, 'body'>): void {
  body.on('error', () => {}).destroy();
}

/** One text per name; repeated headers are joined. */
function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
