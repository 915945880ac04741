import { createServer } from 'node:http';
import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { closeAfterEach, listen } from '../../../tests/support/network/guarded-calls.ts';
import { fetchPublic, findRedirect } from './fetch-public.ts';

closeAfterEach();

describe('a download', () => {
  it('resolves a name once, so that it cannot change between the check and the connection', async () => {
    const server = createServer((_request, response) => response.end());
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const { port } = await listen(server);
    let resolutions = 0;
    const rebinding: LookupFunction = (_name, _options, done) => {
      resolutions += 1;
      done(null, [{ address: resolutions === 1 ? '127.0.0.1' : '1.1.1.1', family: 4 }]);
    };
    const signal = AbortSignal.timeout(10_000);
    await expect(fetchPublic(`https://rebind.test:${port}/`, { signal, resolve: rebinding })).rejects.toThrow(
      'rebind.test (127.0.0.1) is not called: its address is loopback, not public',
    );
    expect([resolutions, connections]).toEqual([1, 0]);
  });

  it('is led on by an answer that redirects, to an address that is judged like the first', () => {
    const from = new URL('https://service.example.org/files/a');
    const redirect = (statusCode: number, location?: string) =>
      findRedirect(from, { statusCode, headers: { location } })?.href;
    expect(redirect(302, 'b')).toBe('https://service.example.org/files/b');
    expect(redirect(307, 'http://127.0.0.1/')).toBe('http://127.0.0.1/');
    expect(redirect(302)).toBeUndefined();
    expect(redirect(200, 'b')).toBeUndefined();
    expect(() => redirect(301, 'https://')).toThrow('redirects to an invalid address');
  });
});
