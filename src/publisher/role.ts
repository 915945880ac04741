import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { OperationsServer } from '../http/operations.ts';
import { createServer } from '../http/server.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { addFileRoutes } from './serve.ts';

/** What the publisher works with. It has no database: the published directory is its whole state. */
export interface PublisherContext {
  config: Config;
  metrics: Metrics;
  operations?: OperationsServer;
  logger: Logger;
  now(): Date;
}

/** The publisher: published files for everybody at one address, the trigger for their owner at another. */
export async function startPublisherRole(
  context: PublisherContext,
): Promise<{ url: string; close(): Promise<void> }> {
  const { config, metrics, operations, logger, now } = context;
  const root = join(config.publisherDir, 'public');
  await mkdir(root, { recursive: true });
  const files = createServer({
    role: 'publisher',
    logger,
    metrics,
    ready: async () => ({}),
    operations,
    trustProxy: config.TRUSTED_PROXIES,
  });
  addFileRoutes(files, { root, now });
  await files.listen({ host: config.HOST, port: config.PUBLISHER_PORT });
  return { url: config.identities.publisher.url, close: () => files.close() };
}
