import { createPublicKey } from 'node:crypto';
import { createServer } from '../../../src/http/server.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { publicKeyOf, type SigningKey } from '../../../src/protocol/keys.ts';
import type { TriggerAnswer, TriggerRequest } from '../../../src/protocol/trigger-messages.ts';
import { renewManifest } from '../../../src/publisher/keep-manifest.ts';
import { publishCatalogs } from '../../../src/publisher/publish.ts';
import { addFileRoutes } from '../../../src/publisher/serve.ts';
import type { PublisherTree, PublisherTreeOptions } from '../../../src/publisher/tree.ts';
import { addKey, registerParticipant } from '../../../src/storage/registry/participants.ts';
import { makeTree, newSigningKey, type TestTree } from '../hosted/published-tree.ts';
import { startTamperingProxy, type TamperingProxy } from '../hosted/tampering-proxy.ts';
import { defaultNetwork, type TestNetwork } from './network.ts';

export type { HostedAnswer, Spoiler } from '../hosted/tampering-proxy.ts';

// A provider node: the real publisher's files over real HTTP. It is registered in the network's registry once there are files: otherwise the crawler,
// which may look at any time, would report that it found nothing. Its readers go through a proxy that can change answers.

export interface Provider extends Pick<TamperingProxy, 'url' | 'requests' | 'spoil'> {
  id: string;
  /** namespace/registry. */
  identity: string;
  /** With the current signing key. */
  tree: PublisherTree;
  /** Also registers it the first time. */
  publish(request: TriggerRequest, indexName?: string): Promise<TriggerAnswer>;
  /** Does nothing if it is registered already, or must not be. */
  register(): Promise<void>;
  /** Signs with another, registered key from now on. */
  rotate(recordId: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ProviderOptions {
  networks?: string[];
  register?: boolean;
  /** The name of its key in the registry. */
  registeredKey?: string;
  /** Its subscriberId, if it differs from its name. */
  id?: string;
  /** Whether the registry knows its address. */
  registerUrl?: boolean;
}

export async function startProvider(
  network: TestNetwork,
  name: string,
  options: Partial<PublisherTreeOptions> & ProviderOptions = {},
): Promise<Provider> {
  const { networks = [defaultNetwork], register = true, registeredKey = 'key-1', ...rest } = options;
  const { id = `${name}.signpost.test`, registerUrl = true, ...treeOptions } = rest;
  const identity = identityOf(id, network.config.REGISTRY_NAME);
  const proxy = await startTamperingProxy();
  const { url, requests, spoil } = proxy;
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
  proxy.passTo(await files.listen({ host: '127.0.0.1', port: 0 }));
  const keyOf = (key: SigningKey) => ({
    recordId: key.recordId,
    publicKey: publicKeyOf(key.privateKey),
    ttlSeconds: 0,
  });
  let mustRegister = register;
  const provider: Provider = {
    ...{ id, identity, url, tree, requests, spoil },
    async publish(request, indexName) {
      const answer = await publishCatalogs(provider.tree, request, indexName);
      await renewManifest(provider.tree, { url });
      await provider.register();
      return answer;
    },
    async register() {
      if (!mustRegister) return;
      mustRegister = false;
      await registerParticipant(network.database, {
        ...{ ...splitIdentity(identity), subscriberId: id, type: 'BPP', networkIds: networks },
        ...(registerUrl && { url }),
        key: { ...keyOf(tree.key), recordId: registeredKey },
      });
    },
    async rotate(recordId) {
      const { key, oldKeys } = provider.tree;
      const next = { ...newSigningKey(recordId), subscriberId: identity };
      await addKey(network.database, splitIdentity(identity), keyOf(next));
      provider.tree = {
        ...provider.tree,
        key: next,
        oldKeys: new Map([...oldKeys, [key.recordId, createPublicKey(key.privateKey)]]),
      };
      await renewManifest(provider.tree, { url });
    },
    async stop() {
      await proxy.stop();
      await files.close();
      await made.remove();
    },
  };
  return provider;
}
