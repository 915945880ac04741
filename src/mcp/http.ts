import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { findProxyHeader, isThisMachine } from '../http/local-only.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import { sourceOf } from '../http/source.ts';
import { isSameSecret } from '../secret-file.ts';

// The Streamable HTTP transport at /mcp, without sessions: requests are independent, so there is no state to keep or to steal.

interface HttpOptions {
  host: string;
  port: number;
  /** Programs on this machine need no token. */
  isLocal: boolean;
  /** Everyone else needs it. */
  token: string;
  /** Whether an address is a proxy whose X-Forwarded-For names the caller. */
  isProxy(address: string): boolean;
  createServer(): Server;
}

export type HttpEndpoint = Awaited<ReturnType<typeof serveHttp>>;

/** Messages per source address. An assistant makes a few calls per question. */
const callLimit = { perSecond: 10, burst: 200 };
const maxBodyBytes = 256 * 1024;
const requestTimeout = 60_000;
const headersTimeout = 10_000;

export async function serveHttp(options: HttpOptions) {
  const limit = createRateLimit(callLimit);
  const server = createServer({ requestTimeout, headersTimeout }, (request, response) => {
    const stranger = findRefusal(request, options);
    if (stranger) return refuse(response, stranger);
    // Refused strangers are not counted: behind a proxy they share the address of everyone else.
    const caller = findCaller(request, options);
    const charge = () => limit.take(caller, performance.now());
    const seconds = charge();
    const headers = { 'retry-after': `${Math.ceil(seconds)}` };
    if (seconds > 0) return refuse(response, { status: 429, says: 'Too many requests.', headers });
    answer(request, response, { ...options, charge }).catch(() => response.destroy());
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}/mcp`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpOptions & { charge(): number },
): Promise<void> {
  const server = options.createServer();
  const transport = new StreamableHTTPServerTransport({ maxRequestBodySize: maxBodyBytes });
  response.once('close', () => void server.close());
  await server.connect(transport);
  const deliver = transport.onmessage;
  let count = 0;
  transport.onmessage = (message, extra) => {
    count += 1;
    // A batch has up to 100 messages. The request already paid for the first one.
    if (count > 1 && options.charge() > 0) response.destroy();
    else deliver?.(message, extra);
  };
  await transport.handleRequest(request, response);
}

interface Refusal {
  status: number;
  says: string;
  headers?: Record<string, string>;
}

/**
 * A local server answers only programs on this machine: after DNS rebinding, a page sends its own name as Host and Origin.
 * Everyone else, and every request through a proxy, needs the token. A page must be from the same host.
 */
function findRefusal(request: IncomingMessage, options: HttpOptions): Refusal | undefined {
  const { method, url = '', headers } = request;
  const asked = hostnameOf(`http://${headers.host}`);
  const origin = headers.origin === undefined ? asked : hostnameOf(headers.origin);
  if (options.isLocal && findProxyHeader(headers) === undefined) {
    if (!isThisMachine(asked) || !isThisMachine(origin))
      return { status: 403, says: 'Only programs of this machine: Host and Origin must be localhost.' };
  } else {
    const [, given = ''] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
    if (!isSameSecret(given, options.token))
      return { status: 401, says: 'Give the token.', headers: { 'www-authenticate': 'Bearer' } };
    if (origin !== asked) return { status: 403, says: 'The Origin is another host.' };
  }
  if (url.split('?')[0] !== '/mcp') return { status: 404, says: 'The address is /mcp.' };
  if (method !== 'POST')
    return { status: 405, says: 'Without sessions, only POST.', headers: { allow: 'POST' } };
  return undefined;
}

/** The nearest proxy has written the last address in X-Forwarded-For; earlier ones may be forged. */
function findCaller({ socket, headers }: IncomingMessage, { isProxy }: HttpOptions): string {
  const { remoteAddress = '' } = socket;
  const forwarded = [headers['x-forwarded-for']].flat().join(',').split(',').at(-1)?.trim();
  return sourceOf((isProxy(remoteAddress) && forwarded) || remoteAddress);
}

function hostnameOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : '';
}

function refuse(response: ServerResponse, { status, says, headers }: Refusal): void {
  const body = { jsonrpc: '2.0', error: { code: -32_000, message: says }, id: null };
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(JSON.stringify(body));
}
