import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crawl, logged } from '../support/hosted/crawl.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';

// Files so large that they are verified in a worker thread, and a crawler with less space than any of them needs.

let network: TestNetwork;
let providers: Provider[];

beforeAll(async () => {
  network = await startNetwork({
    settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]), CRAWL_MEMORY_LIMIT: '1kb' },
  });
  providers = [await startProvider(network, 'one'), await startProvider(network, 'two')];
});
afterAll(async () => {
  await Promise.all((providers ?? []).map((provider) => provider.stop()));
  await network?.close();
});

function catalog(id: string, count: number, name: string) {
  const descriptor = { name, longDesc: 'x'.repeat(500) };
  const resources = Array.from({ length: count }, (_, index) => ({ id: `r${index}`, descriptor }));
  return { id, descriptor: { name: id }, provider: { id: 'p', descriptor: { name: 'P' } }, resources };
}

async function publishAll(name: string): Promise<void> {
  for (const [index, provider] of providers.entries()) {
    const catalogs = [1_500, 3, 2].map((count, number) => catalog(`catalog-${index}-${number}`, count, name));
    await provider.publish({ message: { catalogs } });
  }
}

describe('large files', () => {
  it.each([
    ['baselines', 'Tea'],
    ['change files', 'Coffee'],
  ])('are verified, indexed and wait for room instead of filling the memory: %s', async (_what, name) => {
    await publishAll(name);
    await crawl(network.database);
    for (const [index, provider] of providers.entries()) {
      for (const [number, count] of [1_500, 3, 2].entries()) {
        const copy = await held(network.database, `catalog-${index}-${number}`);
        expect(copy?.resources).toHaveLength(count);
        expect(copy?.resources.at(-1)).toMatchObject({ id: `r${count - 1}`, descriptor: { name } });
      }
      expect(await logged(network.database, provider.identity)).toEqual([]);
    }
  });
});
