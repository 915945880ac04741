import type { Config } from '../../config.ts';
import { createConfiguredClient } from '../../http/guarded-client.ts';
import { createLogger } from '../../logger.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import { withCrawlHints } from '../../publisher/hint-crawlers.ts';
import { withListingProblems } from '../../publisher/listing.ts';
import { openPublisher, type Publisher, publish } from '../../publisher/publisher.ts';
import { findTreeProblem } from '../../publisher/tree-problem.ts';
import { parseTriggerRequest } from '../../publisher/trigger-request.ts';
import { openConfiguredSchemas } from '../../schemas/schema-store.ts';
import { CommandError } from '../command.ts';
import { withRegistry } from '../send/exchange.ts';

// Writes to the publisher's directory, for commands while no publisher runs.

export async function publishDirectly(config: Config, request: object, indexName: string | undefined) {
  return withPublisher(config, async (publisher) => {
    try {
      const answer = await publish(publisher, parseTriggerRequest(request), indexName);
      return await withRegistry(config, async (registry, client) => {
        const hint = { urls: config.CRAWL_HINT_URLS, nodeId: config.identities.publisher.id, client };
        const published = { ...publisher.tree, url: config.identities.publisher.url };
        return withListingProblems(await withCrawlHints(answer, hint), published, registry);
      });
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const path = error.path === undefined ? '' : ` (${error.path})`;
      throw new CommandError(`This cannot be published, ${error.code}: ${error.message}${path}`, error);
    }
  });
}

export async function withPublisher<T>(config: Config, work: (publisher: Publisher) => Promise<T>) {
  const logger = createLogger({ level: 'warn', format: config.LOG_FORMAT });
  const client = createConfiguredClient(config);
  const schemas = await openConfiguredSchemas(config, client, logger);
  try {
    return await work(await openPublisher(config, { schemas, logger }));
  } catch (error) {
    const problem = findTreeProblem(error);
    throw problem === undefined ? error : new CommandError(problem, error);
  } finally {
    await schemas.close();
    await client.close();
  }
}
