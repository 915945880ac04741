import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Config } from '../../config.ts';
import { publisherMessage, secondPublisherId, secondPublisherMessage } from '../../demo/network.ts';
import { createServer } from '../../http/server.ts';
import { silentLogger } from '../../logger.ts';
import { createMetrics } from '../../metrics.ts';
import { findIndexNames } from '../../publisher/indexes.ts';
import { publish } from '../../publisher/publisher.ts';
import { addFileRoutes } from '../../publisher/serve.ts';
import { placesIn } from '../../publisher/tree.ts';
import { withPublisher } from '../publish/self.ts';

// The self-hosted nodes of the demo network: the publisher role, and a second one beside it, one of whose files does not verify.

/** Before anybody comes to read; what somebody has published here since the first time is left alone. */
export async function publishHostedCatalogs(config: Config): Promise<void> {
  if (!config.roles.includes('publisher')) return;
  if (!(await hasPublished(config))) {
    const message = publisherMessage(config.DEFAULT_NETWORK_ID);
    await withPublisher(config, (publisher) => publish(publisher, { message }));
  }
  const second = secondPublisher(config);
  if (await hasPublished(second)) return;
  const { message, tamperedId } = secondPublisherMessage(config.DEFAULT_NETWORK_ID);
  await withPublisher(second, (publisher) => publish(publisher, { message }));
  await tamper(second, tamperedId);
}

async function hasPublished({ publisherDir }: Config): Promise<boolean> {
  return (await findIndexNames(placesIn(publisherDir))).length > 0;
}

/** The settings of a publisher whose files are at DEMO_PORT. Nobody renews its files: they announce no update for a year. */
export function secondPublisher(config: Config): Config {
  const url = `http://${secondHost}:${config.DEMO_PORT}`;
  return {
    ...config,
    identities: {
      ...config.identities,
      publisher: { id: secondPublisherId, keyId: undefined, seed: undefined, url },
    },
    publisherDir: join(config.DATA_DIR, 'demo-publisher'),
    catalogBaseUrl: url,
    PUBLISHER_DOMAIN: undefined,
    NEXT_UPDATE_SECONDS: 31_536_000,
  };
}

const secondHost = '127.0.0.1';

/** Makes the chargers of a baseline ten times as strong as they were when it was signed. */
async function tamper({ publisherDir, catalogBaseUrl }: Config, catalogId: string): Promise<void> {
  const { root } = placesIn(publisherDir);
  const [name = ''] = await findIndexNames(placesIn(publisherDir));
  const index = JSON.parse(await readFile(join(root, 'index', `${name}.index.json`), 'utf8'));
  const entry = index.catalogs.find((one: { catalogId: string }) => one.catalogId === catalogId);
  const file = join(root, entry.baseline.url.slice(catalogBaseUrl.length));
  const isGzipped = file.endsWith('.gz');
  const bytes = await readFile(file);
  const text = (isGzipped ? gunzipSync(bytes) : bytes).toString('utf8');
  const changed = Buffer.from(text.replaceAll('"value":60}', '"value":600}').replaceAll('60 kW', '600 kW'));
  await writeFile(file, isGzipped ? gzipSync(changed) : changed);
}

/** The files of the second publisher over HTTP. */
export async function serveSecondPublisher(config: Config): Promise<{ close(): Promise<void> }> {
  const { root } = placesIn(secondPublisher(config).publisherDir);
  const server = createServer({
    role: 'publisher',
    logger: silentLogger(),
    metrics: createMetrics({ process: false }),
    ready: async () => ({}),
  });
  addFileRoutes(server, { root });
  await server.listen({ host: secondHost, port: config.DEMO_PORT });
  return { close: () => server.close() };
}
