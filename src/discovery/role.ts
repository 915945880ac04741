import { createService } from '../delivery/service.ts';
import { startListMerger } from '../search/lists/compactor.ts';
import { startOrClose } from '../start-or-close.ts';
import type { DiscoveryContext } from './context.ts';
import { startCrawler } from './crawl/crawler.ts';
import { addCrawlHintsRoute } from './crawl-hints.ts';
import { addCrawlLogRoute } from './crawl-log.ts';
import { addDiscoverRoute } from './discover.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createSync } from './sync.ts';

/** The discovery service: one line per action, one per loop of work that is due. */
export async function startDiscoveryRole(
  context: DiscoveryContext,
): Promise<{ url: string; close(): Promise<void> }> {
  const { config, url } = context;
  const sync = createSync(context);
  const { isExempt, findSentRequest, isAwaited } = sync;
  const service = createService(context, { role: 'discovery', isExempt, findSentRequest, isAwaited });
  const { server, signed, keepPromise } = service;
  addDiscoverRoute(server, signed, { ...context, keepPromise });
  addCrawlLogRoute(server, signed, context);
  addCrawlHintsRoute(server, context);
  sync.addRoutes(server, signed);

  const loops: { close(): Promise<void> }[] = [sync];
  const close = async () => {
    await service.close();
    await Promise.all(loops.map((loop) => loop.close()));
  };
  return startOrClose(async () => {
    await server.listen({ host: config.HOST, port: config.DISCOVERY_PORT });
    await sync.start();
    loops.push(await startCrawler(context));
    loops.push(service.startCallbacks(), startHousekeeping(context), startListMerger(context));
    return { url, close };
  }, close);
}
