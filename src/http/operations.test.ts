import { afterEach, describe, expect, it } from 'vitest';
import { listen, type RunningServer, send } from '../../tests/support/network/signed-service.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { createOperationsServer } from './operations.ts';
import type { ServerOptions } from './server.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

describe('the operations of a role', () => {
  it('say that the process is up', async () => {
    const { url } = await start();
    expect((await get(`${url}/health`)).json).toMatchObject({ status: 'up', roles: ['catalog'] });
  });

  it('say whether it can do its work, and what it says about that', async () => {
    const good = await start({ ready: async () => ({ registry: { reachable: true } }) });
    expect(await get(`${good.url}/ready`)).toMatchObject({
      status: 200,
      json: { ready: true, roles: { catalog: { ready: true, registry: { reachable: true } } } },
    });
    const bare = await start({ ready: async () => undefined });
    expect((await get(`${bare.url}/ready`)).json).toEqual({
      ready: true,
      roles: { catalog: { ready: true } },
    });
  });

  it('answer 503 when it cannot, or says that it cannot', async () => {
    const broken = await start({
      ready: async () => {
        throw new Error('the database does not answer');
      },
    });
    expect(await get(`${broken.url}/ready`)).toMatchObject({
      status: 503,
      json: { ready: false, roles: { catalog: { ready: false, problem: 'the database does not answer' } } },
    });
    const starting = await start({ ready: async () => ({ ready: false, migrations: 'running' }) });
    expect((await get(`${starting.url}/ready`)).status).toBe(503);
  });

  it('count requests by route and status for Prometheus', async () => {
    const { url } = await start();
    await get(`${url}/health`);
    await get(`${url}/nothing-here`);
    const { text, headers } = await get(`${url}/metrics`);
    expect(headers['content-type']).toContain('text/plain');
    const count = 'signpost_http_request_seconds_count';
    expect(text).toContain(`${count}{role="catalog",method="GET",route="/health",status="200"} 1`);
    expect(text).toContain(`${count}{role="catalog",method="GET",route="none",status="404"} 1`);
  });

  it('show the documentation without any other host', async () => {
    const { url } = await start();
    const { status, headers, text } = await get(`${url}/docs`);
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(text).not.toMatch(/(src|href)="https?:/);
    const files = [...text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => file);
    expect(files).toHaveLength(4);
    for (const file of files) expect((await get(`${url}/${file}`)).status, file).toBe(200);
    for (const file of ['docs/none.js', 'docs/..%2fweb%2findex.html', 'docs/%00.js'])
      expect((await get(`${url}/${file}`)).status, file).toBe(404);
  });
});

describe('operations at another address', () => {
  it('serve all roles there, and nothing of it at the roles', async () => {
    const metrics = createMetrics({ process: false });
    const operations = createOperationsServer(silentLogger());
    opened.push(operations);
    const catalog = await start({ metrics, operations });
    await start({
      role: 'registry',
      metrics,
      operations,
      ready: async () => {
        throw new Error('down');
      },
    });
    for (const path of ['/health', '/ready', '/metrics', '/docs']) {
      expect((await get(`${catalog.url}${path}`)).status).toBe(404);
    }
    expect((await get(`${catalog.url}/openapi.json`)).status).toBe(200);

    const url = await operations.listen({ host: '127.0.0.1', port: 0 });
    expect((await get(url)).text).toContain('<a href="/metrics">');
    expect((await get(`${url}/health`)).json).toMatchObject({ roles: ['catalog', 'registry'] });
    expect(await get(`${url}/ready`)).toMatchObject({
      status: 503,
      json: { roles: { catalog: { ready: true }, registry: { ready: false } } },
    });
    expect((await get(`${url}/metrics`)).text).toContain('role="catalog"');
    expect((await get(`${url}/docs`)).text).toContain('data-role="catalog"');
    expect((await get(`${url}/docs?role=registry`)).text).toContain('data-role="registry"');
    expect((await get(`${url}/openapi.json?role=registry`)).json).toMatchObject({
      info: { title: 'Signpost registry' },
    });
  });
});

async function start(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const running = await listen(() => {}, options);
  opened.push(running.server);
  return running;
}

async function get(url: string) {
  return await send(url, { method: 'GET' });
}
