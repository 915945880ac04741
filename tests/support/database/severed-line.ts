import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { takeTime } from '../time.ts';

/** A connection to a server that can be cut (as if the server were gone), restored, moved to another server, and slowed down. */
export interface Line {
  url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** New connections go to the first target that accepts them. */
  leadTo(...targets: string[]): void;
  /** Ends the connections that are open. */
  drop(): void;
  /** Delays every chunk by this time, in both directions. */
  slowDown(latencyMs: number): void;
  close(): Promise<void>;
}

export async function openLine(target: string, { port = 0 } = {}): Promise<Line> {
  const sockets = new Set<Socket>();
  let targets = [target];
  let latencyMs = 0;
  const delayed = () =>
    new Transform({
      transform(piece, _, done) {
        if (latencyMs === 0) done(null, piece);
        else void takeTime(latencyMs).then(() => done(null, piece));
      },
    });
  const server = createServer(async (near) => {
    sockets.add(near);
    near.on('error', () => undefined).on('close', () => sockets.delete(near));
    const far = await connectToFirst(targets);
    if (far === undefined || near.destroyed) {
      far?.destroy();
      return void near.destroy();
    }
    sockets.add(far);
    far.on('close', () => sockets.delete(far));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(delayed()).pipe(other);
      one.on('error', () => other.destroy()).on('close', () => one.readableEnded || other.destroy());
    }
  });
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const drop = () => sockets.forEach((socket) => void socket.destroy());
  const cut = async () => {
    if (!server.listening) return;
    server.close();
    drop();
    await once(server, 'close');
  };
  const ownPort = await listen(port);
  return {
    url: `http://127.0.0.1:${ownPort}`,
    cut,
    mend: async () => void (await listen(ownPort)),
    leadTo: (...next) => {
      targets = next;
    },
    drop,
    slowDown: (ms) => {
      latencyMs = ms;
    },
    close: cut,
  };
}

async function connectToFirst(targets: readonly string[]): Promise<Socket | undefined> {
  for (const target of targets) {
    const { hostname, port } = new URL(target);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (isOpen) return socket;
  }
  return undefined;
}
