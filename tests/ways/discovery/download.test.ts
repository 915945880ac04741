import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sha256Digest } from '../../../src/protocol/digest.ts';
import { catalog, plain } from '../../support/catalogs/sample-catalogs.ts';
import { newId } from '../../support/catalogs/small-catalogs.ts';
import type { Body, Received } from '../../support/network/actor.ts';
import { held, names, type TestDiscovery } from '../../support/network/discovery.ts';
import type { TestNetwork } from '../../support/network/network.ts';
import type { PlayedService } from '../../support/network/played-service.ts';
import { type Pulling, retail, startPulling } from '../../support/network/pulling.ts';

// Results of a pull that are downloaded from a server, which the test also plays (catalog spec: POST /catalog/on_pull, downloadManifest).

let pulling: Pulling;
let network: TestNetwork;
let service: PlayedService;
let discovery: TestDiscovery;
let files: FileServer;
let answerWith: Pulling['answerWith'];

beforeAll(async () => {
  files = await startFileServer();
  pulling = await startPulling();
  ({ network, service, discovery, answerWith } = pulling);
});
afterAll(async () => {
  await pulling?.close();
  await files?.close();
});
afterEach(() => pulling.calm());

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
  /** How often it was downloaded. */
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
