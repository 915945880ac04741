import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type * as source from '../../../packages/client/src/index.ts';
import { parseSignatureHeader } from '../../../src/protocol/request-signature.ts';
import { listen } from '../../support/network/guarded-calls.ts';
import {
  ackOf,
  callBack,
  createDirectory,
  onixRefusal,
  type Participant,
  type PeerService,
  startPeerService,
} from '../../support/peers/peer-services.ts';
import { until } from '../../support/time.ts';

// The built client calls services that behave like deployed peers, or like attackers at the address of a service. Longer than our other tests: a case
// for each way in which answer and callback are signed.

const { Signpost, verifyTree }: typeof source = await import(resolve('packages/client/dist/index.js'));

const { registry, register } = createDirectory();
let peer: PeerService;
let service: Participant;
let mallory: Participant;
let consumer: Participant;
const warnings: string[] = [];
const opened: source.Signpost[] = [];

beforeAll(async () => {
  peer = await startPeerService();
  service = register('service', `${peer.url}/beckn`);
  mallory = register('mallory', 'http://127.0.0.1:9');
  consumer = register('consumer');
});
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
  warnings.length = 0;
  peer.requests.length = 0;
});
afterAll(() => peer?.close());

async function startClient(options: Partial<source.SignpostOptions> = {}): Promise<source.Signpost> {
  const client = new Signpost({
    ...{ id: consumer.id, keyId: 'key-1', privateKey: consumer.seed, registry },
    ...{ catalogService: service.id, discoveryService: service.id, callbackTimeoutMs: 20_000 },
    logger: { warn: (message) => warnings.push(message), debug: () => undefined },
    ...options,
  });
  opened.push(client);
  await client.listen();
  return client;
}

const catalogOf = (by: Pick<Participant, 'id'>) => ({
  id: `catalog of ${by.id}`,
  descriptor: { name: 'Lamps' },
  provider: { id: 'shop', descriptor: { name: 'Shop' } },
  resources: [{ id: `lamp of ${by.id}`, descriptor: { name: 'Lamp' } }],
});
const foundBy = (by: Pick<Participant, 'id'>) => ({ catalogs: [catalogOf(by)] });
const [threeLines, fourLines] = ['threeLines', 'fourLines'] as const;

async function discover(client: source.Signpost, options?: source.DiscoverOptions): Promise<string[]> {
  const ids: string[] = [];
  for await (const { resource } of client.discover('lamp', options)) ids.push(resource.id);
  return ids;
}

/** The client's result while these callbacks are sent one after another, and the answers to them. */
async function discoverAmong(
  client: source.Signpost,
  callers: readonly (readonly [Participant, typeof threeLines | typeof fourLines])[],
  {
    early = false,
    signedBy,
    ...options
  }: source.DiscoverOptions & { early?: boolean; signedBy?: Participant },
) {
  const statuses: number[] = [];
  peer.answer = async (request) => {
    const callAll = async () => {
      for (const [as, lines] of callers)
        statuses.push(await callBack(request, as, { lines, message: foundBy(as) }));
    };
    if (early) await callAll();
    return { body: ackOf(request), signedBy, ...(!early && { afterwards: callAll }) };
  };
  const found = await discover(client, options).catch(({ code, message }) => ({ code, message }));
  await until(() => statuses.length === callers.length, 'every callback to be answered');
  return { found, statuses };
}

describe('a service that is named by its subscriberId', () => {
  const ofService = ['lamp of service.example.org'];

  it('is the only one whose callback counts, whoever signed the acknowledgement at its address', async () => {
    const client = await startClient();
    const callers = [
      [mallory, fourLines],
      [mallory, threeLines],
      [service, fourLines],
    ] as const;
    for (const early of [false, true])
      expect(await discoverAmong(client, callers, { early, signedBy: mallory })).toEqual({
        found: ofService,
        statuses: [403, 403, 200],
      });
    expect(warnings).toHaveLength(2);
    for (const warning of warnings)
      expect(warning).toMatch(
        /is not accepted: it was made by mallory\.example\.org\/.*, not by service\.example/,
      );
  });

  it.each([
    ['signs the acknowledgement, and four lines', true, fourLines],
    ['signs the acknowledgement, and three lines', true, threeLines],
    ['signs four lines, and no acknowledgement', false, fourLines],
    ['signs three lines, and no acknowledgement, as deployed peers do', false, threeLines],
  ])('counts where it %s, after the acknowledgement and before it', async (_what, isSigned, lines) => {
    const client = await startClient();
    const signedBy = isSigned ? service : undefined;
    for (const early of [false, true])
      expect(await discoverAmong(client, [[service, lines]], { early, signedBy })).toEqual({
        found: ofService,
        statuses: [200],
      });
    expect(warnings).toEqual([]);
  });

  it('has to sign four lines where the chain is required', async () => {
    const client = await startClient({ requireCallbackChain: true });
    expect(
      await discoverAmong(
        client,
        [
          [service, threeLines],
          [service, fourLines],
        ],
        {},
      ),
    ).toEqual({ found: ofService, statuses: [401, 200] });
  });

  it('is waited for in vain where only somebody else calls back, and the error says who', async () => {
    const client = await startClient();
    const { found, statuses } = await discoverAmong(client, [[mallory, threeLines]], {
      callbackTimeoutMs: 200,
    });
    expect(found).toEqual({
      code: 'NET_TIMEOUT',
      message: expect.stringContaining(`${service.identity} was asked, not ${mallory.identity}`),
    });
    expect(statuses).toEqual([403]);
  });

  it('is believed when it refuses, whatever came before', async () => {
    const client = await startClient({ retryForMs: 0 });
    peer.answer = async (request) => {
      await callBack(request, service, { lines: fourLines, message: foundBy(service) });
      const error = { code: 'NET_NOT_IMPLEMENTED', message: 'no' };
      return { status: 501, body: { message: { status: 'NACK', error } }, signedBy: service };
    };
    await expect(discover(client)).rejects.toMatchObject({ code: 'NET_NOT_IMPLEMENTED', status: 501 });
  });
});

describe('a service that is named by its address alone', () => {
  it('is a participant that the registry has at the origin of the address', async () => {
    const client = await startClient({ discoveryService: peer.url });
    for (const early of [false, true])
      expect(
        await discoverAmong(
          client,
          [
            [mallory, fourLines],
            [service, threeLines],
          ],
          { early, signedBy: mallory },
        ),
      ).toEqual({ found: ['lamp of service.example.org'], statuses: [403, 200] });
    expect(warnings).toHaveLength(2);
  });

  it('is the one of several participants at that origin that signed the acknowledgement', async () => {
    const neighbour = register('neighbour', `${peer.url}/neighbour`);
    const client = await startClient({ discoveryService: peer.url });
    const callers = [
      [neighbour, fourLines],
      [service, fourLines],
    ] as const;
    const { found } = await discoverAmong(client, callers, { early: true, signedBy: service });
    expect(found).toEqual(['lamp of service.example.org']);
    expect((await discoverAmong(client, callers, { early: true })).found).toEqual([
      'lamp of neighbour.example.org',
    ]);
  });
});

describe('a service with the closed schema of Beckn-ONIX', () => {
  it.each([
    ['both members', ['limit', 'offset']],
    ['the first of them', ['limit']],
  ])('is asked again without limit and offset where it refuses %s', async (_what, members) => {
    const client = await startClient();
    peer.answer = async (request) => {
      if ('limit' in request.body.message) return onixRefusal(members);
      const afterwards = () => callBack(request, service, { lines: threeLines, message: foundBy(service) });
      return { body: ackOf(request), afterwards };
    };
    expect(await discover(client)).toEqual(['lamp of service.example.org']);
    expect(peer.requests.map(({ body }) => Object.keys(body.message))).toEqual([
      ['intent', 'limit', 'offset'],
      ['intent'],
    ]);
  });

  it.each([
    ['acknowledgement', { 'Signpost-Truncated': '1000' }, {}],
    ['callback', {}, { 'Signpost-Truncated': '1000' }],
    ['both', { 'Signpost-Truncated': '1000' }, { 'Signpost-Truncated': '1000' }],
  ])('is reported once where it says in its %s that its answer was cut', async (_where, headers, more) => {
    const client = await startClient();
    peer.answer = async (request) => {
      const shape = { lines: threeLines, message: foundBy(service), headers: more };
      return { body: ackOf(request), headers, afterwards: () => callBack(request, service, shape) };
    };
    const told: number[] = [];
    await discover(client, { onTruncated: (resources) => told.push(resources) });
    expect(told).toEqual([1000]);
  });

  it('is asked no more where it refuses the request without them too', async () => {
    const client = await startClient();
    peer.answer = () => onixRefusal(['intent']);
    await expect(discover(client)).rejects.toMatchObject({ code: 'SCH_FIELD_NOT_ALLOWED' });
    expect(peer.requests).toHaveLength(2);
  });
});

describe('a request without body', () => {
  const subscriptionId = '3f1c2c6e-6f0e-4a3e-9d67-0d5f6f3c8a11';
  const listed = () => {
    const timestamp = new Date().toISOString();
    const context = { version: '2.0.0', action: 'catalog/on_subscription', timestamp };
    const subscription = {
      ...{ subscriptionId, status: 'INACTIVE', networkIds: [], schemaTypes: [] },
      ...{ createdAt: timestamp, updatedAt: timestamp },
    };
    return {
      context: { ...context, messageId: 'm', transactionId: 't' },
      message: { subscriptions: [subscription] },
    };
  };
  const times = () =>
    peer.requests.map(({ method, authorization }) => {
      const { created, expires } = parseSignatureHeader(authorization);
      return { method, created, seconds: expires - created };
    });

  it('is signed for 10 s where it is a GET, and for 11 to 60 s where it is a DELETE, never twice alike', async () => {
    const client = await startClient();
    peer.answer = () => ({ body: listed() });
    for (let count = 0; count < 2; count += 1) await client.subscriptions();
    for (let count = 0; count < 5; count += 1) await client.unsubscribe(subscriptionId);
    const [gets, deletes] = ['GET', 'DELETE'].map((method) => times().filter((one) => one.method === method));
    expect(gets?.map(({ seconds }) => seconds)).toEqual([10, 10]);
    for (const { seconds } of deletes ?? []) expect(seconds >= 11 && seconds <= 60).toBe(true);
    expect(new Set(deletes?.map(({ created, seconds }) => `${created} ${seconds}`)).size).toBe(5);
  });

  it('is signed once more by the clock of a server that answers 401 and whose clock differs, which is logged', async () => {
    const client = await startClient();
    const date = new Date(Date.now() - 60_000).toUTCString();
    const error = { code: 'AUT_SIGNATURE_INVALID', message: 'created in the future' };
    peer.answer = () =>
      peer.requests.length === 1
        ? { status: 401, headers: { date }, body: { message: { status: 'NACK', error } } }
        : { body: listed() };
    expect(await client.subscriptions()).toHaveLength(1);
    const [first, second] = times();
    expect([first?.seconds, second]).toEqual([
      10,
      { method: 'GET', created: Date.parse(date) / 1000, seconds: 10 },
    ]);
    expect(warnings).toEqual([
      expect.stringMatching(/answered 401, and its clock is (59|6[0-9]) s behind ours/),
    ]);
  });

  it('is refused for good where the clock is not the reason', async () => {
    const client = await startClient();
    const error = { code: 'AUT_KEY_NOT_FOUND', message: 'no such key' };
    peer.answer = () => ({ status: 401, body: { message: { status: 'NACK', error } } });
    await expect(client.subscriptions()).rejects.toMatchObject({ code: 'AUT_KEY_NOT_FOUND' });
    expect(peer.requests).toHaveLength(1);
  });
});

describe('a download that a service offers', () => {
  const bytes = gzipSync(JSON.stringify(foundBy({ id: 'the download' })));
  let connections = 0;
  let downloads: { url: string; port: number };
  beforeAll(async () => {
    const server = createServer((_request, response) => response.end(bytes));
    server.on('connection', () => {
      connections += 1;
    });
    downloads = await listen(server);
  });

  async function pull(url: string, options: Partial<source.SignpostOptions>): Promise<string[]> {
    const client = await startClient(options);
    const checksum = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const downloadManifest = { url, expiresAt, format: 'json.gz', sizeBytes: bytes.length, checksum };
    const message = { status: 'COMPLETED', downloadManifest };
    peer.answer = (request) => ({
      body: ackOf(request),
      afterwards: () => callBack(request, service, { lines: threeLines, action: 'catalog/on_pull', message }),
    });
    const ids: string[] = [];
    for await (const { id } of client.pull('3f1c2c6e-6f0e-4a3e-9d67-0d5f6f3c8a11')) ids.push(id);
    return ids;
  }

  const places: [string, string, string | RegExp][] = [
    ['a loopback address', 'https://127.0.0.1', 'its address is loopback'],
    ['a loopback address in another spelling', 'https://2130706433', 'its address is loopback'],
    ['a mapped loopback address', 'https://[::ffff:127.0.0.1]', 'its address is loopback'],
    [
      'a name of one',
      'https://localhost',
      /localhost \((127\.0\.0\.1|::1)\) is not called: its address is loopback/,
    ],
    ['a private address', 'https://10.1.2.3', 'its address is private'],
    ["the address of a cloud machine's metadata", 'https://169.254.169.254', 'its address is link-local'],
    ['plain http', 'http://127.0.0.1', 'only https is'],
  ];
  it.each(places)('is not fetched from %s, and nothing is connected to', async (_what, origin, reason) => {
    const failure = await pull(`${origin}:${downloads.port}/x.json.gz`, {}).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'NET_CATALOG_SOURCE_UNAVAILABLE',
      message: expect.stringMatching(reason),
    });
    expect((failure as Error).message).toContain('allowPrivateAddresses');
    expect(connections).toBe(0);
  });

  it.each(places)('is not read as a published file from %s, either', async (_what, origin, reason) => {
    const { isValid, faults } = await verifyTree(`${origin}:${downloads.port}`, { registry });
    expect(isValid).toBe(false);
    expect(faults).toMatchObject([{ code: 'unreachable', message: expect.stringMatching(reason) }]);
    expect(faults[0]?.message).toContain('allowPrivateAddresses');
    expect(connections).toBe(0);
  });

  it('is fetched from such an address where the options allow it', async () => {
    expect(await pull(`${downloads.url}/x.json.gz`, { allowPrivateAddresses: true })).toEqual([
      'catalog of the download',
    ]);
  });
});
