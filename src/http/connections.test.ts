import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import { listen, type RunningServer } from '../../tests/support/signed-service.ts';
import { takeTime } from '../../tests/support/time.ts';

const opened: RunningServer[] = [];

afterEach(async () => {
  for (const { server } of opened.splice(0)) await server.close();
});

describe('a connection', () => {
  it('that is busy when the server closes has its next request served, and is closed after it', async () => {
    const begun = gate();
    const { server, port } = await open((routes) => {
      routes.get('/slow', async () => {
        begun.open();
        await takeTime(300);
        return { slow: true };
      });
      routes.get('/quick', async () => ({ quick: true }));
    });
    const socket = connect(port, '127.0.0.1');
    const answers = readAll(socket);
    socket.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await begun.passed;
    const closing = server.close();
    socket.write('GET /quick HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await answers).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*\{"slow":true\}HTTP\/1\.1 200 [\s\S]*\{"quick":true\}$/,
    );
    await closing;
  });

  it('on which nonsense follows a request is cut off, with nothing written into the answer under way', async () => {
    const size = 64 * 1024 * 1024;
    const begun = gate();
    const { port } = await open((routes) => {
      const pieces = () => Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(size / 64, 'a')));
      routes.get('/large', (_request, reply) => {
        begun.open();
        return reply.header('content-length', size).send(pieces());
      });
    });
    const socket = connect(port, '127.0.0.1').pause();
    socket.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
    await begun.passed;
    await takeTime(200);
    socket.write('nonsense\r\n\r\n');
    await takeTime(200);
    const answer = await readAll(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toContain('This is not HTTP');
  });
});

async function open(addRoutes: (server: FastifyInstance) => void): Promise<RunningServer> {
  const running = await listen(addRoutes);
  opened.push(running);
  return running;
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).resume();
  await new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}
