import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { PlainOperation } from '../http/openapi.ts';
import { parseQuery } from '../protocol/envelope.ts';
import { identityOf } from '../protocol/identity.ts';
import { pageOf } from '../protocol/page.ts';
import { Limit, Offset } from '../protocol/shapes.ts';
import { readLog } from '../storage/crawl/log.ts';
import { listCrawledCatalogs, readCrawlStatus } from '../storage/crawl/status.ts';
import type { ConsoleContext } from './context.ts';

/** What `signpost crawl status` and `signpost crawl log` show, for programs. */
export function addCrawlRoutes(
  server: FastifyInstance,
  { database, config: { REGISTRY_NAME } }: ConsoleContext,
): void {
  server.get('/api/crawl', { config: { operation: statusOperation } }, async ({ query }) => {
    const { limit } = pageOf(parseQuery(StatusQuery, asRecord(query)));
    return readCrawlStatus(database, { limit });
  });

  server.get('/api/crawl/catalogs', { config: { operation: catalogsOperation } }, async ({ query }) => {
    const { node } = parseQuery(CatalogsQuery, asRecord(query));
    return { catalogs: await listCrawledCatalogs(database, identityOf(node, REGISTRY_NAME)) };
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

const Node = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'SubscriberId of a node.',
  examples: ['provider.example.org'],
});
const StatusQuery = Type.Object({ limit: Type.Optional(Limit) });
const CatalogsQuery = Type.Object({ node: Node });
const LogQuery = Type.Object({
  node: Type.Optional(Node),
  catalogId: Type.Optional(Type.String({ minLength: 1 })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});

const statusOperation: PlainOperation = {
  summary:
    'Tell whom the crawler reads, and in which state the catalogs are; the nodes that fail most first.',
  query: StatusQuery,
};
const catalogsOperation: PlainOperation = {
  summary: 'List the crawled catalogs of a node with their states.',
  query: CatalogsQuery,
};
const logOperation: PlainOperation = {
  summary: 'Read the crawl log: what was not taken, why, and what to do about it; the latest first.',
  query: LogQuery,
};

function asRecord(query: unknown): Record<string, unknown> {
  return query as Record<string, unknown>;
}
