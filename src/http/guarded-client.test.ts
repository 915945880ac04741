import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  closeAfterEach,
  failureOf,
  kindOf,
  limits,
  listen,
  open,
  serve,
} from '../../tests/support/network/guarded-calls.ts';
import { takeTime } from '../../tests/support/time.ts';
import { inflateStream } from './inflate.ts';

closeAfterEach();

describe('a call', () => {
  it('brings back status, headers, body and where it came from', async () => {
    const { url } = await serve((_request, response) =>
      response.writeHead(404, { 'x-kind': 'test' }).end('none'),
    );
    const answer = await open().request(`${url}/thing?x=1`, limits);
    expect(answer).toMatchObject({ status: 404, url: `${url}/thing?x=1` });
    expect(answer.headers['x-kind']).toBe('test');
    expect(answer.body.toString()).toBe('none');
  });

  it('sends method, headers and body as given', async () => {
    const seen: unknown[] = [];
    const { url } = await serve(async (request, response) => {
      const body = await request.setEncoding('utf8').toArray();
      seen.push([request.method, request.headers.authorization, body.join('')]);
      response.end();
    });
    await open().request(url, {
      ...limits,
      method: 'POST',
      headers: { authorization: 'a' },
      body: Buffer.from('b'),
    });
    expect(seen).toEqual([['POST', 'a', 'b']]);
  });

  it('sends a body that comes in pieces as one, with its length', async () => {
    const seen: unknown[] = [];
    const { url } = await serve(async (request, response) => {
      const body = await request.setEncoding('utf8').toArray();
      seen.push([request.headers['content-length'], request.headers['transfer-encoding'], body.join('')]);
      response.end();
    });
    const large = 'x'.repeat(300_000);
    const body = ['<', large, '>'].map((piece) => Buffer.from(piece));
    await open().request(url, { ...limits, method: 'POST', body });
    expect(seen).toEqual([['300002', undefined, `<${large}>`]]);
  });

  it('takes a 304 for what it is, also where it tells the length of a body that is not sent', async () => {
    const { url } = await serve((_request, response) =>
      response.writeHead(304, { 'content-length': '5000' }).end(),
    );
    const answer = await open().request(url, { ...limits, maxBytes: 1_000 });
    expect(answer).toMatchObject({ status: 304, body: Buffer.alloc(0) });
  });

  it('says that nothing listens there', async () => {
    const url = 'http://127.0.0.1:1';
    const failure = await failureOf(open().request(url, limits));
    expect(failure).toMatchObject({
      kind: 'unreachable',
      message: `${url} cannot be reached: nothing listens there.`,
    });
    expect(failure.cause).toBeDefined();
  });

  it('says that a name does not resolve', async () => {
    const client = open({ lookup: (_name, _options, done) => done(codeError('ENOTFOUND'), []) });
    expect(await failureOf(client.request('http://no.such.host.test/', limits))).toMatchObject({
      kind: 'unreachable',
      message: 'http://no.such.host.test cannot be reached: its name does not resolve.',
    });
  });

  it('says that the other side broke off, or does not speak HTTP', async () => {
    const broken = await listen(createTcpServer((socket) => socket.destroy()));
    expect(await kindOf(open().request(broken.url, limits))).toBe('unreachable');
    const chatter = await listen(createTcpServer((socket) => socket.resume().end('hello\r\n\r\n')));
    expect(await kindOf(open().request(chatter.url, limits))).toBe('unreachable');
    const cut = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('part');
      void takeTime(20).then(() => response.destroy());
    });
    expect(await kindOf(open().request(cut.url, limits))).toBe('unreachable');
  });
});

describe('a mistake of ours', () => {
  it('is thrown as it is, and not taken for a failure of the network', async () => {
    const mistake = new TypeError('agent().request is not a function');
    const client = open({ lookup: (_name, _options, done) => done(mistake, []) });
    await expect(client.request('http://host.test/', limits)).rejects.toBe(mistake);
    await expect(client.stream('http://host.test/', limits)).rejects.toBe(mistake);
    const wrong = { ...limits, headers: { 'not a name': 'x' } };
    await expect(open().request('http://127.0.0.1:1', wrong)).rejects.toMatchObject({
      code: 'UND_ERR_INVALID_ARG',
    });
  });
});

describe('the time-out', () => {
  it('covers an answer that never begins', async () => {
    const { url } = await serve(() => {});
    const failure = await failureOf(open().request(url, { ...limits, timeoutMs: 100 }));
    expect(failure).toMatchObject({
      kind: 'timeout',
      message: `${url} did not answer completely within 100 ms.`,
    });
  });

  it('covers a body that trickles, also when it is streamed', async () => {
    const { url } = await serve((_request, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    });
    expect(await kindOf(open().request(url, { ...limits, timeoutMs: 150 }))).toBe('timeout');
    const { body } = await open().stream(url, { ...limits, timeoutMs: 500 });
    expect(await kindOf(body.toArray())).toBe('timeout');
  });

  it('runs over all redirects together', async () => {
    const { url } = await serve((request, response) => {
      const hop = Number(request.url?.slice(1));
      void takeTime(80).then(() => response.writeHead(302, { location: `/${hop + 1}` }).end());
    });
    const failure = await failureOf(
      open().request(`${url}/0`, { ...limits, timeoutMs: 200, maxRedirects: 50 }),
    );
    expect(failure.kind).toBe('timeout');
  });

  it('is told from a caller who gave up', async () => {
    const { url } = await serve(() => {});
    const controller = new AbortController();
    void takeTime(50).then(() => controller.abort());
    expect(await kindOf(open().request(url, { ...limits, signal: controller.signal }))).toBe('aborted');
    expect(await kindOf(open().request(url, { ...limits, signal: AbortSignal.abort() }))).toBe('aborted');
  });
});

describe('the byte limits', () => {
  it('let exactly the allowed number of bytes pass', async () => {
    const { url } = await serve((_request, response) => response.end('x'.repeat(1_000)));
    const answer = await open().request(url, { ...limits, maxBytes: 1_000 });
    expect(answer.body).toHaveLength(1_000);
  });

  it('refuse an announced length before reading, and an unannounced one while reading', async () => {
    const announced = await serve((_request, response) => response.end('x'.repeat(1_001)));
    const failure = await failureOf(open().request(announced.url, { ...limits, maxBytes: 1_000 }));
    expect(failure).toMatchObject({
      kind: 'too-large',
      message: `${announced.url}/ answers with more than 1000 bytes.`,
    });
    const endless = await serve((_request, response) => {
      const pump = () => void response.write('x'.repeat(10_000), () => setImmediate(pump));
      pump();
    });
    expect(await kindOf(open().request(endless.url, { ...limits, maxBytes: 100_000 }))).toBe('too-large');
    const { body } = await open().stream(endless.url, { ...limits, maxBytes: 100_000 });
    expect(await kindOf(body.toArray())).toBe('too-large');
  });

  it('inflate a gzip Content-Encoding and keep what came over the wire', async () => {
    const zipped = gzipSync('{"a":1}');
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped),
    );
    const answer = await open().request(url, { ...limits, maxInflatedBytes: 7 });
    expect(answer.body.toString()).toBe('{"a":1}');
    expect(answer.wire).toEqual(zipped);
  });

  it('stop a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const failure = await failureOf(open().request(url, { ...limits, maxInflatedBytes: 5_000_000 }));
    expect(failure.kind).toBe('too-large');
    const { body } = await open().stream(url, limits);
    expect(await kindOf(collect(inflateStream(body, 5_000_000, url)))).toBe('too-large');
  });

  it('name a broken or unknown encoding', async () => {
    const broken = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    );
    expect(await kindOf(open().request(broken.url, limits))).toBe('bad-encoding');
    const { body } = await open().stream(broken.url, limits);
    expect(await kindOf(collect(inflateStream(body, 100, broken.url)))).toBe('bad-encoding');
    const foreign = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'br' }).end('?'),
    );
    expect(await kindOf(open().request(foreign.url, limits))).toBe('bad-encoding');
  });
});

describe('a streamed download', () => {
  it('brings the bytes as they are served', async () => {
    const zipped = gzipSync('x'.repeat(100_000));
    const { url } = await serve((_request, response) => response.end(zipped));
    const { status, body } = await open().stream(`${url}/file.json.gz`, limits);
    expect(status).toBe(200);
    expect((await collect(inflateStream(body, 100_000, url))).toString()).toBe('x'.repeat(100_000));
  });

  it('lets go of the connection when its reader goes away without reading', async () => {
    let closed = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { url } = await serve((_request, response) => {
      response.on('close', closed);
      response.write('x'.repeat(10_000));
    });
    const { body } = await open().stream(url, limits);
    body.destroy();
    await gone;
  });
});

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

function codeError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
