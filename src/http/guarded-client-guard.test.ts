import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  closeAfterEach,
  failureOf,
  guarded,
  kindOf,
  limits,
  open,
  serve,
  serveHops,
} from '../../tests/support/network/guarded-calls.ts';
import { startNameServer } from '../../tests/support/network/name-server.mjs';
import { patienceMs } from '../../tests/support/patience.ts';

closeAfterEach();

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

  it('refuses a name whose name server gives only addresses that are not public', async () => {
    const names = await startNameServer(() => ({ A: ['127.0.0.1', '10.1.2.3'], AAAA: ['::1'] }));
    const { port, connections } = await serve((_request, response) => response.end());
    const client = guarded({ nameServers: [names.address] });
    const patient = { ...limits, timeoutMs: patienceMs };
    expect(await kindOf(client.request(`https://inside.test:${port}/`, patient))).toBe('address-refused');
    expect(names.questions).toContain('A inside.test');
    expect(connections()).toBe(0);
    await names.stop();
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
      message: 'http://provider.example/index.json is not called: only https is allowed.',
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
