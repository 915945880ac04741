import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Action, actions } from '../src/protocol/actions.ts';
import { CrawlLogAnswer, type CrawlLogEntry } from '../src/protocol/crawl-messages.ts';
import { signRequest } from '../src/protocol/request-signature.ts';
import { validator } from '../src/protocol/validate.ts';
import { hintNode } from '../src/storage/crawl-hints.ts';
import { purgeLog } from '../src/storage/crawl-log.ts';
import type { Actor } from './support/actor.ts';
import { crawl, settled } from './support/crawl.ts';
import { held } from './support/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './support/network.ts';
import { type Provider, startProvider } from './support/provider.ts';

// What a node can ask a discovery service that crawls it: its crawl log, and to be looked at sooner.

let network: TestNetwork;
let provider: Provider;
let stranger: Actor;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
  provider = await startProvider(network, 'provider');
  stranger = await network.actor('stranger');
});
afterAll(async () => {
  await provider?.stop();
  await network?.close();
});

function publish(id: string, name = 'Tea') {
  const catalog = {
    ...{ id, descriptor: { name }, provider: { id: 'p', descriptor: { name: 'P' } } },
    resources: [{ id: 'r1', descriptor: { name } }],
  };
  return provider.publish({ message: { catalogs: [catalog] } });
}

/** Publishes catalogs whose files are no good. */
async function publishSpoiled(...ids: string[]) {
  for (const id of ids) await publish(id);
  provider.spoil((path, { body }) =>
    path.startsWith('/catalogs/') ? { body: Buffer.concat([body, Buffer.from(' ')]) } : undefined,
  );
  await crawl(network.database);
  provider.spoil();
}

const body = Buffer.alloc(0);

async function readLog(
  query: Record<string, string>,
  authorization = signRequest(provider.tree.key, body, { now: new Date() }),
) {
  const response = await fetch(`${network.discoveryUrl}/crawl-log?${new URLSearchParams(query)}`, {
    headers: { authorization },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answered };
}

interface Answered {
  entries: CrawlLogEntry[];
  pagination: { total: number; limit: number; offset: number };
  message: { status: string; error: { code: string; details?: { path: string } } };
}

describe('GET /crawl-log', () => {
  it('tells a node what was not taken of its files, why, and what to do about it', async () => {
    await publishSpoiled('spoiled-1', 'spoiled-2', 'spoiled-3');
    const { status, headers, body: answer } = await readLog({ nodeId: provider.id });
    expect(status).toBe(200);
    expect(headers.get('signature')).toMatch(/^Signature keyId="/);
    expect(validator(CrawlLogAnswer)(answer)).toBe(answer);
    const spoiled = answer.entries.filter(({ code }) => code === 'digest-mismatch');
    expect(new Set(spoiled.map(({ catalogId }) => catalogId))).toEqual(
      new Set(['spoiled-1', 'spoiled-2', 'spoiled-3']),
    );
    expect(spoiled[0]).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      nodeId: provider.identity,
      indexUrl: `${provider.url}/index/catalogs.index.json`,
      catalogId: expect.any(String),
      code: 'digest-mismatch',
      message: expect.stringContaining('does not have the digest'),
      hint: expect.stringContaining('Upload content before the index'),
    });
  });

  it('is paged, the latest first', async () => {
    const all = (await readLog({ nodeId: provider.identity })).body;
    const { entries, pagination } = (await readLog({ nodeId: provider.identity, limit: '1', offset: '1' }))
      .body;
    expect(entries).toEqual(all.entries.slice(1, 2));
    expect(pagination).toEqual({ total: all.pagination.total, limit: 1, offset: 1 });
    const times = all.entries.map(({ at }) => at);
    expect(times).toEqual([...times].sort().reverse());
  });

  it('AUT_UNAUTHORIZED_ACTION: is for the node itself alone', async () => {
    const to = network.discoveryUrl;
    const asked = await stranger.send(actions.crawlLog as Action, undefined, {
      to,
      query: { nodeId: provider.id },
    });
    expect(asked.status).toBe(403);
    expect(asked.body.message.error.code).toBe('AUT_UNAUTHORIZED_ACTION');
    const own = await stranger.send(actions.crawlLog as Action, undefined, {
      to,
      query: { nodeId: stranger.id },
    });
    expect(own.status).toBe(200);
    expect(own.body.entries.every(({ nodeId }: CrawlLogEntry) => nodeId.startsWith(`${stranger.id}/`))).toBe(
      true,
    );
  });

  it.each([
    [{}, 'SCH_REQUIRED_FIELD_MISSING'],
    [{ nodeId: 'x', limit: '101' }, 'SCH_SCHEMA_VALIDATION_FAILED'],
    [{ nodeId: 'x', offset: '-1' }, 'SCH_SCHEMA_VALIDATION_FAILED'],
  ])('refuses %j with %s', async (query, code) => {
    const { status, body: answer } = await readLog(query as Record<string, string>);
    expect([status, answer.message.error.code]).toEqual([400, code]);
  });

  it('AUT_SIGNATURE_INVALID: refuses who does not sign', async () => {
    const { status, body: answer } = await readLog({ nodeId: provider.id }, 'Signature nothing');
    expect([status, answer.message.error.code]).toEqual([401, 'AUT_SIGNATURE_INVALID']);
  });

  it('forgets lines that are older than is kept', async () => {
    await purgeLog(network.database, new Date(Date.now() + 1_000));
    expect((await readLog({ nodeId: provider.id })).body.entries).toEqual([]);
  });

  it('is described in the OpenAPI document of the discovery service, as are the hints', async () => {
    const document = (await (await fetch(`${network.discoveryUrl}/openapi.json`)).json()) as {
      paths: object;
    };
    expect(document.paths).toMatchObject({
      '/crawl-log': { get: { operationId: 'crawlLog', security: [{ Signature: [] }] } },
      '/crawl-hints': { post: { security: [] } },
    });
  });
});

async function hint(sent: unknown) {
  const response = await fetch(`${network.discoveryUrl}/crawl-hints`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: typeof sent === 'string' ? sent : JSON.stringify(sent),
  });
  const { message } = (await response.json()) as Answered;
  return { status: response.status, headers: response.headers, message };
}

describe('POST /crawl-hints', () => {
  it('has a known node looked at sooner, and verified as always', async () => {
    await publish('hinted', 'Green tea');
    expect(await hint({ nodeId: provider.id })).toMatchObject({ status: 200, message: { status: 'ACK' } });
    await settled(network.database);
    expect(await held(network.database, 'hinted')).toMatchObject({
      served: true,
      head: { descriptor: { name: 'Green tea' } },
    });
  });

  it('AUT_RATE_LIMITED: counts once per node and minute', async () => {
    const again = await hint({ nodeId: provider.identity });
    expect(again).toMatchObject({
      status: 429,
      message: { status: 'NACK', error: { code: 'AUT_RATE_LIMITED' } },
    });
    const seconds = Number(again.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(60);
    const later = new Date(Date.now() + 61_000);
    const hints = await Promise.all(
      Array.from({ length: 5 }, () =>
        network.database.transaction((tx) =>
          hintNode(tx, provider.identity, { now: later, spacingMs: 60_000 }),
        ),
      ),
    );
    expect(hints.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
  });

  it.each([
    [{ nodeId: 'nobody.example.org' }, 404, 'CTX_INVALID_FIELD'],
    [{}, 400, 'SCH_REQUIRED_FIELD_MISSING'],
    [{ nodeId: 'a', url: 'b' }, 400, 'SCH_FIELD_NOT_ALLOWED'],
    ['[]', 400, 'SCH_SCHEMA_VALIDATION_FAILED'],
    ['{', 400, 'SCH_INVALID_JSON'],
    [{ nodeId: 'x'.repeat(5_000) }, 413, 'SCH_SCHEMA_VALIDATION_FAILED'],
  ])('refuses %j with %i %s', async (sent, status, code) => {
    expect(await hint(sent)).toMatchObject({ status, message: { status: 'NACK', error: { code } } });
  });
});
