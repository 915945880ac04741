import type { FastifyInstance } from 'fastify';
import { createSlots } from '../delivery/slots.ts';
import { type FormTools, projectionFor } from '../delivery/strict-renderer.ts';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { spoolBody } from '../http/spooled-body.ts';
import { actions } from '../protocol/actions.ts';
import { type AnswerContext, answerContext } from '../protocol/context.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type Page, pageOf } from '../protocol/page.ts';
import { schemaIdentities } from '../rules/schema-address.ts';
import { type CatalogPage, readCatalogs } from '../storage/catalog/reader.ts';
import type { CatalogContext } from './context.ts';

// Search (catalog spec: POST /catalog/search): every current catalog that matches, with its flags and offers, in the order of first publication. The
// answer is rendered from one snapshot, and little of it is in memory at a time.

/** A search holds a database connection while its answer is spooled; large searches must leave connections for publishes. */
const searchesAtOnce = 4;
const searchesPerCaller = 2;
const patienceMs = 10_000;

type Search = VerifiedRequest<typeof actions.search>;

export function addSearchRoute(
  server: FastifyInstance,
  service: SignedService,
  context: CatalogContext,
  tools: FormTools,
): void {
  const slots = createSlots({ total: searchesAtOnce, perParty: searchesPerCaller });
  const handler = async (request: Search) => {
    const leave = await slots.enter(request.identity, AbortSignal.timeout(patienceMs)).catch(tooMany);
    return search(context, request, tools).finally(leave);
  };
  signedRoute(server, service, actions.search, handler, { hasOwnTurns: true });
}

function tooMany(): never {
  const message = 'Too many searches are in progress. Try again later.';
  throw new ProtocolError('NET_OVERLOADED', message, { retryAfterSeconds: 5 });
}

async function search(
  { config, database }: CatalogContext,
  { context, message, identity }: Search,
  tools: FormTools,
): Promise<Answer> {
  const { type = 'MASTER', networkIds = [], schemaTypes: asked = [] } = message.filters ?? {};
  const schemaTypes = schemaIdentities(asked, config.SCHEMA_ALIASES);
  const page = pageOf(message);
  const project = await projectionFor(tools, identity);
  const body = await database.transaction(
    async (snapshot) => {
      const found = await readCatalogs(snapshot, { type, networkIds, schemaTypes, ...page }, project);
      return spoolBody(render(answerContext(actions.search.answerAction, context), found, page));
    },
    { isolation: 'repeatable read' },
  );
  return { status: 200, body };
}

async function* render(context: AnswerContext, { total, pieces }: CatalogPage, page: Page) {
  yield `{"context":${JSON.stringify(context)},"message":{"catalogs":`;
  yield* pieces;
  yield `,"pagination":${JSON.stringify({ total, ...page })}}}`;
}
