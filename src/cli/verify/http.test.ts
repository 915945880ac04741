import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTree, servedFiles, type TestTree } from '../../../tests/support/hosted/published-tree.ts';
import {
  chargers,
  key,
  publish,
  verify,
  verifyJson,
  vouched,
} from '../../../tests/support/hosted/verified-tree.ts';
import { publicKeyOf } from '../../protocol/keys.ts';
import { renewManifest } from '../../publisher/keep-manifest.ts';

describe('signpost verify over HTTP', () => {
  let tree: TestTree;
  let server: Server;
  let address: string;
  let answers: Map<string, Buffer>;

  beforeEach(async () => {
    server = createServer((request, response) => {
      const answer = answers.get(request.url ?? '');
      response.writeHead(answer ? 200 : 404).end(answer);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    tree = await makeTree({ key, baseUrl: `${address}/files` });
    await publish(tree, chargers(3));
    await renewManifest(tree, { url: address });
    const files = [...(await servedFiles(tree))];
    answers = new Map([
      ...files.map(([path, bytes]): [string, Buffer] => [`/files/${path}`, bytes]),
      ...files.map(([path, bytes]): [string, Buffer] => [`/${path}`, bytes]),
    ]);
  });
  afterEach(async () => {
    server.close();
    await tree.remove();
  });

  it('follows the chain from the manifest of a node', async () => {
    expect(await verifyJson(tree, [address, ...vouched])).toMatchObject({
      exitCode: 0,
      node: 'example.org/subscribers.beckn.one',
      holding: { manifest: 1, record: 1, index: 1, entry: 1, baseline: 1 },
    });
  });

  it('verifies one index by its address', async () => {
    const index = `${address}/files/index/catalogs.index.json`;
    expect(await verifyJson(tree, [index, ...vouched])).toMatchObject({
      exitCode: 0,
      holding: { index: 1, entry: 1, baseline: 1 },
    });
  });

  it('takes the keys from the registry, and tells when it cannot be queried', async () => {
    const record = {
      record_id: 'key-1',
      details: {
        subscriber_id: 'example.org',
        url: address,
        signing_public_key: publicKeyOf(key.privateKey),
      },
      meta: {},
      state: 'live',
    };
    answers.set('/dedi/lookup/example.org/subscribers.beckn.one/key-1', asJson({ data: record }));
    answers.set('/dedi/query/example.org/subscribers.beckn.one', asJson({ data: { records: [record] } }));
    const env = { REGISTRY_URL: `${address}/dedi` };
    expect(await verify(tree, [address], env)).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('Everything is valid'),
    });
    const { exitCode, notes } = await verify(tree, [address], { REGISTRY_URL: 'http://127.0.0.1:1/dedi' });
    expect(exitCode).toBe(1);
    expect(notes).toContain('cannot be queried for keys');
  });

  it('names what is wrong with a node that has no manifest, or does not answer', async () => {
    answers.clear();
    expect(await verifyJson(tree, [address, ...vouched])).toMatchObject({
      exitCode: 1,
      faults: [{ document: 'manifest', code: 'manifest-missing' }],
    });
    expect(await verifyJson(tree, ['http://127.0.0.1:1', ...vouched])).toMatchObject({
      exitCode: 1,
      faults: [{ document: 'manifest', code: 'unreachable' }],
    });
  });
});

function asJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
