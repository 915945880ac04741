import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { fastify } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { takeTime, until } from '../../tests/support/time.ts';
import { cutOffIdleReader } from './idle-reader.ts';

const idleMs = 4_000;
const pieceBytes = 1024 * 1024;

describe('the reader of a long answer', () => {
  const server = fastify({ forceCloseConnections: true });
  afterEach(() => server.close());

  it('is cut off when it takes nothing for too long, and not while it reads', async () => {
    const sources: Readable[] = [];
    server.get('/endless', (_, reply) => {
      cutOffIdleReader(reply, idleMs);
      const source = Readable.from(endless(), { objectMode: false });
      sources.push(source);
      return reply.send(source);
    });
    server.get('/slow', (_, reply) => {
      cutOffIdleReader(reply, idleMs);
      return reply.send(Readable.from(slowly(6), { objectMode: false }));
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as AddressInfo;
    // Longer than the whole limit.
    const reading = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.arrayBuffer());

    const idle = connect(port, '127.0.0.1').pause();
    idle.on('error', () => undefined).write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => sources[0]?.destroyed, 'the idle reader to be cut off');
    idle.destroy();

    expect((await reading).byteLength).toBe(6 * pieceBytes);
  });
});

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(pieceBytes);
}

async function* slowly(pieces: number): AsyncGenerator<Buffer> {
  for (let piece = 0; piece < pieces; piece += 1) {
    yield Buffer.alloc(pieceBytes);
    await takeTime(idleMs / 4);
  }
}
