import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../../src/http/server.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { identityOf, splitIdentity } from '../../src/protocol/identity.ts';
import { publicKeyOf, type SigningKey } from '../../src/protocol/keys.ts';
import type { TriggerAnswer, TriggerRequest } from '../../src/protocol/trigger-messages.ts';
import { renewManifest } from '../../src/publisher/keep-manifest.ts';
import { publishCatalogs } from '../../src/publisher/publish.ts';
import { addFileRoutes } from '../../src/publisher/serve.ts';
import type { PublisherTree, PublisherTreeOptions } from '../../src/publisher/tree.ts';
import { addKey, registerParticipant } from '../../src/storage/participants.ts';
import { defaultNetwork, type TestNetwork } from './network.ts';
import { makeTree, newSigningKey, type TestTree } from './published-tree.ts';

// A provider node: the real publisher's files over real HTTP, registered in the network's registry. Between it and whoever reads stands a
// proxy that can be told to spoil what it passes on.

export interface Provider {
  id: string;
  /** namespace/registry. */
  identity: string;
  url: string;
  /** With the key that signs now. */
  tree: PublisherTree;
  publish(request: TriggerRequest, indexName?: string): Promise<TriggerAnswer>;
  /** Signs with another, registered key from now on. */
  rotate(recordId: string): Promise<void>;
  /** Every request that came: method, path and status. */
  requests: { path: string; status: number; host: string }[];
  /** How answers are spoiled from now on; not at all without one. */
  spoil(spoiler?: Spoiler): void;
  stop(): Promise<void>;
}

export interface HostedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Returns what is answered instead; undefined: what the publisher serves. */
export type Spoiler = (
  path: string,
  answer: HostedAnswer,
  response: ServerResponse,
) => Partial<HostedAnswer> | 'taken' | undefined | Promise<Partial<HostedAnswer> | 'taken' | undefined>;

export async function startProvider(
  network: TestNetwork,
  name: string,
  options: Partial<PublisherTreeOptions> & { networks?: string[]; register?: boolean } = {},
): Promise<Provider> {
  const { networks = [defaultNetwork], register = true, ...treeOptions } = options;
  const id = `${name}.signpost.test`;
  const identity = identityOf(id, network.config.REGISTRY_NAME);
  const proxy = createHttpServer();
  const url = await listen(proxy);
  const made: TestTree = await makeTree({
    ...{ baseUrl: url, nodeId: id, registryName: network.config.REGISTRY_NAME },
    ...{ key: { ...newSigningKey(), subscriberId: identity } },
    ...treeOptions,
  });
  const tree: PublisherTree = made;
  const files = createServer({
    ...{ role: 'publisher', logger: silentLogger(), metrics: createMetrics({ process: false }) },
    ready: async () => ({}),
  });
  addFileRoutes(files, { root: tree.root });
  const origin = await files.listen({ host: '127.0.0.1', port: 0 });
  const requests: Provider['requests'] = [];
  let spoiler: Spoiler | undefined;
  proxy.on('request', (request, response) => {
    pass(origin, request, response, spoiler)
      .then((status) => requests.push({ path: request.url ?? '', status, host: request.headers.host ?? '' }))
      .catch(() => response.destroy());
  });
  const keyOf = (key: SigningKey) => ({
    recordId: key.recordId,
    publicKey: publicKeyOf(key.privateKey),
    ttlSeconds: 0,
  });
  if (register) {
    await registerParticipant(network.database, {
      ...{ ...splitIdentity(identity), subscriberId: id, type: 'BPP', url, networkIds: networks },
      key: keyOf(tree.key),
    });
  }
  const provider: Provider = {
    ...{ id, identity, url, tree, requests },
    async publish(request, indexName) {
      const answer = await publishCatalogs(provider.tree, request, indexName);
      await renewManifest(provider.tree, { url });
      return answer;
    },
    async rotate(recordId) {
      const { key, oldKeys } = provider.tree;
      const next = { ...newSigningKey(recordId), subscriberId: identity };
      await addKey(network.database, splitIdentity(identity), keyOf(next));
      const { createPublicKey } = await import('node:crypto');
      provider.tree = {
        ...provider.tree,
        key: next,
        oldKeys: new Map([...oldKeys, [key.recordId, createPublicKey(key.privateKey)]]),
      };
      await renewManifest(provider.tree, { url });
    },
    spoil(next) {
      spoiler = next;
    },
    async stop() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await files.close();
      await made.remove();
    },
  };
  return provider;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function pass(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  spoiler: Spoiler | undefined,
): Promise<number> {
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const path = request.url ?? '/';
  const fetched = await fetch(origin + path, { headers: headers as Record<string, string> });
  const body = Buffer.from(await fetched.arrayBuffer());
  const kept = ['content-type', 'etag', 'last-modified', 'cache-control'];
  const answer: HostedAnswer = {
    status: fetched.status,
    headers: Object.fromEntries([...fetched.headers].filter(([header]) => kept.includes(header))),
    body,
  };
  const spoiled = await spoiler?.(path, answer, response);
  if (spoiled === 'taken') return 0;
  const { status, headers: sent, body: bytes } = { ...answer, ...spoiled };
  response.writeHead(status, { ...sent, 'content-length': bytes.length });
  response.end(bytes);
  return status;
}
