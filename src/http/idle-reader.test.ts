import { once } from 'node:events';
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
    server.get('/:pieces', (request, reply) => {
      const { pieces } = request.params as { pieces: string };
      cutOffIdleReader(reply, idleMs);
      const source = Readable.from(slowly(Number(pieces)), { objectMode: false });
      sources.push(source);
      return reply.send(source);
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as AddressInfo;

    const idle = connect(port, '127.0.0.1').pause();
    idle.on('error', () => undefined).write('GET /100000 HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => sources.length > 0, 'the request');
    if (!sources[0]?.destroyed) await once(sources[0] as Readable, 'close');
    idle.destroy();

    // Longer than the limit as a whole.
    const body = await fetch(`http://127.0.0.1:${port}/6`).then((response) => response.arrayBuffer());
    expect(body.byteLength).toBe(6 * pieceBytes);
  });
});

async function* slowly(pieces: number): AsyncGenerator<Buffer> {
  for (let piece = 0; piece < pieces; piece += 1) {
    yield Buffer.alloc(pieceBytes);
    await takeTime(idleMs / 4);
  }
}
