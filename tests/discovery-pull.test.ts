import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sha256Digest } from '../src/protocol/digest.ts';
import { feedsChannel } from '../src/storage/discovery-feeds.ts';
import type { Actor, Body, Received } from './support/actor.ts';
import { held, names, startDiscovery, type TestDiscovery, withoutDiscovery } from './support/discovery.ts';
import { startNetwork, type TestNetwork } from './support/network.ts';
import { type PlayedService, playService } from './support/played-service.ts';
import { until } from './support/receiver.ts';
import { catalog, plain } from './support/sample-catalogs.ts';
import { newId } from './support/small-catalogs.ts';

// Pulls from a catalog service that is played by the test, and answers well or badly (catalog spec: POST /catalog/pull, POST /catalog/on_pull).

const retail = 'a.example/retail';

let network: TestNetwork;
let service: PlayedService;
let stranger: Actor;
let discovery: TestDiscovery;
let files: FileServer;

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
  service = await playService(network, 'service', () => discovery.url);
  stranger = await network.actor('stranger');
  files = await startFileServer();
  discovery = await startDiscovery(network, [{ catalogUrl: service.actor.url, networkIds: [retail] }]);
  await discovery.settled();
});
afterAll(async () => {
  await discovery?.stop();
  await files?.close();
  await network?.close();
});
afterEach(async () => {
  service.onPull = undefined;
  service.reply = undefined;
  await discovery.settled();
});

const completed = (catalogs: Body[], pagination?: object) => ({ status: 'COMPLETED', catalogs, pagination });

/** The next pulls are answered by this, one after the other; those after them well. */
function answerWith(...answers: ((pull: Received) => Promise<unknown>)[]): void {
  service.onPull = async (pull) => {
    const next = answers.shift();
    if (answers.length === 0) service.onPull = undefined;
    await next?.(pull);
  };
}

describe('pulling', () => {
  it('asks for everything of its subscription, page by page', async () => {
    service.catalogs = Array.from({ length: 250 }, (_, index) => catalog(`many-${index}`));
    const before = service.pulls.length;
    await discovery.pull();
    const messages = service.pulls.slice(before).map(({ body }) => body.message);
    expect(messages.map(({ offset }) => offset)).toEqual([0, 100, 200]);
    expect(messages[0]).toEqual({ subscriptionId: expect.any(String), mode: 'FULL', limit: 100, offset: 0 });
    const { rows } = await network.database.query(
      "select count(*) from discovery.catalog where id like 'many-%'",
    );
    expect(rows).toEqual([{ count: 250 }]);
  });

  it('follows the page length of a service that gives fewer than it was asked for', async () => {
    service.catalogs = Array.from({ length: 5 }, (_, index) => catalog(`few-${index}`));
    service.onPull = async (pull) => {
      const { offset } = pull.body.message;
      await service.answer(
        pull,
        completed(service.catalogs.slice(offset, offset + 2), { total: 5, limit: 2, offset }),
      );
    };
    await discovery.pull();
    const { rows } = await network.database.query(
      "select count(*) from discovery.catalog where id like 'few-%'",
    );
    expect(rows).toEqual([{ count: 5 }]);
  });

  it('holds what a search says to be a master as a MASTER', async () => {
    const id = newId();
    service.catalogs = [catalog(id)];
    service.masters = [catalog(id)];
    await discovery.pull();
    expect(await held(network.database, id)).toMatchObject({ type: 'MASTER' });
    service.masters = [];
  });

  it('FAILED, whatever its code: applies nothing and pulls again with patience', async () => {
    const id = newId();
    service.catalogs = [catalog(id)];
    const failed = (code: string) => (pull: Received) =>
      service.answer(pull, { status: 'FAILED', error: { code, message: 'not now' } });
    answerWith(failed('NET_CATALOG_SOURCE_UNAVAILABLE'), failed('NET_CATALOG_STALE'), failed('X_UNKNOWN'));
    const before = service.pulls.length;
    await discovery.pull();
    const times = service.pulls.slice(before).map(({ at }) => at);
    expect(times).toHaveLength(4);
    // 50 ms, doubled each time, of which at least half.
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(25 + 50 + 100);
    expect(await held(network.database, id)).toBeDefined();
    const { rows } = await network.database.query('select failures, last_error from discovery.feed');
    expect(rows).toEqual([{ failures: 0, last_error: null }]);
  });

  it('does not apply a catalog of which a push came after the pull was sent', async () => {
    const id = newId();
    const named = (name: string) => catalog(id, { resources: [plain('a', name)] });
    await service.push([named('first')], { visibleTo: [retail] });
    answerWith(async (pull) => {
      await service.push([named('pushed')], { visibleTo: [retail] });
      await service.answer(pull, completed([named('pulled')], { total: 1, limit: 100, offset: 0 }));
    });
    service.catalogs = [named('pulled')];
    await discovery.pull();
    expect(await names(network.database, id)).toEqual(['pushed']);
    await discovery.pull();
    expect(await names(network.database, id)).toEqual(['pulled']);
  });

  it('subscribes again when the service does not know the subscription any more', async () => {
    const id = newId();
    service.catalogs = [catalog(id)];
    let refused = 0;
    service.reply = ({ action }) => {
      if (action !== 'catalog/pull' || refused > 0) return undefined;
      refused += 1;
      return {
        status: 404,
        body: { message: { status: 'NACK', error: { code: 'CTX_INVALID_FIELD', message: 'unknown' } } },
      };
    };
    const subscriptionId = async () =>
      (await network.database.query('select subscription_id from discovery.feed')).rows[0]?.subscription_id;
    const before = await subscriptionId();
    await discovery.pull();
    expect(await subscriptionId()).not.toBe(before);
    expect(await held(network.database, id)).toBeDefined();
  });

  it('takes the on_pull of a pull that was sent before a restart', async () => {
    const id = newId();
    const sent = new Promise<Received>((resolve) => {
      service.onPull = async (pull) => resolve(pull);
    });
    await network.database.transaction(async (tx) => {
      await tx.query('update discovery.feed set pull_at = now(), due_at = now()');
      tx.hint(feedsChannel);
    });
    const pull = await sent;
    service.onPull = undefined;
    await discovery.stop();
    await discovery.start();
    const { status } = await service.answer(
      pull,
      completed([catalog(id)], { total: 1, limit: 100, offset: 0 }),
    );
    expect(status).toBe(200);
    await until(async () => (await held(network.database, id)) !== undefined, 'the catalog');
  });
});

describe('a subscription to every network', () => {
  it('brings catalogs whose networks are not known until a push names them', async () => {
    const every = await playService(network, 'every', () => discovery.url);
    const id = newId();
    every.catalogs = [catalog(id)];
    await discovery.stop();
    await discovery.start([
      { catalogUrl: service.actor.url, networkIds: [retail] },
      { catalogUrl: every.actor.url },
    ]);
    await discovery.settled();
    expect(await held(network.database, id)).toMatchObject({ networks: [] });
    await every.push([catalog(id)], { visibleTo: ['x.example/y'] });
    expect(await held(network.database, id)).toMatchObject({ networks: ['x.example/y'] });
    await discovery.pull();
    expect(await held(network.database, id)).toMatchObject({ networks: ['x.example/y'] });
    every.catalogs = [];
    await discovery.pull();
    await discovery.pull();
    expect(await held(network.database, id)).toBeUndefined();
    await discovery.stop();
    await discovery.start();
  });
});

describe('POST /catalog/on_pull', () => {
  /** A pull that the discovery service is waiting on, and what must not be applied by it. */
  async function whilePulling(
    test: (pull: Received, body: object, id: string) => Promise<void>,
  ): Promise<void> {
    const id = newId();
    service.catalogs = [];
    let failure: unknown;
    answerWith(async (pull) => {
      await test(pull, completed([catalog(id)], { total: 1, limit: 100, offset: 0 }), id).catch((error) => {
        failure = error;
      });
      await service.answer(pull, completed([], { total: 0, limit: 100, offset: 0 }));
    });
    await discovery.pull();
    if (failure) throw failure;
    expect(await held(network.database, id)).toBeUndefined();
  }

  it('400 CTX_INVALID_FIELD: answers no request of ours', () =>
    whilePulling(async (pull, body) => {
      const context = { messageId: randomUUID() };
      const unknown = await service.answer(pull, body, { context, unchained: true });
      expect([unknown.status, unknown.body.message.error]).toMatchObject([
        400,
        { code: 'CTX_INVALID_FIELD', details: { path: '$.context.messageId' } },
      ]);
      // Named by a chain, a request that nobody knows cannot be verified at all.
      expect((await service.answer(pull, body, { context })).status).toBe(401);
    }));

  it('401: the chain names another request', () =>
    whilePulling(async (pull, body) => {
      const { status } = await service.answer(pull, body, { answering: service.pulls[0]?.signature });
      expect(status).toBe(401);
    }));

  it('400 CTX_INVALID_FIELD: the digest is that of another request', () =>
    whilePulling(async (pull, body) => {
      const digest = `BLAKE-512=${Buffer.alloc(64).toString('base64')}`;
      const wrong = await service.answer(pull, body, { digest });
      expect([wrong.status, wrong.body.message.error.details.path]).toEqual([
        400,
        '$.context.requestDigest.digest',
      ]);
    }));

  it('400 CTX_MISSING_FIELD: neither a chain nor a digest binds it to the request', () =>
    whilePulling(async (pull, body) => {
      const unbound = await service.answer(pull, body, { digest: null, unchained: true });
      expect([unbound.status, unbound.body.message.error.code]).toEqual([400, 'CTX_MISSING_FIELD']);
    }));

  it('403: comes from somebody who was not asked', () =>
    whilePulling(async (pull, body) => {
      const { status, body: answer } = await service.answer(pull, body, { as: stranger });
      expect([status, answer.message.error.code]).toEqual([403, 'AUT_UNAUTHORIZED_ACTION']);
    }));

  it('400: has both or neither of catalogs and downloadManifest, or a FAILED with results or without error', () =>
    whilePulling(async (pull, body) => {
      const manifest = {
        url: 'https://files.example/x',
        expiresAt: new Date(Date.now() + 60_000).toISOString(),
        format: 'json.gz',
        sizeBytes: 1,
        checksum: `sha256:${'0'.repeat(64)}`,
      };
      const codes = await Promise.all(
        [
          { ...body, downloadManifest: manifest },
          { status: 'COMPLETED' },
          { ...body, status: 'FAILED', error: { code: 'X', message: 'x' } },
          { status: 'FAILED' },
          { status: 'DONE' },
        ].map(async (message) => {
          const answer = await service.answer(pull, message);
          return [answer.status, answer.body.message.error.code];
        }),
      );
      expect(codes).toEqual([
        [400, 'SCH_SCHEMA_VALIDATION_FAILED'],
        [400, 'SCH_REQUIRED_FIELD_MISSING'],
        [400, 'SCH_SCHEMA_VALIDATION_FAILED'],
        [400, 'SCH_REQUIRED_FIELD_MISSING'],
        [400, 'SCH_INVALID_ENUM'],
      ]);
    }));

  it('200: the same one again does nothing again, and one that comes too late is acknowledged and not applied', async () => {
    const id = newId();
    let late: Received | undefined;
    answerWith(async (pull) => {
      late = pull;
      const body = completed([], { total: 0, limit: 100, offset: 0 });
      const context = { timestamp: new Date().toISOString() };
      const answers = await Promise.all([1, 2, 3].map(() => service.answer(pull, body, { context })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    });
    await discovery.pull();
    if (!late) throw new Error('nothing was pulled');
    const { status } = await service.answer(late, completed([catalog(id)]));
    expect(status).toBe(200);
    await delay(200);
    expect(await held(network.database, id)).toBeUndefined();
  });

  it('200: unchained, as deployed services send it, with the digest of the request', async () => {
    const id = newId();
    answerWith((pull) =>
      service.answer(pull, completed([catalog(id)], { total: 1, limit: 100, offset: 0 }), {
        unchained: true,
      }),
    );
    await discovery.pull();
    expect(await held(network.database, id)).toBeDefined();
  });
});

describe('a download', () => {
  const gzipped = (catalogs: Body[], text = JSON.stringify({ catalogs })) => gzipSync(text);

  function offer(bytes: Buffer, manifest: object = {}) {
    return (pull: Received) =>
      service.answer(pull, {
        status: 'COMPLETED',
        downloadManifest: {
          url: files.url(bytes),
          expiresAt: new Date(Date.now() + 60_000).toISOString(),
          format: 'json.gz',
          sizeBytes: bytes.length,
          checksum: sha256Digest(bytes),
          ...manifest,
        },
        pagination: { total: 1, limit: 100, offset: 0 },
      });
  }

  it('is fetched, verified, decompressed and applied, wherever in a catalog its id stands', async () => {
    const { id, descriptor, provider } = catalog(newId());
    answerWith(offer(gzipped([{ resources: [plain('a')], offers: [], descriptor, provider, id }])));
    await discovery.pull();
    expect(await names(network.database, id)).toEqual(['Resource a']);
  });

  it('that does not have the checksum of its manifest is not processed, and the pull is issued again', async () => {
    const [wrong, right] = [newId(), newId()];
    service.catalogs = [catalog(right)];
    answerWith(offer(gzipped([catalog(wrong)]), { checksum: `sha256:${'0'.repeat(64)}` }));
    await discovery.pull();
    expect(await held(network.database, wrong)).toBeUndefined();
    expect(await held(network.database, right)).toBeDefined();
  });

  it('that has expired is not fetched, and the pull is issued again', async () => {
    const [expired, right] = [newId(), newId()];
    service.catalogs = [catalog(right)];
    const bytes = gzipped([catalog(expired)]);
    answerWith(offer(bytes, { expiresAt: new Date(Date.now() - 1_000).toISOString() }));
    await discovery.pull();
    expect(files.served(bytes)).toBe(0);
    expect(await held(network.database, expired)).toBeUndefined();
    expect(await held(network.database, right)).toBeDefined();
  });

  it.each([
    ['is not gzip', Buffer.from('{"catalogs":[]}')],
    ['is not JSON inside', gzipSync('{"catalogs":[{"id":"broken"')],
    ['holds no catalogs', gzipSync('{}')],
  ])('that %s applies nothing, and the pull is issued again', async (_, bytes) => {
    const right = newId();
    service.catalogs = [catalog(right)];
    answerWith(offer(bytes));
    await discovery.pull();
    expect(await held(network.database, 'broken')).toBeUndefined();
    expect(await held(network.database, right)).toBeDefined();
  });

  it('passes over a catalog that is not valid, without taking it for gone, and applies the others', async () => {
    const [bad, good] = [catalog(newId()), catalog(newId())];
    await service.push([bad], { visibleTo: [retail] });
    for (let pull = 0; pull < 3; pull += 1) {
      answerWith(offer(gzipped([{ ...bad, provider: {} }, good])));
      await discovery.pull();
    }
    expect(await held(network.database, bad.id)).toMatchObject({ head: { provider: bad.provider } });
    expect(await held(network.database, good.id)).toBeDefined();
  });

  it('with a catalog of any size is applied part by part, and what the catalog has no more goes', async () => {
    const id = newId();
    const { database } = network;
    const resources = (from: number, to: number, name = '') =>
      Array.from({ length: to - from }, (_, index) => plain(`r${from + index}`, name || undefined));
    answerWith(
      offer(gzipped([catalog(id, { resources: resources(0, 2_500), validity: { endDate: '2999-01-01' } })])),
    );
    await discovery.pull();
    expect((await held(database, id)).resources).toHaveLength(2_500);
    answerWith(
      offer(
        gzipped([
          catalog(id, { resources: [...resources(600, 2_499), plain('r2499', 'new'), plain('more')] }),
        ]),
      ),
    );
    await discovery.pull();
    const copy = await held(database, id);
    expect(copy.resources).toHaveLength(1_901);
    expect(copy.head).not.toHaveProperty('validity');
    expect(copy.resources.find((one: Body) => one.id === 'r2499').descriptor.name).toBe('new');
    const { rowCount } = await database.query('select from discovery.pulled_item');
    expect(rowCount).toBe(0);
  });
});

interface FileServer {
  url(bytes: Buffer): string;
  /** How often it was fetched. */
  served(bytes: Buffer): number;
  close(): Promise<void>;
}

async function startFileServer(): Promise<FileServer> {
  const contents = new Map<string, Buffer>();
  const counts = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    response.end(contents.get(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pathOf = (bytes: Buffer) => `/${sha256Digest(bytes).slice(7, 31)}`;
  return {
    url(bytes) {
      contents.set(pathOf(bytes), bytes);
      return `http://127.0.0.1:${port}${pathOf(bytes)}`;
    },
    served: (bytes) => counts.get(pathOf(bytes)) ?? 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
