import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renewManifest } from '../../src/publisher/keep-manifest.ts';
import { readIndexStatus } from '../../src/search/status.ts';
import { writeLog } from '../../src/storage/crawl/log.ts';
import { openScene, type Scene } from '../support/hosted/crawl-scene.ts';
import { consoleOf } from '../support/network/console.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { until } from '../support/time.ts';

// The operator's API after a real crawl: one catalog is served, and a change of it could not be read.

let network: TestNetwork;
let scene: Scene;
let fresh: Provider;

beforeAll(async () => {
  network = await startNetwork({
    settings: {
      ROLES: 'registry,discovery,console',
      DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
    },
  });
  fresh = await startProvider(network, 'fresh');
  await renewManifest(fresh.tree, { url: fresh.url });
  await fresh.register();
  scene = await openScene(network);
  await scene.publish(0, 10);
  const gone = { status: 410, body: Buffer.alloc(0) };
  scene.provider.spoil((path) => (path.startsWith('/catalogs/') ? gone : undefined));
  await scene.publish(1, 11);
});
afterAll(async () => {
  await fresh?.stop();
  await scene?.end();
  await network?.close();
});

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
  const response = await fetch(`${network.config.consoleUrl}${path}`, init);
  return { status: response.status, body: await response.json() };
}

describe('GET /api/nodes', () => {
  it('lists the nodes that are crawled, how they stand, and the last line of the log', async () => {
    const { body } = await ask('/api/nodes');
    expect(body.items).toContainEqual(
      expect.objectContaining({
        ...{ node: scene.provider.identity, state: 'with failing catalogs', catalogs: 1, failing: 1 },
        ...{
          // The cause, not the gap that it leaves.
          lastCode: 'file-missing',
          lastMessage: expect.any(String),
          nextAt: expect.any(String),
        },
      }),
    );
    const small = await consoleOf(network).all('/api/nodes', 1);
    expect(small.items).toHaveLength(body.items.length);
    const { items } = (await ask('/api/nodes?state=with%20failing%20catalogs')).body;
    expect(items.map(({ node }: { node: string }) => node)).toEqual([scene.provider.identity]);
  });

  it('says of a node without signed catalogs that it has published nothing', async () => {
    const states = (await ask('/api/nodes?limit=200')).body.items
      .filter(({ catalogs }: { catalogs: number }) => catalogs === 0)
      .map(({ state }: { state: string }) => state);
    expect(states).toContain('nothing published');
    expect(states).not.toContain('read');
  });

  it('does not call a publisher failing that has published nothing yet', async () => {
    const { items } = (await ask('/api/nodes?limit=200')).body;
    const { state, lastCode } = items.find(({ node }: { node: string }) => node === fresh.identity);
    expect({ state, lastCode }).toEqual({ state: 'nothing published' });
  });
});

describe('GET /api/overview', () => {
  it('counts nodes that fail, with those whose catalogs do, and these catalogs', async () => {
    const { items } = (await ask('/api/nodes?limit=200')).body;
    const failing = items.filter(({ state }: { state: string }) => /failing/.test(state));
    expect(failing.length).toBeGreaterThan(0);
    const { crawl } = (await ask('/api/overview')).body;
    expect(crawl).toEqual({ failing: failing.length, failingCatalogs: 1 });
  });
});

describe('POST /api/crawl/now', () => {
  it('has a node crawled now, and asks for the token', async () => {
    const { node } = (await ask(`/api/nodes`)).body.items[0];
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ node }),
    };
    expect((await ask('/api/crawl/now', init)).status).toBe(401);
    const started = await consoleOf(network).ask('/api/crawl/now', { body: { node: scene.provider.id } });
    expect(started).toMatchObject({ status: 200, body: { started: true } });
  });

  it('says where a node is not crawled here', async () => {
    const { status, body } = await consoleOf(network).ask('/api/crawl/now', {
      body: { node: 'nobody.example.org' },
    });
    expect([status, body.error.message]).toEqual([404, expect.stringContaining('is not crawled here')]);
  });
});

describe('GET /api/crawl/log', () => {
  it('shows what was not taken, and what to do about it', async () => {
    const { body } = await ask(`/api/crawl/log?node=${scene.provider.id}&catalogId=${scene.catalogId}`);
    expect(body.items).toContainEqual(
      expect.objectContaining({ catalogId: scene.catalogId, hint: expect.stringMatching(/\.$/) }),
    );
  });

  it('goes on from page to page, the latest lines first', async () => {
    const lines = ['one', 'two', 'three'].map((code) => ({
      ...{
        node: `talkative.example.org/${network.config.REGISTRY_NAME}`,
        code,
        message: 'It is wrong.',
        hint: 'Mend it.',
      },
    }));
    for (const [second, line] of lines.entries())
      await writeLog(network.database, [line], new Date(Date.UTC(2026, 0, 1, 0, 0, second)));
    const { items, pages } = await consoleOf(network).all(`/api/crawl/log?node=talkative.example.org`, 2);
    expect([items.map((item) => (item as unknown as { code: string }).code), pages]).toEqual([
      ['three', 'two', 'one'],
      2,
    ]);
  });

  it('keeps the order of lines of the same time, whatever the size of a page', async () => {
    const node = `hasty.example.org/${network.config.REGISTRY_NAME}`;
    const line = (code: string) => ({ node, code, message: 'It is wrong.', hint: 'Mend it.' });
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
    const same = Array.from({ length: 20 }, (_, index) => line(`same-${index}`));
    await writeLog(network.database, [line('older'), line('repeated')], at(0));
    await writeLog(network.database, same, at(1));
    await writeLog(network.database, [line('repeated')], at(2));
    const read = async (limit: number) => {
      const { items } = await consoleOf(network).all('/api/crawl/log?node=hasty.example.org', limit);
      return items.map((item) => (item as unknown as { code: string }).code);
    };
    const codes = await read(200);
    expect([codes[0], codes.at(-1), new Set(codes).size]).toEqual(['repeated', 'older', 22]);
    for (const limit of [1, 7]) expect(await read(limit)).toEqual(codes);
  });

  it('shows nothing of nodes that are not crawled', async () => {
    const { body } = await ask('/api/crawl/log?node=elsewhere.example.org');
    expect(body).toEqual({ items: [] });
  });

  it('refuses a page that is none', async () => {
    const { status, body } = await ask('/api/crawl/log?limit=0');
    expect([status, body.error.path]).toEqual([400, '$.query.limit']);
  });
});

describe('a console', () => {
  const ready = async ({ config }: TestNetwork) => {
    const response = await fetch(`${config.consoleUrl}/ready`);
    const body = (await response.json()) as { roles: { console: { problem?: string } } };
    return { status: response.status, body };
  };
  const processes = async ({ database }: TestNetwork) => (await readIndexStatus(database)).processes;

  it('beside a discovery service is announced with it as one process that uses the index', async () => {
    expect(await processes(network)).toHaveLength(1);
  });

  it('by itself is announced, too, and not ready once the index is newer than its program', async () => {
    const alone = await startNetwork({ settings: { ROLES: 'registry,console' } });
    try {
      expect(await processes(alone)).toHaveLength(1);
      expect((await ready(alone)).status).toBe(200);
      await alone.database.query('update discovery.generation set version = 99');
      const { body } = await until(async () => {
        const answer = await ready(alone);
        return answer.status === 503 && answer;
      });
      expect(body.roles.console.problem).toMatch(/^The index has entries of version 99; this program knows/);
    } finally {
      await alone.close();
    }
  });
});
