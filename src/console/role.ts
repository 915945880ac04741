import { keepStrangersOut, warnIfReachable } from '../http/local-only.ts';
import { createServer } from '../http/server.ts';
import { startOrClose } from '../start-or-close.ts';
import type { ConsoleContext } from './context.ts';
import { addCrawlRoutes } from './crawl.ts';
import { addExplainRoute } from './explain.ts';

/** The operator's API: unsigned, for programs of this machine. It reads, and changes nothing. */
export async function startConsoleRole(
  context: ConsoleContext,
): Promise<{ url: string; close(): Promise<void> }> {
  const { config, database, search, metrics, operations, logger } = context;
  // In a process with a discovery service, that announces both.
  const announced = config.roles.includes('discovery') ? undefined : await search.announce({ logger });
  const local = { host: config.CONSOLE_HOST, what: 'console' };
  warnIfReachable(local, logger);
  const server = createServer({
    role: 'console',
    logger,
    metrics,
    ready: async () => {
      await database.ping();
      announced?.check();
    },
    operations,
  });
  keepStrangersOut(server, local);
  addExplainRoute(server, context);
  addCrawlRoutes(server, context);
  const close = async () => {
    await server.close();
    await announced?.close();
  };
  return startOrClose(async () => {
    await server.listen({ host: config.CONSOLE_HOST, port: config.CONSOLE_PORT });
    return { url: config.consoleUrl, close };
  }, close);
}
