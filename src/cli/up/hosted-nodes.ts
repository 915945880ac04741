import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Config, ownConsoleUrl } from '../../config.ts';
import {
  nextStatus,
  publisherMessage,
  secondPublisherId,
  secondPublisherMessage,
} from '../../demo/network.ts';
import { addHomePage } from '../../http/home-page.ts';
import { createServer } from '../../http/server.ts';
import { silentLogger } from '../../logger.ts';
import { createMetrics } from '../../metrics.ts';
import { findIndexNames, readIndexes } from '../../publisher/indexes.ts';
import { pathOfUrl } from '../../publisher/paths.ts';
import { publish } from '../../publisher/publisher.ts';
import { refreshDue } from '../../publisher/refresh.ts';
import { addFileRoutes, manifestLink } from '../../publisher/serve.ts';
import { type PublisherTree, placeOf, placesIn } from '../../publisher/tree.ts';
import { replaceFile } from '../../publisher/write.ts';
import { withPublisher } from '../publish/directory.ts';

// The self-hosted nodes of the demo network: the publisher role and a second node. One file of the second node does not verify.

/** Catalogs published since the first start stay unchanged. The second node is brought to the same state at every start. */
export async function publishHostedCatalogs(config: Config): Promise<void> {
  if (!config.roles.includes('publisher')) return;
  if (!(await hasPublished(config))) {
    const message = publisherMessage(config.DEFAULT_NETWORK_ID);
    await withPublisher(config, (publisher) => publish(publisher, { message }));
  }
  const second = secondPublisher(config);
  const { message, tamperedId } = secondPublisherMessage(config.DEFAULT_NETWORK_ID);
  await withPublisher(second, async (publisher) => {
    if (await hasPublished(second)) await refreshDue(publisher);
    else await publish(publisher, { message });
    await tamper(publisher.tree, tamperedId);
  });
}

async function hasPublished({ publisherDir }: Config): Promise<boolean> {
  return (await findIndexNames(placesIn(publisherDir))).length > 0;
}

/** The settings of a publisher whose files are at DEMO_PORT. They are renewed only at a start, so their announced next update is a year later. */
export function secondPublisher(config: Config): Config {
  const url = `http://${secondHost}:${config.DEMO_PORT}`;
  const publisher = { id: secondPublisherId, keyId: undefined, seed: undefined, url };
  return {
    ...config,
    identities: { ...config.identities, publisher },
    publisherDir: join(config.DATA_DIR, 'demo-publisher'),
    catalogBaseUrl: url,
    PUBLISHER_DOMAIN: undefined,
    NEXT_UPDATE_SECONDS: 31_536_000,
  };
}

const secondHost = '127.0.0.1';

/** Multiplies the power of the chargers in a signed baseline by ten. An already changed baseline stays unchanged. */
async function tamper(tree: PublisherTree, catalogId: string): Promise<void> {
  const indexes = [...(await readIndexes(tree)).values()];
  const url = indexes.map(({ entries }) => entries.get(catalogId)?.baseline?.url).find(Boolean);
  if (url === undefined) return;
  const path = pathOfUrl('baseline', url);
  const isGzipped = path.endsWith('.gz');
  const bytes = await readFile(placeOf(tree, path));
  const text = (isGzipped ? gunzipSync(bytes) : bytes).toString('utf8');
  const changed = text.replaceAll('"value":60}', '"value":600}').replaceAll('60 kW', '600 kW');
  if (changed === text) return;
  await replaceFile(tree, path, isGzipped ? gzipSync(changed) : Buffer.from(changed));
}

export async function serveSecondPublisher(config: Config, statusMs = usualStatusMs) {
  const { root } = placesIn(secondPublisher(config).publisherDir);
  const server = createServer({
    role: 'publisher',
    logger: silentLogger(),
    metrics: createMetrics({ process: false }),
    ready: async () => ({}),
  });
  addHomePage(server, {
    role: 'publisher',
    about: `The signed files of ${secondPublisherId}, another node of the demo network. One of them was changed after it was signed, so crawlers refuse it.`,
    links: [manifestLink],
    consoleUrl: ownConsoleUrl(config),
  });
  addFileRoutes(server, { root });
  await server.listen({ host: secondHost, port: config.DEMO_PORT });
  const moving = moveStatuses(config, statusMs);
  return {
    async close() {
      await moving.close();
      await server.close();
    },
  };
}

function moveStatuses(config: Config, statusMs: number): { close(): Promise<void> } {
  const second = secondPublisher(config);
  let turn = 0;
  let last = Promise.resolve();
  const move = async () => {
    const message = nextStatus(config.DEFAULT_NETWORK_ID, turn);
    turn += 1;
    await withPublisher(second, (publisher) => publish(publisher, { message }));
  };
  const timer = setInterval(() => {
    last = last.then(move).catch(() => {});
  }, statusMs);
  return {
    close() {
      clearInterval(timer);
      return last;
    },
  };
}

/** Often enough for a visitor to notice. */
const usualStatusMs = 60_000;
