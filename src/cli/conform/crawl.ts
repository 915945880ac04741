import { type CrawlScene, type CrawlSceneOptions, createCrawlScene } from '../../conform/crawl-scene.ts';
import type { DiscoveryScene } from '../../conform/discovery-scene.ts';
import { at } from '../../conform/values.ts';
import { FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import { parseIfJson } from '../../protocol/json.ts';
import { urlOf } from '../../publisher/paths.ts';
import { RegistryUnavailable } from '../../registry/client.ts';

interface CrawlPreparation extends Pick<CrawlSceneOptions, 'profile' | 'crawlWaitSeconds' | 'signal'> {
  target: string;
  client: GuardedClient;
  registeredUrl?: string;
}

/** Hosts files under the signer's identity for the service to crawl. Returns the reason if the service would not fetch them. */
export async function prepareCrawl(
  { self, inbox, registry, registryName, networkId, samples, finds }: DiscoveryScene,
  { target, client, registeredUrl, ...options }: CrawlPreparation,
): Promise<CrawlScene | string> {
  if (registeredUrl === undefined)
    return `${self.id} has no address in the registry, where a crawler would look for its files`;
  try {
    const records = await registry.findSubscriber(self.id);
    if (!records.some(({ networkMemberships }) => networkMemberships.includes(networkId)))
      return `${self.id} is not a member of ${networkId} in the registry, so no crawler of that network reads it`;
  } catch (error) {
    if (error instanceof RegistryUnavailable) return error.message;
    throw error;
  }
  return createCrawlScene({
    ...{ ...options, networkId, samples, finds },
    ...{ key: self.key, registryName, url: registeredUrl, baseUrl: inbox.url },
    sendHint: () => sendHint(client, target, self.id),
    serveBy: (serve) => inbox.serveBy(serve),
  });
}

const hintTimeoutMs = 10_000;
const maxHintAnswerBytes = 64 * 1024;

/** A service without hints may still crawl. A service that answers like ours says that it does not. */
async function sendHint(client: GuardedClient, target: string, nodeId: string): Promise<boolean> {
  try {
    const { status, body } = await client.request(urlOf(target, 'crawl-hints'), {
      ...{ method: 'POST', body: JSON.stringify({ nodeId }) },
      headers: { 'content-type': 'application/json' },
      ...{ timeoutMs: hintTimeoutMs, maxBytes: maxHintAnswerBytes, operatorConfigured: true },
    });
    return status !== 404 || at(parseIfJson(body), 'message', 'error', 'code') !== 'CTX_INVALID_FIELD';
  } catch (error) {
    if (error instanceof FetchFailure) return true;
    throw error;
  }
}
