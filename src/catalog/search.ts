import type { FastifyInstance } from 'fastify';
import { type Answer, type SignedService, signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { spoolBody } from '../http/spooled-body.ts';
import { actions } from '../protocol/actions.ts';
import { type AnswerContext, answerContext } from '../protocol/context.ts';
import { type CatalogPage, readCatalogs } from '../storage/catalog-reader.ts';
import type { CatalogContext } from './context.ts';
import { type Page, pageOf } from './page.ts';

// Search (catalog spec: POST /catalog/search): every current catalog that matches, with its flags and offers, in the order of first
// publication. The answer is rendered from one snapshot; however large it is, little of it is in memory.

export function addSearchRoute(
  server: FastifyInstance,
  service: SignedService,
  context: CatalogContext,
): void {
  signedRoute(server, service, actions.search, (request) => search(context, request));
}

async function search(
  { database }: CatalogContext,
  { context, message }: VerifiedRequest<typeof actions.search>,
): Promise<Answer> {
  const { type = 'MASTER', networkIds = [], schemaTypes = [] } = message.filters ?? {};
  const page = pageOf(message);
  const body = await database.transaction(
    async (snapshot) => {
      const found = await readCatalogs(snapshot, { type, networkIds, schemaTypes, ...page });
      return spoolBody(render(answerContext(actions.search.answerAction, context), found, page));
    },
    { isolation: 'repeatable read' },
  );
  return { status: 200, body };
}

async function* render(
  context: AnswerContext,
  { total, pieces }: CatalogPage,
  page: Page,
): AsyncGenerator<string> {
  yield `{"context":${JSON.stringify(context)},"message":{"catalogs":`;
  yield* pieces;
  yield `,"pagination":${JSON.stringify({ total, ...page })}}}`;
}
