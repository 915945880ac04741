import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import { listen, type RunningServer, send } from '../../tests/support/network/signed-service.ts';
import { patienceMs } from '../../tests/support/patience.ts';
import { takeTime } from '../../tests/support/time.ts';
import type { ServerOptions } from './server.ts';

const opened: RunningServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
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

describe('the number of connections', () => {
  const limits = { all: 6, perSource: 4 };
  const attackerAddress = '127.0.0.66';

  it('is limited per source: one that holds all of its own finds no further place, and others do', async () => {
    const { port, url } = await open(addPlain, { connections: limits });
    const held = await hold(port, 5, attackerAddress);
    expect(held.map(({ isOpen }) => isOpen)).toEqual([true, true, true, true, false]);
    expect((await send(`${url}/plain`, { method: 'GET' })).status).toBe(200);
    await expect(send(`${url}/plain`, { method: 'GET', localAddress: attackerAddress })).rejects.toThrow();
    held[0]?.socket.destroy();
    await vi.waitFor(
      async () =>
        expect((await send(`${url}/plain`, { method: 'GET', localAddress: attackerAddress })).status).toBe(
          200,
        ),
      patienceMs,
    );
  });

  it('is limited in all', async () => {
    const { port, url } = await open(addPlain, { connections: limits });
    const [first, second] = [await hold(port, 4, attackerAddress), await hold(port, 3, '127.0.0.67')];
    expect([...first, ...second].filter(({ isOpen }) => isOpen)).toHaveLength(6);
    await expect(send(`${url}/plain`, { method: 'GET' })).rejects.toThrow();
  });

  it('of a trusted proxy is not limited per source, and is counted apart from those of others', async () => {
    const { port, url } = await open(addPlain, { connections: limits, trustProxy: ['127.0.0.9'] });
    const others = [...(await hold(port, 4, attackerAddress)), ...(await hold(port, 2, '127.0.0.67'))];
    expect(others.every(({ isOpen }) => isOpen)).toBe(true);
    const proxied = await hold(port, 5, '127.0.0.9');
    expect(proxied.every(({ isOpen }) => isOpen)).toBe(true);
    expect((await send(`${url}/plain`, { method: 'GET', localAddress: '127.0.0.9' })).status).toBe(200);
    await expect(send(`${url}/plain`, { method: 'GET' })).rejects.toThrow();
  });

  it('of a trusted proxy is nothing that one client behind it can use up: its requests at a time are limited', async () => {
    const answered = gate();
    const begun: string[] = [];
    const { url } = await open(
      (server) => {
        addPlain(server);
        server.get('/waits', async ({ ip }) => {
          begun.push(ip);
          await answered.passed;
          return {};
        });
      },
      { connections: limits, trustProxy: ['127.0.0.9'] },
    );
    const attacker = '203.0.113.66';
    const ask = (path: string, client: string) =>
      send(`${url}${path}`, {
        ...{ method: 'GET', localAddress: '127.0.0.9', headers: { 'x-forwarded-for': client } },
      });
    const held = [1, 2, 3, 4].map(() => ask('/waits', attacker));
    await vi.waitFor(() => expect(begun).toHaveLength(4), patienceMs);
    const refused = await ask('/waits', attacker);
    expect({ status: refused.status, code: refused.json.message?.error?.code }).toEqual({
      ...{ status: 503, code: 'NET_OVERLOADED' },
    });
    expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '2' });
    expect((await ask('/plain', '203.0.113.1')).status).toBe(200);
    answered.open();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await vi.waitFor(async () => expect((await ask('/plain', attacker)).status).toBe(200), patienceMs);
  });

  function addPlain(server: FastifyInstance): void {
    server.get('/plain', async () => ({}));
  }
});

/** Connections that send one request and stay; one beyond the limits is closed without an answer. */
async function hold(port: number, count: number, localAddress: string) {
  const held: { socket: Socket; isOpen: boolean }[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    sockets.push(socket);
    socket.write('GET /plain HTTP/1.1\r\nhost: x\r\n\r\n');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false));
    });
    held.push({ socket, isOpen });
  }
  return held;
}

async function open(
  addRoutes: (server: FastifyInstance) => void,
  options: Partial<ServerOptions> = {},
): Promise<RunningServer> {
  const running = await listen(addRoutes, options);
  opened.push(running);
  return running;
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).resume();
  await new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}
