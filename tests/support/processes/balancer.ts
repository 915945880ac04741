import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { takeTime } from '../time.ts';

// A load balancer in front of the processes of a role: a new connection goes to the next process that accepts it, and waits while none does.

export interface Balancer {
  url: string;
  /** Ports of 127.0.0.1. */
  backends: Set<number>;
  close(): Promise<void>;
}

const retryMs = 100;

export async function startBalancer(): Promise<Balancer> {
  const backends = new Set<number>();
  const open = new Set<Socket>();
  let turn = 0;

  async function pass(client: Socket): Promise<void> {
    while (!client.destroyed) {
      const ports = [...backends];
      const backend = await reach(ports[turn++ % ports.length]);
      if (!backend) {
        await takeTime(retryMs);
        continue;
      }
      open.add(backend);
      const end = () => {
        client.destroy();
        backend.destroy();
        open.delete(backend);
      };
      for (const socket of [client, backend]) socket.on('error', end).on('close', end);
      client.pipe(backend).pipe(client);
      return;
    }
  }

  const server = createServer({ pauseOnConnect: true }, (client) => {
    open.add(client);
    client.on('error', () => client.destroy()).on('close', () => open.delete(client));
    void pass(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    backends,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function reach(port: number | undefined): Promise<Socket | undefined> {
  if (port === undefined) return undefined;
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}
