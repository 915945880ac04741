import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { identityOf } from '../protocol/identity.ts';
import { Type } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';
import { listLog } from '../storage/crawl/log.ts';
import { listCrawledCatalogs, listNodes, summarizeCrawl } from '../storage/crawl/status.ts';
import { CrawledNode, LogLine, nodeStandings } from './answers/network.ts';
import { actorOf } from './audit.ts';
import { cacheBriefly } from './cache-briefly.ts';
import type { ConsoleContext } from './context.ts';
import { startCrawl } from './crawl-now.ts';
import { ConsoleError } from './errors.ts';
import {
  addList,
  CursorKey,
  CursorText,
  CursorTime,
  ListQuery,
  listOf,
  nextCursor,
  pageOf,
  parseListQuery,
} from './list.ts';

export function addCrawlRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const {
    database,
    config: { REGISTRY_NAME },
  } = context;
  const readSummary = cacheBriefly(() => summarizeCrawl(database), summaryMaxAgeMs);

  addList(server, '/api/nodes', {
    summary: 'List the nodes that are crawled, with their states.',
    query: NodesQuery,
    cursor: Type.Object({ node: CursorText }),
    answer: listOf('Nodes', CrawledNode),
    async read({ limit, after, state }) {
      const nodes = await listNodes(database, { limit, after: after?.node, state });
      return pageOf(nodes, limit, ({ node }) => ({ node }));
    },
  });

  server.post('/api/crawl/now', { config: { operation: nowOperation } }, async (request) => {
    const node = identityOf(validator(NowRequest)(request.body).node, REGISTRY_NAME);
    await startCrawl(context, actorOf(request), node, waitForEnumeration);
    context.events.tell('crawl', node);
    return { started: true };
  });

  server.get('/api/crawl', { config: { operation: summaryOperation } }, readSummary);

  server.get('/api/crawl/catalogs', { config: { operation: catalogsOperation } }, async ({ query }) => {
    const { node, limit, after } = parseListQuery(CatalogsQuery, query, CatalogCursor);
    const page = { limit, after: after?.catalogId };
    const catalogs = await listCrawledCatalogs(database, identityOf(node, REGISTRY_NAME), page);
    return { catalogs, next: nextCursor(catalogs, limit, ({ catalogId }) => ({ catalogId })) };
  });

  addList(server, '/api/crawl/log', {
    summary: 'Read the crawl log: what was not taken, why, and what to do about it; the latest first.',
    query: LogQuery,
    cursor: Type.Object({ at: CursorTime, id: CursorKey }),
    answer: listOf('CrawlLog', LogLine),
    async read({ node, after, ...page }) {
      const lines = await listLog(database, {
        ...(node !== undefined && { node: identityOf(node, REGISTRY_NAME) }),
        ...(after && { after: { at: new Date(after.at), id: after.id } }),
        ...page,
      });
      return pageOf(lines, page.limit, ({ at, id }) => ({ at: at.getTime(), id }));
    },
  });
}

const summaryMaxAgeMs = 5_000;
const enumeratedWithinMs = 10_000;
const lookAgainMs = 200;

async function waitForEnumeration(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + enumeratedWithinMs; !(await holds()); await delay(lookAgainMs))
    if (Date.now() > end)
      throw new ConsoleError('NET_DOWNSTREAM_UNAVAILABLE', 'Nobody has asked the networks for it in time.', {
        hint: 'Is the discovery service running?',
      });
}

const Node = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'SubscriberId of a node.',
  examples: ['provider.example.org'],
});
const CatalogsQuery = Type.Object({ ...ListQuery.properties, node: Node });
const CatalogCursor = Type.Object({ catalogId: CursorText });
const LogQuery = Type.Object({
  ...ListQuery.properties,
  node: Type.Optional(Node),
  catalogId: Type.Optional(Type.String({ minLength: 1 })),
});

const NowRequest = Type.Object({ node: Node }, { title: 'CrawlNow' });
const NodesQuery = Type.Object({
  ...ListQuery.properties,
  state: Type.Optional(
    Type.Enum([...nodeStandings], {
      description:
        'Only nodes that stand so. `failing`: manifest, record or an index could not be read; `with failing catalogs`: these could, some catalog could not; `nothing published`: it was read, and names no signed catalog; `not asked for`: the settings name it no more.',
    }),
  ),
});

const nowOperation: PlainOperation = {
  summary: 'Have a node crawled now.',
  description: 'Makes everything of it due: what comes of it stands in the lists and in the crawl log.',
  body: NowRequest,
  answer: Type.Object({ started: Type.Boolean() }),
  answers: { 404: 'It is not crawled here.', 503: 'No discovery service has looked for it in time.' },
};
const summaryOperation: PlainOperation = {
  summary: 'Tell whom the crawler reads, how many catalogs are in which state, and what it does next.',
  description: 'At most five seconds old. `GET /api/nodes` lists the nodes.',
};
const catalogsOperation: PlainOperation = {
  summary: 'List the crawled catalogs of a node with their states, by their ids.',
  description: 'With `next`, the cursor of the next page, where there is one.',
  query: CatalogsQuery,
};
