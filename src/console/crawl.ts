import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { PlainOperation } from '../http/openapi.ts';
import { parseQuery } from '../protocol/envelope.ts';
import { identityOf } from '../protocol/identity.ts';
import { pageOf } from '../protocol/page.ts';
import { Limit, Offset } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import { validator } from '../protocol/validate.ts';
import { readLog } from '../storage/crawl/log.ts';
import {
  listCrawledCatalogs,
  listNodes,
  type NodeStanding,
  readCrawlStatus,
} from '../storage/crawl/status.ts';
import { actorOf } from './audit.ts';
import type { ConsoleContext } from './context.ts';
import { startCrawl } from './crawl-now.ts';
import { ConsoleError } from './errors.ts';
import { ListQuery, listOf, nextCursor, parseListQuery, withoutNulls } from './list.ts';
import { createSemaphore } from './semaphore.ts';

/** What `signpost crawl status` and `signpost crawl log` show, for programs. */
export function addCrawlRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const {
    database,
    config: { REGISTRY_NAME },
  } = context;
  const inTurn = createSemaphore(statusTurns);

  server.get('/api/nodes', { config: { operation: nodesOperation } }, async ({ query }) => {
    const { limit, after, state } = parseListQuery(NodesQuery, query, NodeCursor);
    const items = await listNodes(database, { limit, after: after?.node, state });
    return { items: items.map(withoutNulls), next: nextCursor(items, limit, ({ node }) => ({ node })) };
  });

  server.post('/api/crawl/now', { config: { operation: nowOperation } }, async (request) => {
    const node = identityOf(validator(NowRequest)(request.body).node, REGISTRY_NAME);
    await startCrawl(context, actorOf(request), node, waitForEnumeration);
    context.events.tell('crawl', node);
    return { started: true };
  });

  server.get('/api/crawl', { config: { operation: statusOperation } }, async ({ query }) => {
    const { limit } = pageOf(parseQuery(StatusQuery, asRecord(query)));
    return inTurn(() => readCrawlStatus(database, { limit }));
  });

  server.get('/api/crawl/catalogs', { config: { operation: catalogsOperation } }, async ({ query }) => {
    const { node, limit, after } = parseListQuery(CatalogsQuery, query, CatalogCursor);
    const page = { limit, after: after?.catalogId };
    const catalogs = await listCrawledCatalogs(database, identityOf(node, REGISTRY_NAME), page);
    return { catalogs, next: nextCursor(catalogs, limit, ({ catalogId }) => ({ catalogId })) };
  });

  server.get('/api/crawl/log', { config: { operation: logOperation } }, async ({ query }) => {
    const { node, catalogId, ...paging } = parseQuery(LogQuery, asRecord(query));
    const page = pageOf(paging);
    const { lines, total } = await readLog(database, {
      ...(node !== undefined && { node: identityOf(node, REGISTRY_NAME) }),
      catalogId,
      ...page,
    });
    return { lines, pagination: { total, ...page } };
  });
}

/** The status counts every crawled catalog. */
const statusTurns = { atOnce: 2, maxWaiting: 8, waitMs: 3_000 };
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
const StatusQuery = Type.Object({ limit: Type.Optional(Limit) });
const CatalogsQuery = Type.Object({ ...ListQuery.properties, node: Node });
const CatalogCursor = Type.Object({ catalogId: Type.String() });
const LogQuery = Type.Object({
  node: Type.Optional(Node),
  catalogId: Type.Optional(Type.String({ minLength: 1 })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});

const NowRequest = Type.Object({ node: Node }, { title: 'CrawlNow' });
const standings = [
  'not looked at yet',
  'failing',
  'with failing catalogs',
  'read',
  'not asked for',
] as const satisfies NodeStanding[];
const NodesQuery = Type.Object({
  ...ListQuery.properties,
  state: Type.Optional(
    Type.Enum([...standings], {
      description:
        'Only nodes that stand so. `failing`: manifest, record or an index could not be read; `with failing catalogs`: these could, some catalog could not; `not asked for`: the settings name it no more.',
    }),
  ),
});
const NodeCursor = Type.Object({ node: Type.String() });
const Time = Type.Optional(Type.String({ format: 'date-time' }));

const nodesOperation: PlainOperation = {
  summary: 'List the nodes that are crawled, with their states.',
  query: NodesQuery,
  answer: listOf(
    'Nodes',
    Type.Object({
      node: Type.String(),
      state: Type.Enum([...standings]),
      catalogs: Type.Integer(),
      failing: Type.Integer({ description: 'Catalogs and indexes that could not be read lately.' }),
      lastLookAt: Time,
      nextAt: Time,
      lastCode: Type.Optional(Type.String({ description: 'Of the last line of the crawl log.' })),
      lastMessage: Type.Optional(Type.String()),
      lastLineAt: Time,
    }),
  ),
};
const nowOperation: PlainOperation = {
  summary: 'Have a node crawled now.',
  description: 'Makes everything of it due: what comes of it stands in the lists and in the crawl log.',
  body: NowRequest,
  answer: Type.Object({ started: Type.Boolean() }),
  answers: { 404: 'It is not crawled here.', 503: 'No discovery service has looked for it in time.' },
};
const statusOperation: PlainOperation = {
  summary:
    'Tell whom the crawler reads, and in which state the catalogs are; the nodes that fail most first.',
  query: StatusQuery,
  answers: { 503: 'Others are asking for it already; Retry-After says when to come again.' },
};
const catalogsOperation: PlainOperation = {
  summary: 'List the crawled catalogs of a node with their states, by their ids.',
  description: 'With `next`, the cursor of the next page, where there is one.',
  query: CatalogsQuery,
};
const logOperation: PlainOperation = {
  summary: 'Read the crawl log: what was not taken, why, and what to do about it; the latest first.',
  query: LogQuery,
};

function asRecord(query: unknown): Record<string, unknown> {
  return query as Record<string, unknown>;
}
