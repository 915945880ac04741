import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { splitIdentity } from '../../src/protocol/identity.ts';
import { setCatalogIndexUrls } from '../../src/storage/registry/participants.ts';
import { catalog, charger, plain } from '../support/catalogs/sample-catalogs.ts';
import { gate } from '../support/gate.ts';
import { openScene, type Scene } from '../support/hosted/crawl-scene.ts';
import { answers, only, replaced } from '../support/hosted/tampering.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { publish } from '../support/network/publish.ts';
import { until } from '../support/time.ts';

// Inspect: the chain of a real publisher and the real crawler, and of a real publish through the catalog service.

let the: TestConsole;
let scene: Scene;

beforeAll(async () => {
  the = await startConsole();
});
afterAll(() => the?.network.close());

const inspect = async (q: string, more = '') =>
  (await the.ask(`/api/inspect?q=${encodeURIComponent(q)}${more}`)).body;
const states = (chain: Body[]) => chain.map(({ link, state }) => `${link} ${state}`);

describe('GET /api/inspect of a node that publishes signed files', () => {
  beforeEach(async () => {
    scene = await openScene(the.network);
    await scene.offer(0, 10);
    const urls = [`${scene.provider.url}/index/catalogs.index.json`];
    await setCatalogIndexUrls(the.network.database, splitIdentity(scene.provider.identity), urls);
    await scene.look();
  });
  afterEach(() => scene.end());

  it('shows every link of a chain that holds, with keys, sizes and times', async () => {
    const found = await inspect(scene.provider.id);
    expect(found).toMatchObject({
      ...{ kind: 'node', node: scene.provider.identity, verdict: 'discoverable', issues: [] },
      catalogs: [{ catalogId: scene.catalogId, source: 'crawl', indexedVersion: 1, liveVersion: 1 }],
    });
    expect(states(found.chain)).toEqual([
      ...['registry ok', 'membership ok', 'manifest ok', 'record ok', 'index ok'],
      ...['entry ok', 'files ok', 'indexed ok'],
    ]);
    for (const name of ['manifest', 'index', 'files']) {
      const link = found.chain.find((each: Body) => each.link === name);
      expect(link).toMatchObject({
        ...{ key: 'key-1', bytes: expect.any(Number), url: expect.stringMatching(/^http/) },
        at: expect.stringMatching(/^20/),
      });
    }
  });

  it.each([
    ['its catalog', () => scene.catalogId, 'catalog'],
    ['its address', () => scene.provider.url, 'node'],
  ])('finds it by %s', async (_, q, kind) => {
    const found = await inspect(q());
    expect(found).toMatchObject({ kind, node: scene.provider.identity, verdict: 'discoverable' });
  });

  it('finds it by a resource, and tells which copy this discovery service has', async () => {
    await scene.publish(70, 75);
    const found = await inspect('r72');
    expect(found).toMatchObject({ kind: 'resource', resourceId: 'r72', catalogId: scene.catalogId });
    expect(found.copies).toEqual([expect.objectContaining({ version: 2, state: 'served' })]);
  });

  it('shows the chain broken at a signed file whose bytes were changed, and what to do about it', async () => {
    scene.provider.spoil(only('change', replaced('Tea 10', 'Tea X')));
    await scene.publish(0, 11);
    const found = await inspect(scene.catalogId);
    expect(states(found.chain)).toEqual(
      expect.arrayContaining(['index ok', 'entry ok', 'files broken', 'indexed ok']),
    );
    const files = found.chain.find(({ link }: Body) => link === 'files');
    expect(files).toMatchObject({
      code: 'digest-mismatch',
      hint: expect.stringMatching(/^Upload content/),
      expected: expect.stringMatching(/^sha256:/),
      got: expect.stringMatching(/^sha256:/),
      catalogId: scene.catalogId,
    });
    expect(files.expected).not.toBe(files.got);
    // The previously read version is still served.
    expect(found).toMatchObject({
      ...{ verdict: 'warnings', because: files.detail },
      nextStep: `Publish ${scene.catalogId} again. ${files.hint}`,
    });
    expect(found.issues).toContainEqual(
      expect.objectContaining({ code: 'digest-mismatch', catalogId: scene.catalogId }),
    );
  });

  it('shows the chain broken at the manifest, and what nobody sees behind it', async () => {
    scene.provider.spoil(only('manifest', answers(404)));
    const { chain, because, nextStep } = await inspect(scene.provider.id);
    expect(states(chain)).toEqual([
      ...['registry ok', 'membership ok', 'manifest broken', 'record unseen', 'index unseen'],
      ...['entry unseen', 'files unseen', 'indexed ok'],
    ]);
    expect([because, nextStep]).toEqual([
      expect.stringContaining('There is no manifest'),
      expect.stringContaining('.well-known/dedi.index.json'),
    ]);
  });

  it('compares what is indexed with what is live', async () => {
    await scene.offer(1, 12);
    const path = `/api/inspect/difference?node=${scene.provider.id}&catalogId=${scene.catalogId}`;
    const { body } = await the.ask(path);
    expect(body).toMatchObject({ indexed: 1, live: 2, truncated: false });
    expect(body.changes.map(({ path: at, kind }: Body) => `${kind} ${at}`)).toEqual([
      "removed $.resources[?@.id=='r0']",
      "added $.resources[?@.id=='r10']",
      "added $.resources[?@.id=='r11']",
    ]);
    const { catalogs, verdict } = await inspect(scene.catalogId);
    expect([verdict, catalogs[0].indexedVersion, catalogs[0].liveVersion]).toEqual(['warnings', 1, 2]);
    await scene.look();
    expect((await the.ask(path)).body).toEqual({ indexed: 2, live: 2, changes: [], truncated: false });
  });

  it('is done two at a time: those that wait too long behind them are told to come again', async () => {
    const held = gate();
    let asked = 0;
    scene.provider.spoil(async () => {
      asked += 1;
      await held.passed;
      return undefined;
    });
    const ask = (path: string) => the.ask(`/api/inspect${path}`);
    const running = [1, 2].map(() => ask(`?q=${scene.provider.id}`));
    await until(() => asked >= 2, 'both to be under way');
    const difference = `/difference?node=${scene.provider.id}&catalogId=${scene.catalogId}`;
    const refused = await Promise.all([ask(`?q=${scene.provider.id}`), ask(difference)]);
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual([
      [503, 'NET_OVERLOADED'],
      [503, 'NET_OVERLOADED'],
    ]);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    held.open();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('gives the issues as CSV', async () => {
    scene.provider.spoil(only('index', answers(410)));
    await scene.look();
    const { status, text } = await the.ask(`/api/inspect/issues.csv?q=${scene.provider.id}`);
    expect(status).toBe(200);
    const [header, ...rows] = text.trim().split('\r\n');
    expect(header).toBe('code,message,hint,path,catalogId,count,lastAt');
    expect(rows.some((row) => row.startsWith('file-missing,'))).toBe(true);
  });
});

describe('GET /api/inspect of what nobody knows', () => {
  it('says that a node is not in the registry', async () => {
    const found = await inspect('nobody.example.org');
    expect(found).toMatchObject({ kind: 'node', verdict: 'not', catalogs: [] });
    expect(found.chain[0]).toMatchObject({ link: 'registry', state: 'broken', code: 'node-unknown' });
  });

  it('says that nothing has this name', async () => {
    expect(await inspect('xyzzy')).toMatchObject({ kind: 'unknown', verdict: 'not', chain: [] });
  });

  it('says that there is no node at an address', async () => {
    const found = await inspect(the.network.config.registryUrl);
    expect(found).toMatchObject({ kind: 'node', verdict: 'not' });
    expect(found.chain).toContainEqual(
      expect.objectContaining({ link: 'manifest', code: 'manifest-missing' }),
    );
  });
});

describe('GET /api/inspect of an address in a network without private addresses', () => {
  it('does not ask addresses that only this machine or its neighbours get to', async () => {
    const { network, ask } = await startConsole({
      ALLOW_PRIVATE_ADDRESSES: 'false',
      DISCOVERY_NETWORKS: '[]',
    });
    try {
      for (const address of [network.config.registryUrl, 'http://169.254.169.254', 'https://10.0.0.5:9200']) {
        const { body } = await ask(`/api/inspect?q=${encodeURIComponent(address)}`);
        expect(body.chain).toContainEqual(
          expect.objectContaining({ link: 'manifest', state: 'broken', code: 'address-refused' }),
        );
      }
    } finally {
      await network.close();
    }
  });
});

describe('GET /api/inspect of what was published through the catalog service', () => {
  let provider: Actor;
  beforeAll(async () => {
    provider = await the.network.actor('grocer');
  });

  it('shows registry, membership, publish, store, push and index', async () => {
    await publish(provider, catalog('greens', { resources: [plain('leek')] }));
    const found = await until(async () => {
      const body = await inspect('leek');
      return body.verdict === 'discoverable' && body;
    });
    expect(found).toMatchObject({ kind: 'resource', catalogId: 'greens' });
    expect(states(found.chain)).toEqual([
      ...['registry ok', 'membership ok', 'publish ok', 'stored ok', 'push ok', 'indexed ok'],
    ]);
    expect(found.catalogs).toEqual([
      expect.objectContaining({ source: 'service', verdict: 'discoverable', liveVersion: 1 }),
    ]);
    expect(found.copies).toEqual([
      expect.objectContaining({ version: 1, state: 'acknowledged', acknowledgedAt: expect.any(String) }),
    ]);
    const path = `/api/inspect/difference?node=${provider.id}&catalogId=greens`;
    expect((await the.ask(path)).body).toMatchObject({ indexed: 1, live: 1, changes: [] });
  });

  it('shows which errors a publish had, with their paths', async () => {
    const bad = charger('wrong', { connectorType: 'Nonsense' });
    await publish(provider, catalog('half', { resources: [charger('good'), bad] }));
    const found = await inspect('half');
    const link = found.chain.find((each: Body) => each.link === 'publish');
    expect(link).toMatchObject({ state: 'warning', code: expect.stringMatching(/^SCH_/) });
    expect(found.issues).toContainEqual(
      expect.objectContaining({ catalogId: 'half', path: expect.stringContaining('resources[1]') }),
    );
  });

  it('does not compare a catalog that is very large', async () => {
    await publish(provider, catalog('large', { resources: [plain('first')] }));
    await until(async () => (await inspect('large')).kind === 'catalog');
    await the.network.database.query(
      `insert into catalog.resource (catalog_key, id, own, changed_version)
       select key, 'more-' || n, '{}', 1 from catalog.catalog cross join generate_series(1, 20000) as n where id = 'large'`,
    );
    const path = `/api/inspect/difference?node=${provider.id}&catalogId=large`;
    const { status, body } = await the.ask(path);
    expect([status, body.error.message, body.error.hint]).toEqual([
      413,
      expect.stringContaining('more than 20000 resources'),
      expect.any(String),
    ]);
  });
});
