import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { Registry } from 'prom-client';
import { type Logger, warningsOnly } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { within } from '../within.ts';
import { addViewerRoute, type DocsPage, docsPolicy, renderDocs } from './docs-page.ts';
import { addHomePage } from './home-page.ts';
import type { OpenApiDocument } from './openapi.ts';

/** The operator's pages: /health (the process is up), /ready (it can do its work), /metrics (Prometheus), /docs. */
export function addOperations(
  server: FastifyInstance,
  roles: readonly OperatedRole[],
  isStarted: () => boolean = () => true,
): void {
  const config = { always: true };
  const started = Date.now();

  server.get('/health', { config }, async () => ({
    status: 'up',
    roles: roles.map(({ role }) => role),
    uptimeSeconds: Math.round((Date.now() - started) / 1000),
  }));

  server.get('/ready', { config }, async (_request, reply) => {
    const reports = await Promise.all(roles.map(async (one) => [one.role, await readiness(one)] as const));
    const ready = isStarted() && reports.every(([, report]) => report.ready);
    const problem = isStarted() ? {} : { problem: 'the process is starting' };
    return reply.code(ready ? 200 : 503).send({ ready, ...problem, roles: Object.fromEntries(reports) });
  });

  server.get('/metrics', { config }, async (_request, reply) => {
    const all = [...new Set(roles.map(({ metrics }) => metrics))];
    const merged = () => Registry.merge(all.map(({ registry }) => registry)).metrics();
    const text = await (all.length === 1 ? all[0]?.render() : merged());
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(text);
  });

  server.get<{ Querystring: RoleQuery }>('/docs', { config }, async ({ query }, reply) => {
    const { role, document, docs } = chosen(roles, query);
    const page = docs?.(query.role) ?? {
      roles: roles.map((one) => one.role),
      current: role,
      documentUrl: `openapi.json?role=${encodeURIComponent(role)}`,
      isSigned: hasSignedOperations(document()),
    };
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', docsPolicy)
      .send(renderDocs(page));
  });
  addViewerRoute(server);
}

export type OperationsServer = ReturnType<typeof createOperationsServer>;

/**
 * The operator's pages of all roles of a process at one address (OPERATIONS_PORT), instead of at the address of each role.
 *
 * @param consoleUrl of the same process
 */
export function createOperationsServer(logger: Logger, consoleUrl?: string) {
  const roles: OperatedRole[] = [];
  let started = false;
  const server = fastify({
    loggerInstance: warningsOnly(logger) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
  });
  addHomePage(server, {
    role: 'operations',
    about: 'Health, metrics and documentation of all roles of this process.',
    consoleUrl,
  });
  addOperations(server, roles, () => started);
  server.get<{ Querystring: RoleQuery }>('/openapi.json', async ({ query }) =>
    chosen(roles, query).document(),
  );
  return {
    add: (role: OperatedRole) => void roles.push(role),
    /** Until this is called, /ready answers that the process is starting. */
    allStarted() {
      started = true;
    },
    listen: (address: { host: string; port: number }) => server.listen(address),
    close: () => server.close(),
  };
}

export interface OperatedRole {
  role: string;
  /** Throws, or resolves with `ready: false`, if the role cannot work. /ready shows the resolved value. */
  ready: () => Promise<unknown>;
  metrics: Metrics;
  document: () => OpenApiDocument;
  /** The documents at /docs, if not only that of the role. */
  docs?: (wanted: string | undefined) => DocsPage;
}

interface RoleQuery {
  role?: string;
}

function hasSignedOperations({ paths }: OpenApiDocument): boolean {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  return operations.some(({ security = [] }) => security.length > 0);
}

function chosen(roles: readonly OperatedRole[], query: RoleQuery): OperatedRole {
  const role = roles.find((one) => one.role === query.role) ?? roles[0];
  if (!role) throw new Error('no role runs in this process');
  return role;
}

const readyTimeoutMs = 5_000;

async function readiness({ ready }: OperatedRole): Promise<{ ready: boolean; problem?: string }> {
  try {
    const report = await within(readyTimeoutMs, ready(), () => new Error('no answer in time'));
    return { ready: true, ...(typeof report === 'object' && report) };
  } catch (error) {
    return { ready: false, problem: error instanceof Error ? error.message : String(error) };
  }
}
