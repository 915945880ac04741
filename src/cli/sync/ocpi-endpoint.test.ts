import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type OcpiServer,
  ocpiLocation,
  ocpiTariff,
  startOcpiServer,
} from '../../../tests/support/peers/ocpi-server.ts';
import { createGuardedClient } from '../../http/guarded-client.ts';
import { createOcpiReader } from './ocpi-endpoint.ts';

const client = createGuardedClient({ allowPrivateAddresses: true });
let server: OcpiServer;
let now: Date;
let pauses: number[];
beforeEach(async () => {
  server = await startOcpiServer();
  server.locations = Array.from({ length: 25 }, (_, index) => ocpiLocation(`L${index}`));
  server.tariffs = [ocpiTariff('T1', 0.5)];
  now = new Date('2026-02-01T00:00:00Z');
  pauses = [];
});
afterEach(() => server.close());

function open(token: string | undefined = 'secret') {
  const pause = async (ms: number) => void pauses.push(ms);
  return createOcpiReader({ url: server.url, token, client, now: () => now, pause });
}

const ids = (objects: Iterable<unknown>) => [...objects].map((object) => Object(object).id).sort();
const all = () => server.locations.map(({ id }) => id).sort();

describe('an OCPI endpoint', () => {
  it('is read in its highest version, page by page', async () => {
    const { locations, tariffs, isChanged } = await open().read();
    expect({ ids: ids(locations), tariffs: ids(tariffs), isChanged }).toEqual({
      ids: all(),
      tariffs: ['T1'],
      isChanged: true,
    });
    expect(server.requests.filter((path) => path.startsWith('/2.3.0/locations'))).toHaveLength(3);
  });

  it('is asked for what has changed, with an overlap, and now and then for everything', async () => {
    const reader = open();
    await reader.read();
    server.requests.length = 0;
    expect((await reader.read()).isChanged).toBe(false);
    expect(server.requests[0]).toContain('date_from=2026-01-31T11%3A55');
    const changed = ocpiLocation('L3', { statuses: ['CHARGING'], updated: '2026-02-01T00:00:01Z' });
    server.locations = [...server.locations.filter(({ id }) => id !== 'L3' && id !== 'L4'), changed];
    const { locations, isChanged } = await reader.read();
    expect(isChanged).toBe(true);
    expect([...locations]).toContainEqual(changed);
    // OCPI does not report deletions.
    expect(ids(locations)).toContain('L4');
    now = new Date('2026-02-01T02:00:00Z');
    expect(ids((await reader.read()).locations)).toEqual(all());
  });

  it('is read again where pages shift while they are read', async () => {
    let pages = 0;
    server.interfere = (request) => {
      if (!request.url?.includes('/locations')) return false;
      pages += 1;
      // After the first page, one of its objects moves to the end: the next page lacks one.
      if (pages === 2) server.locations.push(...server.locations.splice(0, 1));
      return false;
    };
    expect(ids((await open().read()).locations)).toEqual(all());
    expect(pages).toBeGreaterThan(3);
  });

  it('is read again where a location is skipped and nothing shows it but that it was there', async () => {
    let pages = 0;
    server.interfere = (request) => {
      if (!request.url?.includes('/locations')) return false;
      pages += 1;
      // After the first page, one of its objects goes and another one comes: the next page lacks one, but the count is right.
      if (pages === 2) server.locations = [...server.locations.slice(1), ocpiLocation('new')];
      return false;
    };
    const known = server.locations.map(({ id }) => `DE*ABC*${id}`);
    const reader = createOcpiReader({ url: server.url, token: 'secret', client, known });
    expect(ids((await reader.read()).locations)).toEqual(expect.arrayContaining(all()));
  });

  it('is refused where pages never have what it announces', async () => {
    server.interfere = (request, response) => {
      if (!request.url?.includes('/locations')) return false;
      response.writeHead(200, { 'x-total-count': '99' });
      response.end(
        JSON.stringify({
          status_code: 1000,
          data: server.locations.slice(0, pauses.length + (server.requests.length % 3)),
        }),
      );
      return true;
    };
    await expect(open().read()).rejects.toThrow('announces 99 objects');
  });

  it('is asked again after the time that it names, and after failures', async () => {
    const failures = [429, 503, 500];
    server.interfere = (_request, response) => {
      const status = failures.shift();
      if (status === undefined) return false;
      response.writeHead(status, status === 429 ? { 'retry-after': '7' } : {}).end();
      return true;
    };
    expect(ids((await open().read()).locations)).toEqual(all());
    expect(pauses).toEqual([7_000, 4_000, 8_000]);
  });

  it('whose whole reading failed is read as a whole the next time', async () => {
    const reader = open();
    await reader.read();
    now = new Date('2026-02-01T02:00:00Z');
    server.interfere = (_request, response) => {
      response.writeHead(200).end(JSON.stringify({ status_code: 2001, status_message: 'Nope' }));
      return true;
    };
    await expect(reader.read()).rejects.toThrow('OCPI 2001 Nope');
    server.interfere = undefined;
    server.locations = server.locations.slice(1);
    expect(ids((await reader.read()).locations)).toEqual(all());
  });

  it('reports a change of a round that failed in the next one, without reading everything again', async () => {
    const reader = open();
    await reader.read();
    const changed = ocpiLocation('L3', { statuses: ['CHARGING'], updated: '2026-02-01T00:00:01Z' });
    server.locations = [...server.locations.filter(({ id }) => id !== 'L3'), changed];
    server.interfere = (request, response) =>
      request.url?.includes('/tariffs') === true && Boolean(response.writeHead(403).end());
    await expect(reader.read()).rejects.toThrow('HTTP 403');
    server.interfere = undefined;
    server.requests.length = 0;
    const { locations, isChanged } = await reader.read();
    expect(isChanged).toBe(true);
    expect([...locations]).toContainEqual(changed);
    const pages = server.requests.filter((path) => path.includes('offset'));
    expect(pages.filter((path) => !path.includes('date_from'))).toEqual([]);
    expect((await reader.read()).isChanged).toBe(false);
  });

  it('that has neither version, or another token, is refused in a sentence', async () => {
    await expect(open('other').read()).rejects.toThrow('HTTP 401');
    const old = await startOcpiServer({ versions: ['2.1.1'] });
    const reader = createOcpiReader({ url: old.url, token: 'secret', client });
    await expect(reader.read()).rejects.toThrow('it has neither OCPI 2.3.0 nor 2.2.1, but 2.1.1');
    await old.close();
  });

  it.each([
    ['the same page again', () => 0],
    ['pages of the same objects, at other addresses', (asked: number) => asked],
  ])('is refused where it links to %s for ever', async (_, offset) => {
    server.interfere = (request, response) => {
      if (!request.url?.includes('/locations')) return false;
      const next = new URL(`?offset=${offset(server.requests.length)}`, new URL(request.url, server.url));
      response.writeHead(200, { link: `<${next.href}>; rel="next"` });
      response.end(JSON.stringify({ status_code: 1000, data: server.locations }));
      return true;
    };
    await expect(open().read()).rejects.toThrow('has endless pages');
    expect(server.requests.length).toBeLessThan(50);
  });

  it('does not send the token to another server that a page links to', async () => {
    server.interfere = (request, response) => {
      if (!request.url?.includes('/locations')) return false;
      response.writeHead(200, { link: '<http://127.0.0.2:1/next>; rel="next"' });
      response.end(JSON.stringify({ status_code: 1000, data: [] }));
      return true;
    };
    await expect(open().read()).rejects.toThrow('at another server');
  });
});
