import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { bodyOf, closeAll, consumer, limitsWith, start } from '../../tests/support/network/signed-actions.ts';
import { type Sent, sendSigned } from '../../tests/support/network/signed-service.ts';
import { until } from '../../tests/support/time.ts';
import { actions } from '../protocol/actions.ts';
import { signRequest } from '../protocol/request-signature.ts';

afterEach(closeAll);

describe('the size of a body', () => {
  const limits = limitsWith({ bodyBytes: 100_000, bulkBodyBytes: 200_000 });
  const padded = (action: typeof actions.search | typeof actions.onPull, size: number) => {
    const body = bodyOf(action, {}, action === actions.onPull ? { status: 'COMPLETED', catalogs: [] } : {});
    return body + ' '.repeat(size - body.length);
  };

  it('413 SCH_SCHEMA_VALIDATION_FAILED: is limited to the byte, announced or chunked', async () => {
    const { url } = await start(actions.search, { limits });
    const post = async (body: string, chunked: boolean): Promise<Sent> => {
      const write = chunked ? { write: writeInChunks(body) } : {};
      return await sendSigned(`${url}/catalog/search`, { from: consumer, body, ...write });
    };
    for (const chunked of [false, true]) {
      expect((await post(padded(actions.search, 100_000), chunked)).status).toBe(200);
      const refused = await post(padded(actions.search, 100_001), chunked);
      expect(refused.status).toBe(413);
      expect(refused.json.message).toMatchObject({
        status: 'NACK',
        error: {
          code: 'SCH_SCHEMA_VALIDATION_FAILED',
          message: expect.stringContaining('100000 bytes; split it'),
        },
      });
    }
  });

  it('is larger for bulk actions', async () => {
    const { url } = await start(actions.onPull, { limits });
    const post = async (size: number) =>
      (await sendSigned(`${url}/catalog/on_pull`, { from: consumer, body: padded(actions.onPull, size) }))
        .status;
    expect([await post(200_000), await post(200_001)]).toEqual([200, 413]);
  });

  it('does not break off a sender that writes all before it reads', async () => {
    const { url } = await start(actions.search, { limits });
    const body = Buffer.alloc(30_000_000, 0x20);
    const authorization = signRequest(consumer, body, { now: new Date() });
    const announced = await exchange(url, authorization, body, `content-length: ${body.length}`);
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = Buffer.concat([
      Buffer.from(`${body.length.toString(16)}\r\n`),
      body,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const chunked = await exchange(url, authorization, chunk, 'transfer-encoding: chunked');
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('leaves the connection usable for the next request', async () => {
    const { port } = await start(actions.search, { limits });
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    const head = 'POST /catalog/search HTTP/1.1\r\nhost: x\r\n';
    socket.write(`${head}content-length: 100001\r\n\r\n${' '.repeat(100_001)}`);
    socket.write(`${head}content-length: 2\r\n\r\n{}`);
    await until(() => Buffer.concat(received).toString().includes('AUT_SIGNATURE_MISSING'));
    expect(Buffer.concat(received).toString()).toMatch(/^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('is not answered a second time when its sender goes away before the answer is written', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { port, server } = await start(actions.search, { limits }, undefined, { logger });
    const countConnections = promisify(server.server.getConnections.bind(server.server));
    for (let times = 0; times < 50; times++) {
      const socket = connect(port, '127.0.0.1');
      socket.write('POST /catalog/search HTTP/1.1\r\nhost: x\r\ncontent-length: 100001\r\n\r\n ', () =>
        setImmediate(() => socket.resetAndDestroy()),
      );
    }
    await until(async () => (await countConnections()) > 0, 'connections');
    await until(async () => (await countConnections()) === 0, 'the end of the connections');
    expect(lines).toEqual([]);
  });

  it('is not answered a second time when its sender goes away after the answer', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { port, server } = await start(actions.search, { limits }, undefined, { logger });
    const socket = connect(port, '127.0.0.1');
    // Without a Content-Type, for which Fastify would refuse the body.
    socket.write('POST /catalog/search HTTP/1.1\r\nhost: x\r\ncontent-length: 100001\r\n\r\n ');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    const countConnections = promisify(server.server.getConnections.bind(server.server));
    await until(async () => (await countConnections()) === 0, 'the end of the connection');
    expect(lines).toEqual([]);
  });
});

describe('a slow sender', () => {
  it('is cut off when the request does not arrive in time', async () => {
    const { port } = await start(actions.search, {}, undefined, { requestTimeoutMs: 1_000 });
    const socket = connect(port, '127.0.0.1');
    const authorization = signRequest(consumer, Buffer.from('{}'), { now: new Date() });
    socket.write(
      `POST /catalog/search HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-length: 1000\r\n\r\n`,
    );
    const trickle = setInterval(() => socket.writable && socket.write(' '), 100);
    const received = await readAll(socket);
    clearInterval(trickle);
    expect(received).toMatch(/^HTTP\/1\.1 408 [\s\S]*NET_TIMEOUT/);
  });
});

describe('what is no request', () => {
  it('is answered in the same shape: too large headers, nonsense', async () => {
    const { port } = await start(actions.search);
    const flood = connect(port, '127.0.0.1');
    flood.write(`GET / HTTP/1.1\r\nhost: x\r\nx-flood: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(await readAll(flood)).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"SCH_SCHEMA_VALIDATION_FAILED"/);
    const nonsense = connect(port, '127.0.0.1');
    nonsense.write('hello\r\n\r\n');
    expect(await readAll(nonsense)).toMatch(/^HTTP\/1\.1 400 [\s\S]*This is not HTTP/);
  });
});

function writeInChunks(body: string) {
  return (request: import('node:http').ClientRequest) => {
    for (let at = 0; at < body.length; at += 30_000) request.write(body.slice(at, at + 30_000));
    request.end();
  };
}

/** Writes everything, waits, and only then reads. */
async function exchange(url: string, authorization: string, body: Buffer, length: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  const head = `POST /catalog/search HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n${length}\r\nconnection: close\r\n\r\n`;
  socket.write(head);
  await new Promise<void>((resolve, reject) =>
    socket.write(body, (error) => (error ? reject(error) : resolve())),
  );
  return await readAll(socket);
}

async function readAll(socket: import('node:net').Socket): Promise<string> {
  const chunks: Buffer[] = await socket.toArray();
  return Buffer.concat(chunks).toString();
}
