import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A proxy in front of the real registry: it answers requests for some names with lies, and passes on all others.

/** An answer, or bytes that are written to the socket unchanged. */
export interface Lie {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Instead of an answer. */
  raw?: Buffer;
}

export interface LyingRegistry {
  url: string;
  /** About every record of a namespace. */
  lie(namespace: string, lie: Lie | undefined): void;
  stop(): Promise<void>;
}

export async function startLyingRegistry(real: string): Promise<LyingRegistry> {
  const lies = new Map<string, Lie>();
  const server = createServer((request, response) => {
    const named = decodeURIComponent((request.url ?? '').split(/[/?]/)[3] ?? '');
    const lie = lies.get(named);
    if (lie) return tell(response, lie);
    passOn(real, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie(namespace, lie) {
      if (lie) lies.set(namespace, lie);
      else lies.delete(namespace);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function tell(response: ServerResponse, { status, headers, body, raw }: Lie): void {
  if (raw) return void response.socket?.end(raw);
  try {
    response.writeHead(status, headers).end(body);
  } catch {
    // A header that Node's own server cannot send.
    response.destroy();
  }
}

async function passOn(real: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await fetch(real + (request.url ?? '/'));
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
