import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { actions } from '../protocol/actions.ts';
import { type Json, parseIfJson } from '../protocol/json.ts';
import type { HostedTree } from './hosted-tree.ts';
import { at } from './values.ts';

// Receives callbacks and pushes. It acknowledges every message: only checks judge messages, and after a refusal they would be sent again.

export type Inbox = Awaited<ReturnType<typeof openInbox>>;

export interface Received {
  action: string;
  authorization: string;
  raw: Buffer;
  body: Json;
}

const expected = [actions.onPublish, actions.onPull, actions.onDiscover, actions.push] as const;

/** @param url the public address, if it is not host and port */
export async function openInbox({ host, port, url }: { host: string; port: number; url?: string }) {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let serve: HostedTree['serve'] = () => undefined;
  const server = createServer(async (request, response) => {
    try {
      if (request.method === 'GET') return sendFile(serve, request, response);
      const message = await read(request);
      response.writeHead(message ? 200 : 404, { 'content-type': 'application/json' });
      const messageId = at(message?.body, 'context', 'messageId');
      response.end(JSON.stringify({ message: { status: message ? 'ACK' : 'NACK', messageId } }));
      if (message) received.push(message);
      for (const look of waiting) look();
    } catch {
      response.destroy();
    }
  });
  server.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    url: url ?? `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    received: received as readonly Received[],
    /** The first matching message, which may arrive later; undefined if none arrives in time. */
    wait(fits: (message: Received) => boolean, seconds: number) {
      return new Promise<Received | undefined>((resolve) => {
        const look = () => {
          const found = received.find(fits);
          if (found) end(found);
        };
        const end = (found?: Received) => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        };
        const timer = setTimeout(end, seconds * 1_000);
        waiting.add(look);
        look();
      });
    },
    serveBy(next: HostedTree['serve']) {
      serve = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sendFile(serve: HostedTree['serve'], request: IncomingMessage, response: ServerResponse): void {
  const file = serve(pathOf(request), request.headers['if-none-match']);
  const { bytes, etag, isKnown } = file ?? {};
  const status = file === undefined ? 404 : isKnown ? 304 : 200;
  response.writeHead(status, { 'content-type': 'application/json', ...(etag !== undefined && { etag }) });
  response.end(bytes);
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(/\?.*$/s, '');
}

async function read(request: IncomingMessage): Promise<Received | undefined> {
  const raw = await buffer(request);
  const path = pathOf(request);
  // Matches the end of the path, because an address may have a prefix. No path is the end of another one.
  const action = expected.find((one) => request.method === one.method && path.endsWith(one.path));
  if (!action) return undefined;
  const { authorization = '' } = request.headers;
  return { action: action.name, authorization, raw, body: parseIfJson(raw) };
}
