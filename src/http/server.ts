import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type RouteOptions,
} from 'fastify';
import { hasCode } from '../error-code.ts';
import { type Logger, warningsOnly } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { Action } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { parseJson } from '../protocol/json.ts';
import type { Admission } from './admission.ts';
import { type ConnectionLimits, limitConnections, limitProxiedRequests } from './connections.ts';
import { asProtocolError, errorAnswer } from './error-answer.ts';
import { buildOpenApi, type OpenApiDocument, type PlainExamples, type PlainOperation } from './openapi.ts';
import { addOperations, type OperatedRole, type OperationsServer } from './operations.ts';
import { createProxyCheck } from './source.ts';
import { answerExpectation, answerUnreadable, maxHeaderBytes } from './unreadable.ts';

const slowMs = 1_000;

/** The HTTP server of one role: admission, one answer to every error, measurements, `/health`, `/ready`, `/metrics`, `/openapi.json`, `/docs`. */
export interface ServerOptions extends Omit<OperatedRole, 'document'> {
  logger: Logger;
  admission?: Admission;
  /** A separate address for /health, /ready, /metrics and /docs. */
  operations?: OperationsServer;
  /** Proxies whose X-Forwarded-For is trusted; default: none. */
  trustProxy?: boolean | string | string[];
  connections?: ConnectionLimits;
  /** Time limit of a whole request, so that nobody holds a connection by sending slowly. */
  requestTimeoutMs?: number;
  /** How long requests may finish while the server closes: a slow sender or reader would delay it. */
  finishMs?: number;
  /** Examples of unsigned routes, by method and path: `POST /api/find`. */
  examples?: Readonly<Record<string, PlainExamples>>;
  /** Completes the OpenAPI document of an unsigned route. */
  describe?: (operation: PlainOperation, path: string) => PlainOperation;
  errorBody?: (error: ProtocolError) => object;
}

declare module 'fastify' {
  interface FastifyInstance {
    admission: Admission | undefined;
  }
  interface FastifyRequest {
    /** The signer, once known. */
    identity: string;
    refusal: string;
  }
  interface FastifyContextConfig {
    action?: Action;
    operation?: PlainOperation;
    /** Answered under any load. */
    always?: boolean;
    /** A stream that stays open: its duration means nothing. */
    stays?: boolean;
  }
}

const defaultRequestTimeoutMs = 60_000;
const defaultFinishMs = 3_000;
const headersTimeoutMs = 10_000;
const keepAliveTimeoutMs = 65_000;
/** Body limit of unsigned JSON routes; a route may set another. */
const plainBodyBytes = 1024 * 1024;
const maxParameterLength = 1_024;

export function createServer(options: ServerOptions): FastifyInstance {
  const { role, logger, metrics, ready, admission } = options;
  const answer = answerErrors(options.errorBody);
  const requestTimeout = options.requestTimeoutMs ?? defaultRequestTimeoutMs;
  const server = fastify({
    loggerInstance: warningsOnly(logger) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    trustProxy: options.trustProxy ?? false,
    bodyLimit: plainBodyBytes,
    requestTimeout,
    keepAliveTimeout: keepAliveTimeoutMs,
    // A request on an open connection is still served, then the connection is closed: Fastify's own refusal is not a NACK.
    return503OnClosing: false,
    // A server also accepts the form of requests for proxies, with the whole address (RFC 9112, 3.2.2).
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*\/?/i, '/'),
    routerOptions: { maxParamLength: maxParameterLength },
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeout),
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false, // Node's own refusal has no body: see refuseWithoutHost
    },
    frameworkErrors: answer,
    clientErrorHandler: answerUnreadable,
  });
  server.server.maxHeadersCount = 0; // their size is limited; with a count, Node would silently drop the others
  server.server.on('checkExpectation', answerExpectation);

  if (options.connections) {
    const refused = metrics.counter('signpost_connections_refused_total', 'Refused connections', ['role']);
    const isProxy = createProxyCheck(options.trustProxy ?? false);
    limitConnections(server.server, options.connections, isProxy, () => refused.inc({ role }));
    if (options.trustProxy) limitProxiedRequests(server, options.connections, isProxy);
  }

  const actions: Action[] = [];
  const plain: { method: string; path: string; operation: PlainOperation }[] = [];
  const known: KnownRoute[] = [];
  let built: { document: OpenApiDocument; text: Buffer } | undefined;
  // Cached until a route is added: building and writing it takes milliseconds, and anybody may request it, at any rate.
  const build = () => {
    if (built) return built;
    const document = buildOpenApi({ role, actions, plain });
    built = { document, text: Buffer.from(JSON.stringify(document)) };
    return built;
  };
  const document = () => build().document;
  server.decorate('admission', admission);
  server.decorateRequest('identity', '');
  server.decorateRequest('refusal', '');

  server.addHook('onRoute', (route) => {
    const { action, operation } = route.config ?? {};
    built = undefined;
    known.push(knownRoute(route));
    if (action) actions.push(action);
    if (!operation) return;
    const { describe = (given) => given } = options;
    for (const method of [route.method].flat()) {
      if (method === 'HEAD') continue;
      const examples = options.examples?.[`${method} ${route.url}`] ?? operation.examples;
      plain.push({ method, path: route.url, operation: { ...describe(operation, route.url), examples } });
    }
  });
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    refuseWithoutHost(request.raw);
    const { action, always } = request.routeOptions.config;
    if (admission && !action && !always) admission.admit(); // a signed route does this and signs its answer
    done();
  });
  server.addHook('onResponse', observeRequests(role, metrics, logger));
  server.addHook('preClose', (done) => {
    const cutOff = setTimeout(() => server.server.closeAllConnections(), options.finishMs ?? defaultFinishMs);
    server.server.once('close', () => clearTimeout(cutOff));
    done();
  });

  server.removeContentTypeParser('application/json');
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(Buffer.from(body)));
    } catch (error) {
      done(asProtocolError(error));
    }
  });
  server.setErrorHandler(answer);
  server.setNotFoundHandler((request, reply) => answer(unknownRoute(known, request), request, reply));
  server.get('/openapi.json', { config: { always: true } }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(build().text),
  );
  const operated = { role, ready, metrics, document };
  if (options.operations) options.operations.add(operated);
  else addOperations(server, [{ ...operated, docs: options.docs }]);
  return server;
}

/** Uses the caller's id if it is valid, so that one request can be followed through several services. */
function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{8,64}$/.test(given) ? given : randomUUID();
}

/** Answers with a NACK, unless the clients expect another form. */
export function answerErrors(errorBody?: ServerOptions['errorBody']) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = isSenderGone(thrown, request) ? senderGone : asProtocolError(thrown);
    request.refusal = error.code;
    if (error.code === 'NET_INTERNAL_ERROR')
      request.log.error({ url: shownUrl(request), err: thrown }, 'a request failed');
    // The stream of the answer failed before its first piece: there is no other answer.
    if (reply.sent) return void reply.raw.destroy();
    const { status, body, headers = {} } = errorAnswer(error);
    if (error instanceof RouteMissing && error.allow !== '') headers.allow = error.allow;
    reply.code(status).headers(headers);
    reply.send(errorBody?.(error) ?? body);
  };
}

/** The caller disconnected while its body was read, or before its answer was written. */
function isSenderGone(thrown: unknown, { raw }: FastifyRequest): boolean {
  return thrown === raw.errored || (raw.destroyed && hasCode(thrown, 'ERR_STREAM_PREMATURE_CLOSE'));
}

/** Nobody receives this answer; it is for log and metrics. */
const senderGone = new ProtocolError('NET_TIMEOUT', 'The sender disconnected before its request ended.', {
  status: 408,
});

function refuseWithoutHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1')
    throw new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', 'The request has no Host header.');
}

interface KnownRoute {
  path: RegExp;
  methods: string[];
}

function knownRoute({ url, method }: RouteOptions): KnownRoute {
  const pattern = url
    .split('/')
    .map((part) => {
      if (part === '*') return '.+';
      return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('/');
  return { path: new RegExp(`^${pattern}$`), methods: [method].flat() };
}

class RouteMissing extends ProtocolError {
  readonly allow: string;

  constructor(message: string, allow: string) {
    super('NET_NOT_IMPLEMENTED', message, { status: allow === '' ? 404 : 405 });
    this.allow = allow;
  }
}

function unknownRoute(known: readonly KnownRoute[], request: FastifyRequest): RouteMissing {
  const path = request.url.replace(/\?.*$/, '');
  const allow = known.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods);
  if (allow.length === 0)
    return new RouteMissing(`There is no ${path} here; /openapi.json lists what there is.`, '');
  const methods = [...new Set(allow)].join(', ');
  return new RouteMissing(`${path} accepts ${methods}, not ${request.method}.`, methods);
}

/** One measurement per request; one line only for those that failed or were slow. */
function observeRequests(role: string, metrics: Metrics, logger: Logger) {
  const seconds = metrics.histogram(
    'signpost_http_request_seconds',
    'Requests answered, by route and status',
    ['role', 'method', 'route', 'status'],
  );
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { method, id: requestId, identity, refusal } = request;
    const { statusCode: status, elapsedTime: ms } = reply;
    if (!request.routeOptions.config.stays)
      seconds.observe({ role, method, route: request.routeOptions.url ?? 'none', status }, ms / 1000);
    const isSlow = ms > slowMs && !request.routeOptions.config.stays;
    const isWorthALine = (status >= 400 && !isManifestQuestion(request, status)) || isSlow;
    const level = status >= 500 ? 'warn' : isWorthALine ? 'info' : 'debug';
    if (logger.isLevelEnabled(level)) {
      const url = shownUrl(request);
      const line = { requestId, method, url, status, ms: Math.round(ms), ...(identity && { identity }) };
      logger[level](refusal ? { ...line, code: refusal } : line, 'request');
    }
    done();
  };
}

/** Crawlers request every node's manifest again and again; for a role that publishes none, a 404 is not a refusal. */
function isManifestQuestion({ method, url }: FastifyRequest, status: number): boolean {
  return status === 404 && method === 'GET' && url.startsWith('/.well-known/');
}

/** Without the signature of a download, because anybody who knows its address gets access. */
function shownUrl({ url }: FastifyRequest): string {
  return url.replace(/([?&]signature=)[^&]*/g, '$1…');
}
