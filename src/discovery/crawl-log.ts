import type { FastifyInstance } from 'fastify';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { actions } from '../protocol/actions.ts';
import type { CrawlLogAnswer, CrawlLogEntry } from '../protocol/crawl-messages.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { namesIdentity } from '../protocol/identity.ts';
import { pageOf } from '../protocol/page.ts';
import { type LoggedLine, readLog } from '../storage/crawl/log.ts';
import type { DiscoveryContext } from './context.ts';

/** GET /crawl-log: the outcome of a node's files here, only for that node (self-hosted spec: Errors; the endpoint is ours). */
export function addCrawlLogRoute(server: FastifyInstance, service: SignedService, context: DiscoveryContext) {
  signedRoute(server, service, actions.crawlLog, (request) => tellLog(context, request));
}

async function tellLog(
  { database, config }: DiscoveryContext,
  { identity, record, query }: VerifiedRequest<typeof actions.crawlLog>,
): Promise<Answer> {
  if (!namesIdentity(query.nodeId, identity, record.subscriberId, config.REGISTRY_NAME)) {
    const problem = `The crawl log of ${query.nodeId} is not for ${identity}.`;
    throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', problem, { path: '$.query.nodeId' });
  }
  const page = pageOf(query);
  const { lines, total } = await readLog(database, { node: identity, ...page });
  const answer: CrawlLogAnswer = { entries: lines.map(entryOf), pagination: { total, ...page } };
  return { status: 200, body: answer };
}

function entryOf({ at, node, indexUrl, catalogId, url, code, message, hint }: LoggedLine): CrawlLogEntry {
  return {
    ...{ at: at.toISOString(), nodeId: node },
    ...(indexUrl && { indexUrl }),
    ...(catalogId && { catalogId }),
    ...(url && { url }),
    ...{ code, message, hint },
  };
}
