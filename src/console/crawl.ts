import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { identityOf } from '../protocol/identity.ts';
import { Type } from '../protocol/type.ts';
import { listLog } from '../storage/crawl/log.ts';
import { listNodes } from '../storage/crawl/status.ts';
import { CrawledNode, LogLine, nodeStandings } from './answers/network.ts';
import { actorOf } from './audit.ts';
import type { ConsoleContext } from './context.ts';
import { startCrawl } from './crawl-now.ts';
import { ConsoleError } from './errors.ts';
import { addList, CursorKey, CursorText, CursorTime, listOf, pageOf } from './list.ts';
import { addRoute } from './route.ts';

export function addCrawlRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const { database, config } = context;
  const identify = (node: string) => identityOf(node, config.REGISTRY_NAME);

  addList(server, '/api/nodes', {
    summary: 'List the nodes that are crawled, with their states.',
    filter: {
      state: Type.Optional(
        Type.Enum([...nodeStandings], {
          description:
            'Only nodes in this state. `failing`: manifest, record or an index could not be read; `with failing catalogs`: these could, some catalog could not; `nothing published`: it was read, and names no signed catalog; `no longer crawled`: the settings no longer name it.',
        }),
      ),
    },
    cursor: Type.Object({ node: CursorText }),
    answer: listOf('Nodes', CrawledNode),
    async read({ limit, after, state }) {
      const nodes = await listNodes(database, { limit, after: after?.node, state });
      return pageOf(nodes, limit, ({ node }) => ({ node }));
    },
  });

  addRoute(server, 'POST /api/crawl/now', {
    summary: 'Have a node crawled now.',
    description: 'Makes all its work due; results appear in the lists and in the crawl log.',
    body: Type.Object({ node: Node }, { title: 'CrawlNow' }),
    answer: Type.Object({ started: Type.Boolean() }),
    answers: { 404: 'It is not crawled here.', 503: 'No discovery service started it in time.' },
    async handle({ body }, request) {
      const node = identify(body.node);
      await startCrawl(context, actorOf(request), node, waitForEnumeration);
      context.events.tell('crawl', node);
      return { started: true };
    },
  });

  addList(server, '/api/crawl/log', {
    summary: 'Read the crawl log: what was not accepted, why, and what to do about it; the latest first.',
    filter: { node: Type.Optional(Node), catalogId: Type.Optional(Type.String({ minLength: 1 })) },
    cursor: Type.Object({ at: CursorTime, id: CursorKey }),
    answer: listOf('CrawlLog', LogLine),
    async read({ node, after, ...page }) {
      const lines = await listLog(database, {
        ...(node !== undefined && { node: identify(node) }),
        ...(after && { after: { at: new Date(after.at), id: after.id } }),
        ...page,
      });
      return pageOf(lines, page.limit, ({ at, id }) => ({ at: at.getTime(), id }));
    },
  });
}

const enumeratedWithinMs = 10_000;
const lookAgainMs = 200;

async function waitForEnumeration(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + enumeratedWithinMs; !(await holds()); await delay(lookAgainMs))
    if (Date.now() > end)
      throw new ConsoleError('NET_DOWNSTREAM_UNAVAILABLE', 'No discovery service started it in time.', {
        hint: 'Is the discovery service running?',
      });
}

const Node = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'SubscriberId of a node.',
  examples: ['provider.example.org'],
});
