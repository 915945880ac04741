import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';

const slowMs = 1_000;

/** One measurement per request; one line only for those that failed or were slow. */
export function observeRequests(role: string, metrics: Metrics, logger: Logger) {
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
      const told = { requestId, method, url, status, ms: Math.round(ms), ...(identity && { identity }) };
      logger[level](refusal ? { ...told, code: refusal } : told, 'request');
    }
    done();
  };
}

/** Crawlers ask every node of a network for its manifest, again and again; a role that publishes none refuses nothing by saying so. */
function isManifestQuestion({ method, url }: FastifyRequest, status: number): boolean {
  return status === 404 && method === 'GET' && url.startsWith('/.well-known/');
}

/** Without the signature of a download: anybody who knows its address gets in. */
export function shownUrl({ url }: FastifyRequest): string {
  return url.replace(/([?&]signature=)[^&]*/g, '$1…');
}
