import type { Config } from '../config.ts';
import { createFetcher, type Fetcher } from '../discovery/crawl/fetch.ts';
import type { Reader } from '../discovery/crawl/reader.ts';
import { isReadingFault } from '../discovery/crawl/reasons.ts';
import { readerOf } from '../discovery/crawl/settings.ts';
import type { GuardedClient } from '../http/guarded-client.ts';
import { CommandError } from './command.ts';
import { createSourceChecker, readSchemaSources, type SchemaSource } from './schema/sources.ts';

// Commands read hosted files with the parts of the crawler, and under its limits.

export function createChainFetcher(config: Config, client: GuardedClient): Fetcher {
  return createFetcher({ client, now: () => new Date(), timeoutMs: config.CRAWL_FETCH_TIMEOUT_MS });
}

export function explainRegistry(error: unknown, { registryUrl }: Config, advice: string): never {
  if (!isReadingFault(error) || error.code !== 'registry-unavailable') throw error;
  throw new CommandError(`The registry at ${registryUrl} cannot be queried${advice}`, error);
}

/** By default, attributes are checked against the same schemas as those of a crawl. */
export async function createChainReader(
  config: Config,
  parts: Pick<Reader, 'fetcher' | 'registry'>,
  given?: readonly SchemaSource[],
): Promise<Reader> {
  const sources = given ?? (await readSchemaSources(config));
  const checker = createSourceChecker(sources, config);
  return readerOf(config, { ...parts, checker: () => checker });
}
