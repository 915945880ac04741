import { ownConsoleUrl } from '../config.ts';
import { createService } from '../delivery/service.ts';
import { addHomePage } from '../http/home-page.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';
import { startOrClose } from '../start-or-close.ts';
import type { EmptySearches } from '../storage/console/empty-searches.ts';
import type { DiscoveryContext } from './context.ts';
import { startCrawler } from './crawl/crawler.ts';
import { addCrawlHintsRoute } from './crawl-hints.ts';
import { addCrawlLogRoute } from './crawl-log.ts';
import { addDiscoverRoute } from './discover.ts';
import { createSync } from './sync.ts';

/** The discovery service: one line per action, one per loop of due work. */
export async function startDiscoveryRole(
  context: DiscoveryContext,
  { schemas, emptySearches }: { schemas: SchemaStore; emptySearches: EmptySearches },
): Promise<{ url: string; close(): Promise<void> }> {
  const { config, hosting } = context;
  const sync = createSync(context);
  const { isExempt, findSentRequest, isAwaited } = sync;
  let searching: Awaited<ReturnType<typeof context.search.start>> | undefined;
  const check = () => {
    searching?.check();
    return context.search.report();
  };
  const service = createService(context, { role: 'discovery', isExempt, findSentRequest, isAwaited, check });
  const { server, signed, keepPromise } = service;
  addHomePage(server, {
    role: 'discovery',
    about: 'The discovery service: it keeps an index of catalogs, and answers what consumers look for.',
    ...{ operations: hosting.operations, consoleUrl: ownConsoleUrl(config) },
  });
  addDiscoverRoute(server, signed, { discovery: context, keepPromise, emptySearches });
  addCrawlLogRoute(server, signed, context);
  addCrawlHintsRoute(server, context);
  sync.addRoutes(server, signed);

  const loops: { close(): Promise<void> }[] = [sync];
  const close = async () => {
    await service.close();
    await Promise.all(loops.map((loop) => loop.close()));
    await service.strict.close();
    await searching?.close();
  };
  return startOrClose(async () => {
    // The search runs from before the first write to the index until after the last.
    searching = await context.search.start(context);
    await server.listen({ host: config.HOST, port: config.DISCOVERY_PORT });
    await sync.start();
    loops.push(await startCrawler(context, schemas));
    loops.push(service.startCallbacks());
    return { url: hosting.url, close };
  }, close);
}
