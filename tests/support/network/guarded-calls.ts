import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as TcpServer } from 'node:net';
import { afterEach } from 'vitest';
import { FetchFailure, type FetchFailureKind } from '../../../src/http/fetch-failure.ts';
import {
  createGuardedClient,
  type GuardedClient,
  type GuardedClientOptions,
  type RequestOptions,
} from '../../../src/http/guarded-client.ts';

// Calls of the guarded client, their servers, and their failures. Everything that a test opens is closed after it.

export const limits = { timeoutMs: 2_000, maxBytes: 1_000_000 } satisfies RequestOptions;
const opened: { close(): unknown }[] = [];

export function closeAfterEach(): void {
  afterEach(async () => {
    for (const resource of opened.splice(0)) await resource.close();
  });
}

type ClientOptions = Omit<GuardedClientOptions, 'allowPrivateAddresses'>;

export function open(options: ClientOptions = {}): GuardedClient {
  return keep(createGuardedClient({ allowPrivateAddresses: true, ...options }));
}

export function guarded(options: ClientOptions = {}): GuardedClient {
  return keep(createGuardedClient({ allowPrivateAddresses: false, ...options }));
}

function keep(client: GuardedClient): GuardedClient {
  opened.push(client);
  return client;
}

export async function serve(listener: RequestListener) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    return listener(request, response);
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  return { ...(await listen(server)), count: () => requests, connections: () => connections };
}

export async function serveHops() {
  return await serve((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('there');
    else response.writeHead(302, { location: `/${left - 1}` }).end('a body that nobody needs');
  });
}

export async function listen(server: Server | TcpServer) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  opened.unshift({ close });
  return { url: `http://127.0.0.1:${port}`, port };
}

export async function failureOf(work: Promise<unknown>): Promise<FetchFailure> {
  const outcome = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!(outcome instanceof FetchFailure)) throw outcome;
  return outcome;
}

export async function kindOf(work: Promise<unknown>): Promise<FetchFailureKind> {
  return (await failureOf(work)).kind;
}
