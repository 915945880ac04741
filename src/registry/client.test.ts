import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { patienceMs } from '../../tests/support/patience.ts';
import { takeTime } from '../../tests/support/time.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { createRegistryClient, type RegistryClient, RegistryUnavailable } from './client.ts';

// A registry that answers what a test tells it to, over real HTTP; how real ones answer is told apart by their shapes. Longer than our
// other tests: a case for each answer that a registry may give.
type Answer = { status: number; body?: unknown; delayMs?: number };

const publicKey = publicKeyOf(privateKeyFromSeed(generateSeed()));
const lookupPath = '/dedi/lookup/bpp.example.com/subscribers.beckn.one/key-1';
const queryPath = '/dedi/query/bpp.example.com/subscribers.beckn.one';

describe('the registry client', () => {
  let server: Server;
  let http: GuardedClient;
  let registry: RegistryClient;
  let clock: Date;
  let answers: Map<string, Answer>;
  let asked: string[];
  /** Keeps the answer back, where it says so. */
  let hold: (path: string, answer: () => void) => boolean;

  beforeEach(async () => {
    clock = new Date('2026-01-01T00:00:00Z');
    answers = new Map();
    asked = [];
    hold = () => false;
    server = createServer((request, response) => {
      const path = request.url ?? '';
      asked.push(path);
      const answerNow = () => void response.writeHead(404).end();
      if (hold(path, answerNow)) return;
      const {
        status,
        body,
        delayMs = 0,
      } = answers.get(path) ?? { status: 404, body: { message: 'not found' } };
      void takeTime(delayMs).then(() => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    http = createGuardedClient({ allowPrivateAddresses: false });
    registry = createRegistryClient({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/dedi/`,
      registryName: 'subscribers.beckn.one',
      client: http,
      logger: silentLogger(),
      metrics: createMetrics({ process: false }),
      now: () => clock,
    });
  });
  afterEach(async () => {
    await http.close();
    await new Promise((resolve) => server.close(resolve));
  });

  const findKey = () => registry.findKey('bpp.example.com', 'key-1');
  const wait = (seconds: number) => {
    clock = new Date(clock.getTime() + seconds * 1_000);
  };
  const holds = (overrides: object = {}, details: object = {}) =>
    answers.set(lookupPath, { status: 200, body: { message: 'ok', data: record(overrides, details) } });

  it('finds the key of a participant, with its record', async () => {
    holds({ network_memberships: ['example.org/retail'] });
    expect(await findKey()).toMatchObject({
      kind: 'key',
      publicKey: expect.objectContaining({ asymmetricKeyType: 'ed25519' }),
      record: {
        recordId: 'key-1',
        subscriberId: 'bpp.example.com',
        url: 'https://bpp.example.com',
        networkMemberships: ['example.org/retail'],
      },
    });
    expect(asked).toEqual([lookupPath]);
  });

  it('asks for a participant of a named registry under that registry, with encoded segments', async () => {
    await registry.lookup('did:example:1/other-registry', 'key~1');
    expect(asked).toEqual([
      '/dedi/lookup/did%3Aexample%3A1/other-registry/key~1',
      '/dedi/query/did%3Aexample%3A1/other-registry',
    ]);
  });

  it('asks nothing under names that would change the path', async () => {
    expect(await registry.lookup('bpp.example.com', '..')).toBeUndefined();
    expect(await registry.lookup('../secrets', 'key-1')).toBeUndefined();
    expect(await registry.lookup('a/b/c', 'key-1')).toBeUndefined();
    expect(await registry.queryNetwork('example.org/..')).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('reads a record with nothing but what is needed', async () => {
    answers.set(lookupPath, {
      status: 200,
      body: {
        data: {
          record_name: 'x',
          state: 'live',
          details: { subscriber_id: 'b', signing_public_key: publicKey },
        },
      },
    });
    expect(await findKey()).toMatchObject({
      kind: 'key',
      record: { recordId: 'key-1', networkMemberships: [] },
    });
  });

  it('reads the flat record of the specification, under its own name only', async () => {
    const flat = { subscriber_id: 'bpp.example.com', type: 'BPP', url: 'https://bpp.example.com', meta: {} };
    const data = { ...flat, signing_public_key: publicKey };
    answers.set(lookupPath, { status: 200, body: { data } });
    answers.set(queryPath, {
      status: 200,
      body: { data: { records: [data, { ...data, subscriber_id: 'x.org' }] } },
    });
    expect(await findKey()).toMatchObject({ kind: 'key', record: { recordId: 'key-1', url: flat.url } });
    expect(await registry.findSubscriber('bpp.example.com')).toMatchObject([
      { subscriberId: 'bpp.example.com' },
    ]);
    wait(301);
    answers.set(lookupPath, { status: 200, body: { data: { ...data, subscriber_id: 'x.org' } } });
    expect(await findKey()).toEqual({ kind: 'unknown-key' });
  });

  it('tells an unknown key of a known participant from an unknown participant', async () => {
    expect(await findKey()).toEqual({ kind: 'unknown-subscriber' });
    wait(30);
    answers.set(queryPath, { status: 200, body: { data: { records: [record({ record_id: 'key-2' })] } } });
    expect(await findKey()).toEqual({ kind: 'unknown-key' });
    wait(30);
    answers.set(queryPath, { status: 200, body: { data: { records: [] } } });
    expect(await findKey()).toEqual({ kind: 'unknown-subscriber' });
  });

  it('leaves it at an unknown key where the registry allows no queries', async () => {
    answers.set(queryPath, { status: 403, body: {} });
    expect(await findKey()).toEqual({ kind: 'unknown-key' });
  });

  it.each(['draft', 'suspended', 'revoked', 'expired', 'something else'])(
    'does not use a key in state %s',
    async (state) => {
      holds({ state });
      expect(await findKey()).toMatchObject({ kind: 'unusable', reason: expect.stringContaining('state') });
    },
  );

  it('does not use a key that cannot be read, and says so', async () => {
    holds({}, { signing_public_key: 'not a key' });
    expect(await findKey()).toEqual({
      kind: 'unknown-key',
      reason:
        'the registry has no usable Ed25519 key for it: the registered key is not an Ed25519 public key',
    });
  });

  it('does not use a key of small order, for which anybody can sign, and says so', async () => {
    holds({}, { signing_public_key: Buffer.from([1, ...Buffer.alloc(31)]).toString('base64') });
    expect(await findKey()).toEqual({
      kind: 'unknown-key',
      reason: expect.stringContaining(
        'no usable Ed25519 key for it: the registered key is a point of small order',
      ),
    });
  });

  it('judges validity by the clock of each use, also of a kept record', async () => {
    holds({ ttl: 300 }, { valid_from: '2026-01-01T00:01:00Z', valid_until: '2026-01-01T00:02:00Z' });
    expect(await findKey()).toMatchObject({ kind: 'unusable', reason: expect.stringContaining('before') });
    wait(60);
    expect(await findKey()).toMatchObject({ kind: 'key' });
    wait(61);
    expect(await findKey()).toMatchObject({ kind: 'unusable', reason: expect.stringContaining('after') });
    expect(asked).toHaveLength(1);
  });

  it('sees a revocation within the ttl of the record', async () => {
    holds({ ttl: 60 });
    await findKey();
    holds({ state: 'revoked' });
    wait(59);
    expect(await findKey()).toMatchObject({ kind: 'key' });
    wait(1);
    expect(await findKey()).toMatchObject({ kind: 'unusable' });
  });

  it('keeps a record for 5 minutes at most, whatever its ttl', async () => {
    for (const ttl of [86_400, undefined]) {
      holds({ ttl });
      await findKey();
      wait(299);
      await findKey();
      wait(1);
      await findKey();
      wait(300);
    }
    expect(asked).toHaveLength(4);
  });

  it('keeps a not-found for 30 seconds', async () => {
    await findKey();
    holds();
    wait(29);
    expect(await findKey()).toEqual({ kind: 'unknown-subscriber' });
    wait(1);
    expect(await findKey()).toMatchObject({ kind: 'key' });
  });

  it('asks once for many who wait for the same key', async () => {
    holds();
    const lookups = await Promise.all(Array.from({ length: 200 }, findKey));
    expect(new Set(lookups.map(({ kind }) => kind))).toEqual(new Set(['key']));
    expect(asked).toHaveLength(1);
  });

  it('asks a bounded number of things at once', async () => {
    const [all, atOnce] = [100, 16];
    for (let index = 0; index < all; index += 1) {
      answers.set(lookupPath.replace('key-1', `key-${index}`), {
        status: 200,
        body: { data: record() },
        delayMs: 20,
      });
    }
    const lookups = Array.from({ length: all }, (_, index) =>
      registry.findKey('bpp.example.com', `key-${index}`),
    );
    await lookups[0];
    expect(asked.length).toBeLessThanOrEqual(2 * atOnce);
    await Promise.all(lookups);
    expect(asked).toHaveLength(all);
  });

  describe('while the registry is slow and somebody makes up keyIds', () => {
    const attacker = { source: '192.0.2.66' };
    const honest = { source: '192.0.2.1' };
    const madeUp = 300;
    let unanswered: (() => void)[];

    beforeEach(() => {
      unanswered = [];
    });
    afterEach(() => {
      for (const answer of unanswered.splice(0)) answer();
    });
    /** Nothing that is made up is answered before the test ends. */
    const stallMadeUp = () => {
      hold = (path, answer) => {
        if (!path.includes('made-up')) return false;
        unanswered.push(answer);
        return true;
      };
    };
    const flood = (name: (index: number) => [string, string]) =>
      Array.from({ length: madeUp }, (_, index) =>
        registry.findKey(...name(index), attacker).catch(() => undefined),
      );

    it.each<[string, (index: number) => [string, string]]>([
      ['of nobody', (index: number) => [`made-up-${index}.example`, 'key-1']],
      ['of a known participant', (index: number) => ['bpp.example.com', `made-up-${index}`]],
    ])('%s, others find theirs, known before or not', async (_whose, name) => {
      holds({ ttl: 60 });
      answers.set(lookupPath.replace('key-1', 'key-2'), { status: 200, body: { data: record() } });
      expect(await registry.findKey('bpp.example.com', 'key-1', honest)).toMatchObject({ kind: 'key' });
      wait(60);
      stallMadeUp();
      void flood(name);
      await vi.waitFor(() => expect(unanswered.length).toBeGreaterThan(0), patienceMs);
      expect(await registry.findKey('bpp.example.com', 'key-1', honest)).toMatchObject({ kind: 'key' });
      expect(await registry.findKey('bpp.example.com', 'key-2', honest)).toMatchObject({ kind: 'key' });
      // This process asks for itself, too, as the crawler does.
      expect(await registry.queryNetwork('example.org/nobody')).toEqual([]);
    });

    it('the source that makes them up is turned away, and asks a few at a time', async () => {
      stallMadeUp();
      const flooding = Array.from({ length: madeUp }, (_, index) =>
        registry.findKey(`made-up-${index}.example`, 'key-1', attacker),
      );
      const refused = await Promise.any(
        flooding.map((lookup) => lookup.then(Promise.reject, (error) => error)),
      );
      expect(refused).toBeInstanceOf(RegistryUnavailable);
      await vi.waitFor(() => expect(unanswered).toHaveLength(6), patienceMs);
      await Promise.allSettled(flooding);
    });

    it('a lookup does not wait for the same one of a source that has to wait', async () => {
      answers.set(lookupPath.replace('key-1', 'key-2'), { status: 200, body: { data: record() } });
      stallMadeUp();
      void flood((index) => [`made-up-${index}.example`, 'key-1']);
      await vi.waitFor(() => expect(unanswered.length).toBeGreaterThan(0), patienceMs);
      void registry.findKey('bpp.example.com', 'key-2', attacker).catch(() => undefined);
      expect(await registry.findKey('bpp.example.com', 'key-2', honest)).toMatchObject({ kind: 'key' });
    });
  });

  it.each([
    ['an error', { status: 500, body: {} }],
    ['a refusal', { status: 403, body: {} }],
    ['no JSON', { status: 200, body: '<html>' }],
    [
      'a repeated member, where two readers could see two keys',
      { status: 200, body: '{"data":{},"data":{}}' },
    ],
    ['no record', { status: 200, body: { message: 'ok', data: null } }],
    ['more than it may', { status: 200, body: { data: record({}, { url: 'x'.repeat(300_000) }) } }],
  ])('says that it could not ask when the answer is %s, and asks again at once', async (_, answer) => {
    answers.set(lookupPath, answer);
    await expect(findKey()).rejects.toBeInstanceOf(RegistryUnavailable);
    await expect(findKey()).rejects.toMatchObject({ code: 'NET_DOWNSTREAM_UNAVAILABLE', status: 503 });
    expect(registry.state()).toMatchObject({ reachable: false, problem: expect.any(String) });
    holds();
    expect(await findKey()).toMatchObject({ kind: 'key' });
    expect(registry.state()).toMatchObject({ reachable: true });
  });

  it('says that it could not ask when nobody answers, with the cause, and uses no key beyond its ttl', async () => {
    holds({ ttl: 60 });
    await findKey();
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    wait(59);
    expect(await findKey()).toMatchObject({ kind: 'key' });
    wait(1);
    await expect(findKey()).rejects.toMatchObject({ status: 503, cause: { kind: 'unreachable' } });
  });

  it('lists the usable records of a participant and of a network', async () => {
    const members = [
      record(),
      record({ record_id: 'key-2', state: 'revoked' }),
      record({}, { subscriber_id: 'c.example' }),
    ];
    answers.set(queryPath, { status: 200, body: { data: { records: members.slice(0, 2) } } });
    answers.set('/dedi/query/example.org/retail', { status: 200, body: { data: { records: members } } });
    expect(await registry.findSubscriber('bpp.example.com')).toMatchObject([{ recordId: 'key-1' }]);
    const network = await registry.queryNetwork('example.org/retail');
    expect(network.map(({ subscriberId }) => subscriberId)).toEqual(['bpp.example.com', 'c.example']);
    expect(await registry.queryNetwork('example.org/nobody')).toEqual([]);
  });

  it('turns the pages of a long query, and stops where they repeat', async () => {
    const page = (name: string, total_pages: number) => ({
      status: 200,
      body: { data: { total_pages, records: [record({}, { subscriber_id: name })] } },
    });
    const path = '/dedi/query/example.org/retail';
    answers.set(path, page('a.example', 3));
    answers.set(`${path}?page=2`, page('b.example', 3));
    answers.set(`${path}?page=3`, page('c.example', 3));
    const names = async () =>
      (await registry.queryNetwork('example.org/retail')).map((found) => found.subscriberId);
    expect(await names()).toEqual(['a.example', 'b.example', 'c.example']);
    answers.set(`${path}?page=2`, page('a.example', 3));
    expect(await names()).toEqual(['a.example']);
  });
});

function record(overrides: object = {}, details: object = {}) {
  return {
    record_id: 'key-1',
    details: {
      subscriber_id: 'bpp.example.com',
      url: 'https://bpp.example.com',
      type: 'BPP',
      signing_public_key: publicKey,
      ...details,
    },
    meta: {},
    network_memberships: [],
    state: 'live',
    ttl: 300,
    created_at: '2025-01-01T00:00:00Z',
    updated_at: '2025-01-01T00:00:00Z',
    ...overrides,
  };
}
