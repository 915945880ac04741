import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type LookupFunction } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { FetchFailure, type FetchFailureKind } from './fetch-failure.ts';
import { createGuardedClient, type GuardedClient, type RequestOptions } from './guarded-client.ts';
import { inflateStream } from './inflate.ts';

const limits = { timeoutMs: 2_000, maxBytes: 1_000_000 } satisfies RequestOptions;
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close();
});

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
      setTimeout(() => response.destroy(), 20);
    });
    expect(await kindOf(open().request(cut.url, limits))).toBe('unreachable');
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
      setTimeout(() => response.writeHead(302, { location: `/${hop + 1}` }).end(), 80);
    });
    const failure = await failureOf(
      open().request(`${url}/0`, { ...limits, timeoutMs: 200, maxRedirects: 50 }),
    );
    expect(failure.kind).toBe('timeout');
  });

  it('is told from a caller who gave up', async () => {
    const { url } = await serve(() => {});
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
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

describe('redirects', () => {
  it('are followed for reads, up to three', async () => {
    const { url } = await serveHops();
    const answer = await open().request(`${url}/3`, limits);
    expect(answer).toMatchObject({ status: 200, url: `${url}/0` });
    const failure = await failureOf(open().request(`${url}/4`, limits));
    expect(failure).toMatchObject({ kind: 'redirects', message: `${url}/4 redirects more than 3 times.` });
  });

  it('are never followed for a POST', async () => {
    const { url, count } = await serveHops();
    const answer = await open().request(`${url}/1`, { ...limits, method: 'POST', body: '{}' });
    expect(answer.status).toBe(302);
    expect(count()).toBe(1);
  });

  it('to nowhere are named', async () => {
    const { url } = await serve((_request, response) => response.writeHead(302).end());
    expect(await kindOf(open().request(url, limits))).toBe('redirects');
    const bad = await serve((_request, response) => response.writeHead(302, { location: 'http://' }).end());
    expect(await kindOf(open().request(bad.url, limits))).toBe('redirects');
  });

  it('to another origin do not take a signature along', async () => {
    const seen: (string | undefined)[] = [];
    const target = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end();
    });
    const source = await serve((request, response) => {
      if (request.url === '/same') return response.writeHead(307, { location: '/other' }).end();
      response.writeHead(307, { location: target.url }).end();
    });
    await open().request(`${source.url}/same`, { ...limits, headers: { Authorization: 'Signature x' } });
    expect(seen).toEqual([undefined]);
  });

  it('from an address of the operator lead no further than its origin without the guard', async () => {
    const inner = await serve((_request, response) => response.end('secret'));
    const outer = await serve((request, response) => {
      const to: Record<string, string> = {
        '/own': '/fine',
        '/http': `${inner.url}/`,
        '/https': inner.url.replace('http:', 'https:'),
        '/name': `https://localhost:${inner.port}/`,
      };
      const location = to[request.url ?? ''];
      if (location === undefined) return response.end('fine');
      response.writeHead(302, { location }).end();
    });
    const client = guarded();
    const options = { ...limits, operatorConfigured: true };
    expect((await client.request(`${outer.url}/own`, options)).body.toString()).toBe('fine');
    expect(await kindOf(client.request(`${outer.url}/http`, options))).toBe('address-refused');
    expect(await kindOf(client.request(`${outer.url}/https`, options))).toBe('address-refused');
    expect(await kindOf(client.request(`${outer.url}/name`, options))).toBe('address-refused');
    expect(inner.count()).toBe(0);
  });
});

describe('the guard', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '10.1.2.3',
    '169.254.169.254',
  ])('refuses the literal address %s', async (host) => {
    const failure = await failureOf(guarded().request(`https://${host}:4443/`, limits));
    expect(failure.kind).toBe('address-refused');
    expect(failure.message).toContain('ALLOW_PRIVATE_ADDRESSES');
  });

  it('refuses a name by the address that it resolves to, without connecting', async () => {
    const { port, connections } = await serve((_request, response) => response.end());
    const failure = await failureOf(guarded().request(`https://localhost:${port}/`, limits));
    expect(failure).toMatchObject({ kind: 'address-refused' });
    expect(failure.message).toMatch(
      /^localhost \((127\.0\.0\.1|::1)\) is not called: its address is loopback/,
    );
    expect(connections()).toBe(0);
  });

  it('resolves once, so that a name cannot change between the check and the connection', async () => {
    const { port, connections } = await serve((_request, response) => response.end());
    let resolutions = 0;
    const rebinding: LookupFunction = (_name, _options, done) => {
      resolutions += 1;
      done(null, [{ address: resolutions === 1 ? '127.0.0.1' : '1.1.1.1', family: 4 }]);
    };
    const client = guarded({ lookup: rebinding });
    expect(await kindOf(client.request(`https://rebind.test:${port}/`, limits))).toBe('address-refused');
    expect(resolutions).toBe(1);
    expect(connections()).toBe(0);
  });

  it('does not let a kept connection of an operator address serve a guarded call', async () => {
    const { url, port, connections } = await serve((_request, response) => response.end('ok'));
    const client = guarded();
    await client.request(url, { ...limits, operatorConfigured: true });
    expect(await kindOf(client.request(url, limits))).toBe('address-refused');
    expect(await kindOf(client.request(`http://localhost:${port}/`, limits))).toBe('bad-url');
    expect(connections()).toBe(1);
  });

  it('asks for https', async () => {
    const failure = await failureOf(guarded().request('http://provider.example/index.json', limits));
    expect(failure).toMatchObject({
      kind: 'bad-url',
      message: 'http://provider.example/index.json is not called: only https is called.',
    });
  });

  it('names what it does not call as it was written', async () => {
    const { message } = await failureOf(open().request('file:///etc/passwd', limits));
    expect(message).toBe('file:/etc/passwd is not called: it is neither https nor http.');
  });

  it('refuses credentials, other schemes and what is no URL, whoever configured it', async () => {
    const options = { ...limits, operatorConfigured: true };
    expect(await kindOf(open().request('http://me:secret@localhost/', options))).toBe('bad-url');
    expect(await kindOf(open().request('file:///etc/passwd', options))).toBe('bad-url');
    expect(await kindOf(open().request('ftp://localhost/', options))).toBe('bad-url');
    expect(await kindOf(open().request('not a url', options))).toBe('bad-url');
  });
});

function open(options: { lookup?: LookupFunction } = {}): GuardedClient {
  return keep(createGuardedClient({ allowPrivateAddresses: true, ...options }));
}

function guarded(options: { lookup?: LookupFunction } = {}): GuardedClient {
  return keep(createGuardedClient({ allowPrivateAddresses: false, ...options }));
}

function keep(client: GuardedClient): GuardedClient {
  opened.push(client);
  return client;
}

async function serve(listener: RequestListener) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    return listener(request, response);
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  return { ...(await listen(server)), count: () => requests, connections: () => connections };
}

async function serveHops() {
  return await serve((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('there');
    else response.writeHead(302, { location: `/${left - 1}` }).end('a body that nobody needs');
  });
}

async function listen(server: Server | ReturnType<typeof createTcpServer>) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  opened.unshift({ close });
  return { url: `http://127.0.0.1:${port}`, port };
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function failureOf(work: Promise<unknown>): Promise<FetchFailure> {
  const outcome = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!(outcome instanceof FetchFailure)) throw outcome;
  return outcome;
}

async function kindOf(work: Promise<unknown>): Promise<FetchFailureKind> {
  return (await failureOf(work)).kind;
}

function codeError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
