import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { splitIdentity } from '../../../src/protocol/identity.ts';
import { type LoggedLine, readLog } from '../../../src/storage/crawl/log.ts';
import { removeMembership } from '../../../src/storage/registry/participants.ts';
import { held } from '../network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../network/network.ts';
import { type Provider, startProvider } from '../network/provider.ts';
import { crawl } from './crawl.ts';

// A provider with one catalog, the served copy of it, and the crawler's reports: the crawl log and the metrics of the process.

export interface Scene {
  provider: Provider;
  catalogId: string;
  /** Publishes the catalog with the resources from `from` up to, but not including, `to`. */
  offer(from: number, to: number, changes?: object): Promise<void>;
  /** The same, then crawls it. */
  publish(from: number, to: number, changes?: object): Promise<void>;
  /** Crawls everything. */
  look(): Promise<void>;
  /** The served resources; undefined if the catalog is not served. */
  served(catalogId?: string): Promise<Served>;
  lines(): Promise<LoggedLine[]>;
  /** Expects a line in the crawl log that says what to do, and a count of it. */
  expectTold(code: string, about?: Partial<LoggedLine>): Promise<void>;
  /** Stops the provider; it is crawled no more. */
  end(): Promise<void>;
}

export type Served = unknown[] | undefined;

let number = 0;

type SceneOptions = Parameters<typeof startProvider>[2] & { discoveryUrl?: string };

/** For a test file: a network whose members are crawled, returned once it is up, and a scene for each test. */
export function useScenes(
  take: (scene: Scene) => void,
  options: SceneOptions & { settings?: Record<string, string> } = {},
): () => TestNetwork {
  const { settings, ...sceneOptions } = options;
  let network: TestNetwork;
  let scene: Scene;
  beforeAll(async () => {
    const crawled = { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) };
    network = await startNetwork({ settings: { ...crawled, ...settings } });
  });
  beforeEach(async () => {
    scene = await openScene(network, sceneOptions);
    take(scene);
  });
  afterEach(() => scene.end());
  afterAll(() => network?.close());
  return () => network;
}

export async function openScene(
  network: TestNetwork,
  { discoveryUrl = network.discoveryUrl, ...options }: SceneOptions = {},
): Promise<Scene> {
  number += 1;
  const catalogId = `catalog-${number}`;
  const provider = await startProvider(network, `provider-${number}`, options);
  const { database } = network;
  const before = await faultCounts(discoveryUrl);
  const look = () => crawl(database);
  const lines = async () =>
    (await readLog(database, { node: provider.identity, limit: 100, offset: 0 })).lines;
  const offer: Scene['offer'] = async (from, to, changes = {}) => {
    const catalog = { ...catalogOf(catalogId, from, to), ...changes };
    const answer = await provider.publish({ message: { catalogs: [catalog] } });
    expect(answer.status).toBe('COMPLETED');
  };

  return {
    provider,
    catalogId,
    look,
    lines,
    offer,
    async publish(from, to, changes) {
      await offer(from, to, changes);
      await look();
    },
    async served(id = catalogId) {
      const copy = await held(database, id);
      return copy?.served ? copy.resources : undefined;
    },
    async expectTold(code, about = {}) {
      const told = await lines();
      expect(told).toContainEqual(
        expect.objectContaining({
          ...{ node: provider.identity, code, message: expect.stringMatching(/\.$/) },
          ...{ hint: expect.stringMatching(/^[A-Z].{20,}\.$/), ...about },
        }),
      );
      const counts = await faultCounts(discoveryUrl);
      expect(counts.get(code), `signpost_crawl_faults_total of ${code}`).toBeGreaterThan(
        before.get(code) ?? 0,
      );
    },
    async end() {
      const subscriber = splitIdentity(provider.identity);
      await removeMembership(database, subscriber, defaultNetwork).catch(() => undefined);
      await database.query('delete from discovery.crawl_node where node = $1', [provider.identity]);
      await provider.stop();
    },
  };
}

export function catalogOf(id: string, from: number, to: number) {
  return {
    id,
    descriptor: { name: 'Teas' },
    provider: { id: 'p', descriptor: { name: 'A tea house' } },
    resources: teas(from, to),
  };
}

/** Long enough that ten of them outweigh a change of two, so that crawlers read the change. */
export function teas(from: number, to: number) {
  return Array.from({ length: to - from }, (_, index) => ({
    id: `r${from + index}`,
    descriptor: { name: `Tea ${from + index}`, longDesc: 'leaf '.repeat(20) },
  }));
}

/** How often each reason was counted, for any document. */
async function faultCounts(discoveryUrl: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${discoveryUrl}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, code = '', value] of text.matchAll(
    /^signpost_crawl_faults_total\{.*code="([^"]+)".*\} (\d+)$/gm,
  )) {
    counts.set(code, (counts.get(code) ?? 0) + Number(value));
  }
  return counts;
}
