import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerCrawlCommand } from '../../src/cli/crawl.ts';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { CrawlLogAnswer, type CrawlLogEntry } from '../../src/protocol/crawl-messages.ts';
import { signRequest } from '../../src/protocol/request-signature.ts';
import { validator } from '../../src/protocol/validate.ts';
import { hintNode, mayLookUp } from '../../src/storage/crawl/hints.ts';
import { deleteOld } from '../../src/storage/work/retention.ts';
import { crawl, settled } from '../support/hosted/crawl.ts';
import type { Actor } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { send } from '../support/network/signed-service.ts';
import { runCommand } from '../support/processes/command.ts';
import { until } from '../support/time.ts';

// Requests of a node to a discovery service that crawls it: for its crawl log, and for an early crawl. Longer than our other tests: all of them
// concern one crawled provider.

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

/** Publishes catalogs with broken files. */
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
    await deleteOld(network.database, 'crawlLog', new Date(Date.now() + 1_000));
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
    await network.database.query(
      "update discovery.crawl_node set hinted_at = hinted_at - interval '61 seconds' where node = $1",
      [provider.identity],
    );
    const hints = await Promise.all(
      Array.from({ length: 5 }, () =>
        network.database.transaction((tx) => hintNode(tx, provider.identity, 60_000)),
      ),
    );
    expect(hints.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
  });

  /** Registered, but after the last enumeration. */
  async function startStranger(name: string, networks = [defaultNetwork]) {
    const node = await startProvider(network, name, { networks });
    strangers.push(node);
    const catalog = {
      ...{ id: `of-${name}`, provider: { id: 'p', descriptor: { name: 'P' } } },
      ...{ descriptor: { name: 'Tea' }, resources: [{ id: 'r1', descriptor: { name: 'Tea' } }] },
    };
    await node.publish({ message: { catalogs: [catalog] } });
    return node;
  }
  const strangers: Provider[] = [];
  afterAll(() => Promise.all(strangers.map((node) => node.stop())));
  const isKnown = async ({ identity }: Provider) => {
    const { rowCount } = await network.database.query('select from discovery.crawl_node where node = $1', [
      identity,
    ]);
    return rowCount > 0;
  };

  it('looks up a node that is not known yet, and has it crawled where it belongs to a network that is', async () => {
    await settled(network.database);
    const newcomer = await startStranger('newcomer');
    expect(await isKnown(newcomer)).toBe(false);
    expect(await hint({ nodeId: newcomer.id })).toMatchObject({ status: 200, message: { status: 'ACK' } });
    await until(async () => (await held(network.database, 'of-newcomer')) !== undefined, 'its catalog');
    expect((await hint({ nodeId: newcomer.id })).status).toBe(429);
  });

  it('CTX_INVALID_FIELD: does not crawl a node of other networks', async () => {
    const foreigner = await startStranger('foreigner', ['elsewhere.org/retail']);
    expect(await hint({ nodeId: foreigner.id })).toMatchObject({ status: 404 });
    expect(await isKnown(foreigner)).toBe(false);
  });

  it('CTX_INVALID_FIELD: looks up ten unknown names a minute, and no more', async () => {
    const { database } = network;
    const late = await startStranger('late');
    await database.query('delete from discovery.crawl_stranger');
    for (let number = 0; number < 10; number += 1) {
      expect((await hint({ nodeId: `made-up-${number}.example.org` })).status).toBe(404);
    }
    expect((await hint({ nodeId: late.id })).status).toBe(404);
    expect(await isKnown(late)).toBe(false);
    await database.query("update discovery.crawl_stranger set asked_at = asked_at - interval '1 minute'");
    expect((await hint({ nodeId: late.id })).status).toBe(200);
    expect(await isKnown(late)).toBe(true);
  });

  it('lets no unknown name wait for another where none may be looked up any more', async () => {
    const { database } = network;
    const limits = { windowMs: 60_000, maxNames: 10 };
    const names = Array.from({ length: 10 }, (_, number) => `made-up-${number}.example.org`);
    await database.query('delete from discovery.crawl_stranger');
    for (const name of names) await database.transaction((tx) => mayLookUp(tx, name, limits));
    await database.transaction(async (other) => {
      await other.query('lock table discovery.crawl_stranger in share row exclusive mode');
      const further = database.transaction(async (tx) => {
        await tx.query("set local lock_timeout = '1s'");
        return mayLookUp(tx, 'further.example.org', limits);
      });
      expect(await further).toBe(false);
    });
  });

  it('AUT_RATE_LIMITED: a flood from one source is turned away, and others are not', async () => {
    const flood = Array.from({ length: 500 }, (_, number) =>
      send(`${network.discoveryUrl}/crawl-hints`, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ nodeId: `flood-${number}.example.org` }),
        localAddress: '127.0.0.66',
      }).then(
        ({ status, json, headers }) => ({
          status,
          code: json.message?.error?.code,
          after: headers['retry-after'],
        }),
        () => undefined, // more connections than its share
      ),
    );
    const refused = (await Promise.all(flood)).filter((answer) => answer?.status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ code: 'AUT_RATE_LIMITED', after: expect.any(String) });
    expect((await hint({ nodeId: 'nobody.example.org' })).status).toBe(404);
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

describe('signpost crawl now', () => {
  const now = (node: string) =>
    runCommand(registerCrawlCommand, ['crawl', 'now', node], {
      ...{ DATABASE_URL: network.databaseUrl, LOG_LEVEL: 'silent' },
    });

  it('has a node crawled, whatever its schedule says, and shows what came of it', async () => {
    await settled(network.database);
    await publish('wanted', 'Black tea');
    const { out, exitCode } = await now(provider.id);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^wanted +REGULAR +served /m);
    expect(await held(network.database, 'wanted')).toMatchObject({ served: true });
  });

  it('asks the networks first where the node is not known yet', async () => {
    const joined = await startProvider(network, 'joined');
    try {
      await joined.publish({
        message: {
          catalogs: [
            {
              id: 'of-joined',
              provider: { id: 'p', descriptor: { name: 'P' } },
              descriptor: { name: 'Tea' },
              resources: [{ id: 'r1' }],
            },
          ],
        },
      });
      expect((await now(joined.id)).out).toMatch(/^of-joined +REGULAR +served /m);
    } finally {
      await joined.stop();
    }
  });

  it('tells what was not taken', async () => {
    await publish('unreadable');
    provider.spoil((path, { body }) =>
      path.includes('unreadable') ? { body: Buffer.concat([body, Buffer.from(' ')]) } : undefined,
    );
    const { out } = await now(provider.id);
    provider.spoil();
    expect(out).toMatch(/^unreadable +REGULAR +failing /m);
    expect(out).toMatch(/^20\S+Z {2}digest-mismatch {2}\S+ {2}unreadable/m);
  });

  it('sends to the doctor whoever asks for a node that no network has', async () => {
    const { exitCode, notes } = await now('nobody.example.org');
    expect(exitCode).toBe(1);
    expect(notes).toContain('See why: signpost doctor nobody.example.org');
  });
});
