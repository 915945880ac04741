import type { FastifyInstance } from 'fastify';
import { Id, NetworkId } from '../../protocol/shapes.ts';
import { type Static, Type } from '../../protocol/type.ts';
import { Difference, Inspection } from '../answers/inspect.ts';
import type { ConsoleContext } from '../context.ts';
import { addRoute } from '../route.ts';
import { createSemaphore } from '../semaphore.ts';
import { compareWithLive } from './difference.ts';
import { inspect } from './inspect.ts';
import { renderCsv } from './issues.ts';

export function addInspectRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const inTurn = createSemaphore(inspectionTurns);
  const ask = ({ q, node, network }: Static<typeof InspectQuery>) =>
    inTurn(() => inspect(context, { text: q.trim(), node, network }));

  addRoute(server, 'GET /api/inspect', {
    summary: 'Explain why a node, a catalog or a resource can be found, or not.',
    description:
      'Follows the chain from the registry to the index, now, like a crawler that has never seen the node; for catalogs published through a catalog service, from the registry through publish and push.',
    query: InspectQuery,
    answer: Inspection,
    answers: { 413: tooLarge, 503: `${tooMany} Or the registry cannot be queried.`, 504: tooSlow },
    handle: ({ query }) => ask(query),
  });

  addRoute(server, 'GET /api/inspect/issues.csv', {
    summary: 'The issues of an inspection as CSV.',
    query: InspectQuery,
    answers: { 413: tooLarge, 503: tooMany },
    async handle({ query }, _request, reply) {
      const { issues } = await ask(query);
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="issues.csv"');
      return renderCsv(issues);
    },
  });

  addRoute(server, 'GET /api/inspect/difference', {
    summary: 'Compare what is indexed of a catalog with what is live.',
    query: Type.Object({ node: Node, catalogId: Id }),
    answer: Difference,
    answers: {
      404: 'There is no such catalog.',
      409: 'Its files cannot be read or do not verify; the hint says where to look.',
      413: 'The catalog is too large to be compared.',
      503: tooMany,
      504: tooSlow,
    },
    handle: ({ query }) => inTurn(() => compareWithLive(context, query)),
  });
}

/** Covers inspections and comparisons: each may hold many megabytes of files, and verifies them in the event loop. */
const inspectionTurns = { atOnce: 2, maxWaiting: 8, waitMs: 3_000 };

const Node = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'SubscriberId of the node that publishes it.',
});
const InspectQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'A node by its domain, subscriberId or address; a catalog or a resource by its id.',
  }),
  node: Type.Optional(Node),
  network: Type.Optional(NetworkId),
});

const tooLarge = 'The files of the node have more bytes than an inspection reads.';
const tooMany = 'Too many inspections are in progress; Retry-After says when to try again.';
const tooSlow = 'The node does not answer in time.';
