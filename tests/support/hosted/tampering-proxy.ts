import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A proxy between a provider's files and their readers, over real HTTP, that changes answers as requested (tampering.ts has the changes).

export interface TamperingProxy {
  url: string;
  /** Every request that it received. */
  requests: PassedRequest[];
  /** Where the files are. */
  passTo(origin: string): void;
  /** Spoils answers from now on; without a spoiler, answers pass unchanged. */
  spoil(spoiler?: Spoiler): void;
  stop(): Promise<void>;
}

export interface PassedRequest {
  path: string;
  status: number;
  host: string;
}

export interface HostedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Returns the changed answer; undefined: the publisher's answer; 'taken': the spoiler answers itself. */
export type Spoiler = (
  path: string,
  answer: HostedAnswer,
  response: ServerResponse,
) => Partial<HostedAnswer> | 'taken' | undefined | Promise<Partial<HostedAnswer> | 'taken' | undefined>;

export async function startTamperingProxy(): Promise<TamperingProxy> {
  const server = createServer();
  const requests: PassedRequest[] = [];
  let origin = '';
  let spoiler: Spoiler | undefined;
  server.on('request', (request, response) => {
    pass(origin, request, response, spoiler)
      .then((status) => requests.push({ path: request.url ?? '', status, host: request.headers.host ?? '' }))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    passTo(next) {
      origin = next;
    },
    spoil(next) {
      spoiler = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pass(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  spoiler: Spoiler | undefined,
): Promise<number> {
  const path = request.url ?? '/';
  const fetched = await fetch(origin + path, { headers: passedHeaders(request, spoiler !== undefined) });
  const answer: HostedAnswer = {
    status: fetched.status,
    headers: Object.fromEntries([...fetched.headers].filter(([header]) => passedBack.includes(header))),
    body: Buffer.from(await fetched.arrayBuffer()),
  };
  const spoiled = await spoiler?.(path, answer, response);
  if (spoiled === 'taken') return 0;
  const { status, headers, body } = { ...answer, ...spoiled };
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(body);
  return status;
}

const passedBack = ['content-type', 'etag', 'last-modified', 'cache-control'];

/** Spoilers need the document even if the reader has it already. */
function passedHeaders({ headers }: IncomingMessage, spoils: boolean): Record<string, string> {
  const { host: _host, connection: _connection, ...rest } = headers;
  const { 'if-none-match': _etag, 'if-modified-since': _modified, ...unconditional } = rest;
  return (spoils ? unconditional : rest) as Record<string, string>;
}
