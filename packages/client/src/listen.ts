import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expressHandler, type Receiver } from './adapters.ts';

// A server for scripts and tests without one.

export interface ListenOptions {
  /** Default: the host of `callbacks`, if that is an http address; otherwise 127.0.0.1. */
  host?: string;
  /** Default: the port of `callbacks`, if that is an http address; otherwise a free one. */
  port?: number;
}

export interface Listener {
  url: string;
  close(): Promise<void>;
}

/** Time to finish sending acknowledgements. A slower sender must not keep the program alive. */
const finishMs = 1_000;

export async function listen(
  receiver: Receiver,
  callbacks: string | undefined,
  options: ListenOptions = {},
): Promise<Listener> {
  const registered = callbacks?.startsWith('http:') ? new URL(callbacks) : undefined;
  const host = options.host ?? registered?.hostname.replace(/^\[|\]$/g, '') ?? '127.0.0.1';
  const port = options.port ?? (registered ? Number(registered.port || 80) : 0);
  const handle = expressHandler(receiver);
  const server = createServer((request, response) => handle(request, response));
  server.listen(port, host);
  // Rejects with the error of the socket if it cannot listen.
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      server.closeIdleConnections();
      const closed = once(server, 'close');
      server.close();
      const timer = setTimeout(() => server.closeAllConnections(), finishMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
