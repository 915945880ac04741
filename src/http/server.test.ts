import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import { bodyOf, closeAll, consumer, start } from '../../tests/support/network/signed-actions.ts';
import { listen, type RunningServer, send, sendSigned } from '../../tests/support/network/signed-service.ts';
import { takeTime } from '../../tests/support/time.ts';
import { actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { Type } from '../protocol/type.ts';

const opened: RunningServer[] = [];

afterEach(async () => {
  await closeAll();
  for (const { server } of opened.splice(0)) await server.close();
});

describe('a server', () => {
  it('answers an unknown path with 404 and a sentence', async () => {
    const { url } = await start(actions.publish);
    const answer = await send(`${url}/catalogue/publish?x=1`, { body: '{}' });
    expect(answer.status).toBe(404);
    expect(answer.json.message).toMatchObject({
      status: 'NACK',
      error: { message: 'There is no /catalogue/publish here; /openapi.json lists what there is.' },
    });
  });

  it('answers a method that a path does not take with 405 and those that it takes', async () => {
    const { url } = await start(actions.publish);
    const answer = await send(`${url}/catalog/publish`, { method: 'GET' });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    expect(answer.json.message?.error?.message).toBe('/catalog/publish accepts POST, not GET.');
    expect((await send(`${url}/catalog/publish`, { method: 'HEAD' })).status).toBe(405);
  });

  it('answers with a NACK what Node would refuse without a word: no Host, and an Expect that it does not know', async () => {
    const { url, port } = await start(actions.publish);
    const withoutHost = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\n\r\n'));
      socket.once('data', (data) => resolve(data.toString()));
      socket.once('data', () => socket.destroy());
    });
    expect(withoutHost).toMatch(/^HTTP\/1\.1 400 .*"message":"The request has no Host header\."/s);
    const expecting = await send(`${url}/health`, { method: 'GET', headers: { expect: 'tea' } });
    expect([expecting.status, expecting.json.message?.error?.code]).toEqual([417, 'NET_NOT_IMPLEMENTED']);
  });

  it('logs no error where a sender goes away in the midst of its body', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const { port, server } = await start(actions.search, { logger }, undefined, { logger });
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        'POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
        () => socket.destroy(),
      );
    });
    await once(socket, 'close');
    await server.close();
    expect(lines).toEqual([]);
  });

  it('takes over a request id that is one, and makes its own otherwise', async () => {
    const { url } = await start(actions.publish);
    const idFor = async (given: string) =>
      (await send(`${url}/health`, { method: 'GET', headers: { 'x-request-id': given } })).headers[
        'x-request-id'
      ];
    expect(await idFor('trace-12345')).toBe('trace-12345');
    expect(await idFor('a b"c')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('x'.repeat(65))).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers errors of unsigned routes in the same shape', async () => {
    const { url } = await plain();
    const failed = await send(`${url}/fails`, { method: 'GET' });
    expect(failed.status).toBe(500);
    expect(failed.text).toBe(
      '{"message":{"status":"NACK","error":{"code":"NET_INTERNAL_ERROR","message":"internal error"}}}',
    );
    const refused = await send(`${url}/refuses`, { method: 'GET' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '7']);
  });

  it('reads JSON bodies of unsigned routes strictly', async () => {
    const { url } = await plain();
    const post = async (body: string, type = 'application/json') =>
      await send(`${url}/echo`, { headers: { 'content-type': type }, body });
    expect((await post('{"a":1}')).text).toBe('{"a":1}');
    expect((await post('{"a":1,"a":2}')).json.message?.error?.code).toBe('SCH_INVALID_JSON');
    expect((await post('a', 'text/csv')).status).toBe(415);
    expect((await post(`"${'x'.repeat(1_100_000)}"`)).status).toBe(413);
  });

  it('logs failed requests once, with their id and code, and successful ones only for who debugs', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino(
      { level: 'info' },
      new Writable({ write: (line, _encoding, done) => done(void lines.push(JSON.parse(line))) }),
    );
    const { url } = await start(actions.search, { logger }, undefined, { logger });
    const fine = await sendSigned(`${url}/catalog/search`, { from: consumer, body: bodyOf(actions.search) });
    expect(fine.status).toBe(200);
    const refused = await send(`${url}/catalog/search`, { body: '{}' });
    // On a busy machine the first one may be slow enough for a log line.
    const unexpected = ({ msg, status, ms }: Record<string, unknown>) =>
      msg === 'request' && !(status === 200 && Number(ms) > 900);
    expect(lines.filter(unexpected)).toEqual([
      expect.objectContaining({
        requestId: refused.headers['x-request-id'],
        method: 'POST',
        url: '/catalog/search',
        status: 401,
        code: 'AUT_SIGNATURE_MISSING',
      }),
    ]);
  });

  it('logs no address that lets in whoever knows it', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(line) });
    const { url } = await start(actions.search, { logger }, undefined, { logger });
    await send(`${url}/downloads/1?expires=2&signature=SECRET&x=3`, { method: 'GET' });
    expect(lines.join('')).toContain('/downloads/1?expires=2&signature=…&x=3');
    expect(lines.join('')).not.toContain('SECRET');
  });

  it('logs what really failed behind an internal error, with the id that the answer carries', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino(
      { level: 'error' },
      new Writable({ write: (line, _encoding, done) => done(void lines.push(JSON.parse(line))) }),
    );
    const broken = async () => {
      throw new Error('disk on fire');
    };
    const { url } = await start(actions.search, { logger }, broken, { logger });
    const answer = await sendSigned(`${url}/catalog/search`, {
      from: consumer,
      body: bodyOf(actions.search),
    });
    expect(lines).toMatchObject([
      { requestId: answer.headers['x-request-id'], err: { message: 'disk on fire' } },
    ]);
  });

  it('closes the connection where a stream fails before its first piece, and tries no second answer', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const addRoutes = (server: RunningServer['server']) => {
      server.get('/stream', async (_request, reply) => {
        reply.send(new Readable({ read: (): void => undefined }).destroy(new Error('disk on fire')));
        return reply.hijack();
      });
    };
    const running = await listen(addRoutes, { logger });
    opened.push(running);
    await expect(send(`${running.url}/stream`, { method: 'GET' })).rejects.toThrow();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'a request failed', err: { message: 'disk on fire' } },
    ]);
  });

  it('lets requests finish when it is closed, and waits for none that does not', async () => {
    const begun = gate();
    const { url, port, server } = await start(actions.search, {}, slowly, { finishMs: 1_000 });
    const halfSent = connect(port, '127.0.0.1');
    halfSent
      .on('error', () => undefined)
      .write('POST /catalog/search HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n');
    const body = bodyOf(actions.search);
    const answering = sendSigned(`${url}/catalog/search`, { from: consumer, body });
    await begun.passed;
    const [answer] = await Promise.all([answering, server.close()]);
    expect(answer.status).toBe(200);

    async function slowly() {
      begun.open();
      await takeTime(300);
      return { status: 200, body: {} };
    }
  });

  it('describes unsigned routes that say what they do', async () => {
    const { url } = await plain();
    const { json } = await send(`${url}/openapi.json`, { method: 'GET' });
    expect(json).toMatchObject({
      paths: {
        '/things/{id}': {
          get: { summary: 'One thing.', parameters: [{ name: 'id', in: 'path' }, { name: 'full' }] },
        },
      },
    });
  });

  it('describes its routes once, however often anybody asks', async () => {
    let described = 0;
    const operation = {
      get summary() {
        described += 1;
        return 'One thing.';
      },
    };
    const running = await listen((server) =>
      server.get('/thing', { config: { operation } }, async () => ({})),
    );
    opened.push(running);
    const ask = async () => (await send(`${running.url}/openapi.json`, { method: 'GET' })).text;
    const [first, second] = [await ask(), await ask()];
    expect(second).toBe(first);
    expect(described).toBe(1);
  });
});

async function plain(): Promise<RunningServer> {
  const running = await listen((server) => {
    server.get('/fails', async () => {
      throw new Error('secret');
    });
    server.get('/refuses', async () => {
      throw new ProtocolError('NET_OVERLOADED', 'not now', { retryAfterSeconds: 6.2 });
    });
    server.post('/echo', async (request) => request.body);
    const operation = {
      summary: 'One thing.',
      query: Type.Object({ full: Type.Boolean() }),
      answer: Type.Object({}),
    };
    server.get('/things/:id', { config: { operation } }, async () => ({}));
  });
  opened.push(running);
  return running;
}
