import type { PlainOperation } from '../http/openapi.ts';
import { createRateLimit, ofThisProcess } from '../http/rate-limit.ts';
import { createServer } from '../http/server.ts';
import { Type } from '../protocol/type.ts';
import { startOrClose } from '../start-or-close.ts';
import { consoleExamples } from './api-examples.ts';
import { addAuditRoutes } from './audit.ts';
import { addCatalogRoutes } from './catalogs.ts';
import type { ConsoleContext } from './context.ts';
import { addCrawlRoutes } from './crawl.ts';
import { addDebugRoutes } from './debug.ts';
import { addDeliveryRoutes } from './delivery-routes.ts';
import { ConsoleError, consoleErrorBody } from './errors.ts';
import { addEventRoute, createEvents } from './events.ts';
import { addFieldRoutes } from './fields.ts';
import { addFindRoute } from './find.ts';
import { attemptLimits, type GuardOptions, guardConsole, warnIfReachable } from './guard.ts';
import { addHealthRoutes } from './health/routes.ts';
import { addInboxRoutes } from './inbox.ts';
import { addInspectRoutes } from './inspect/routes.ts';
import { limitStatements } from './limit-statements.ts';
import { addTileRoute } from './map-tiles.ts';
import { addNetworkRoutes } from './network.ts';
import { createOperators, loadOrCreateOperatorToken, tokenPlace } from './operator-token.ts';
import { addPageRoutes } from './page.ts';
import { addPublishRoutes } from './publish/routes.ts';
import { addSessionRoutes } from './session.ts';
import { addTryRoutes, chooseDocs } from './try-request.ts';
import { addWhyRoute } from './why.ts';

/** The console: the operator's page and its unsigned API, for the operator and for programs on this machine. */
export async function startConsoleRole(given: Omit<ConsoleContext, 'events'>) {
  const { config, search, metrics, operations, logger, now } = given;
  const database = limitStatements(given.database);
  const context: ConsoleContext = { ...given, database, events: createEvents({ database, logger, now }) };
  // In a process with a discovery service, that role announces both.
  const announced = config.roles.includes('discovery') ? undefined : await search.announce({ logger });
  const { token, isNew } = loadOrCreateOperatorToken(config);
  warnIfReachable(config.CONSOLE_HOST, logger);
  const server = createServer({
    role: 'console',
    ...{ logger, metrics, operations },
    ready: async () => {
      await database.ping();
      announced?.check();
    },
    errorBody: consoleErrorBody,
    examples: consoleExamples,
    describe: describeRefusals,
    docs: (wanted) => chooseDocs(context, wanted),
  });
  const share = given.shareLimit ?? ofThisProcess;
  const guard: GuardOptions = {
    ...{ host: config.CONSOLE_HOST, tokenPlace: tokenPlace(config), now },
    operators: createOperators(token, database),
    attempts: share('operator tokens', createRateLimit(attemptLimits)),
  };
  guardConsole(server, guard);
  server.addHook('onRequest', async ({ url }) => refuseUnstorable(url));
  addSessionRoutes(server, context, guard);
  addAuditRoutes(server, context);
  addCrawlRoutes(server, context);
  addFieldRoutes(server, context);
  addFindRoute(server, context);
  addWhyRoute(server, context);
  addNetworkRoutes(server, context);
  addCatalogRoutes(server, context);
  addDeliveryRoutes(server, context);
  addEventRoute(server, context);
  addHealthRoutes(server, context);
  addInspectRoutes(server, context);
  addPublishRoutes(server, context);
  addDebugRoutes(server, context);
  addInboxRoutes(server, context);
  addTryRoutes(server, context);
  addPageRoutes(server);
  const close = async () => {
    await context.events.close();
    await server.close();
    await announced?.close();
  };
  return startOrClose(async () => {
    addTileRoute(server, config);
    await server.listen({ host: config.CONSOLE_HOST, port: config.CONSOLE_PORT });
    return { url: config.consoleUrl, ...(isNew && { newToken: token }), close };
  }, close);
}

/** PostgreSQL cannot store U+0000, and rejects statements with it. */
function refuseUnstorable(url: string): void {
  if (url.includes('%00'))
    throw new ConsoleError(
      'SCH_INVALID_FORMAT',
      'The address has a character U+0000, which no name contains.',
    );
}

// Answers that any request to the console may get from the guard (guard.ts), for its OpenAPI document. An operation's own answers come first.

const ConsoleRefusal = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'A code of the protocol.' }),
      message: Type.String(),
      hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
      path: Type.Optional(Type.String({ description: 'Where the body or the query is wrong.' })),
    }),
  },
  { title: 'ConsoleRefusal', description: 'Why a request was refused.' },
);

function describeRefusals(operation: PlainOperation, path: string): PlainOperation {
  const { query, body, answers } = operation;
  const isOfApi = path.startsWith('/api/');
  const hasName = path.includes('/:');
  return {
    ...operation,
    // The inbox answers callbacks like a consumer.
    ...(isOfApi && { refusal: ConsoleRefusal }),
    answers: {
      ...when(query || body || hasName, {
        400: 'The query or the body is wrong, with its path, or a name in the address.',
      }),
      ...when(hasName, { 404: 'Nothing has that name.' }),
      ...when(isOfApi, {
        503: 'The database cannot be used right now; Retry-After says when to try again.',
        504: 'The database took too long.',
      }),
      ...ofGuard,
      ...when(body, { 413: 'The body is too large.', 415: 'The body is not application/json.' }),
      ...answers,
    },
  };
}

const when = (holds: unknown, said: Record<number, string>) => (holds ? said : {});

const ofGuard: Record<number, string> = {
  401: 'The token is missing, or no operator has it.',
  403: 'It comes from a page of another origin or through a proxy, lacks the header that the cookie needs, or its operator lacks the role.',
  429: 'Too many wrong tokens came from this address; Retry-After says when to try again.',
};
