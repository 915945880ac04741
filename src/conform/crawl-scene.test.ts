import { expect, it } from 'vitest';
import { generateSeed, privateKeyFromSeed } from '../protocol/keys.ts';
import { createCrawlScene } from './crawl-scene.ts';
import { createSamples } from './sample-catalogs.ts';

it('a crawl scene that has hosted nothing has nothing to retire, and asks the service nothing', async () => {
  const networkId = 'example.org/network';
  const asked: string[] = [];
  const { retireAll } = createCrawlScene({
    key: { subscriberId: 'host.example', recordId: 'key-1', privateKey: privateKeyFromSeed(generateSeed()) },
    ...{ registryName: 'example.org', profile: 'spec', networkId, samples: createSamples('run', networkId) },
    ...{ url: 'https://host.example', baseUrl: 'https://host.example', crawlWaitSeconds: 0 },
    async finds(resourceId) {
      asked.push(resourceId);
      throw new Error('the service does not answer');
    },
    async sendHint() {
      asked.push('hint');
      return true;
    },
    serveBy() {},
    signal: new AbortController().signal,
  });
  expect(await retireAll()).toBe(true);
  expect(asked).toEqual([]);
});
