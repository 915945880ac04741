import type { FastifyInstance } from 'fastify';
import type { HomeLink } from '../http/home-page.ts';
import type { PlainOperation } from '../http/openapi.ts';
import { findPath, openFile, sendFile } from '../http/send-file.ts';
import { ProtocolError } from '../protocol/errors.ts';

// Serves the published files over HTTP like a static host with a copy of the directory (self-hosted spec: Endpoints): conditional
// requests, so that an unchanged catalog costs one cheap poll, and files with digests in their names, which are fetched only once.

export function addFileRoutes(
  server: FastifyInstance,
  { root, now = () => new Date() }: { root: string; now?: () => Date },
): void {
  server.options('/*', async (_request, reply) => reply.code(204).headers(preflightAnswer).send());
  server.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    config: { operation: fileOperation },
    handler: async (request, reply) => {
      reply.headers(forAnyOrigin);
      const opened = await openFile(root, findPath(request.url, isServed));
      if (!opened)
        throw new ProtocolError('NET_NOT_IMPLEMENTED', 'There is no such file here.', { status: 404 });
      const { path } = opened;
      const form = { contentType: typeOf(path), isVersioned: isVersioned(path), now: now() };
      return sendFile(opened, form, request, reply);
    },
  });
}

/** For the page at `/`. */
export const manifestLink: HomeLink = {
  href: '/.well-known/dedi.index.json',
  about: 'the manifest, where crawlers begin',
};

const fileOperation: PlainOperation = {
  summary: 'Fetch a published file: manifest, Subscriber record, catalog index, baseline or change file.',
  answers: {
    206: 'The requested range.',
    304: 'Unchanged since the ETag in If-None-Match, or the date in If-Modified-Since.',
    404: 'There is no such file.',
    416: 'The range is not within the file.',
  },
};

/** Self-hosted spec, Limits: files are public, also for pages of other sites. */
const forAnyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Content-Range',
  'x-content-type-options': 'nosniff',
};
const preflightAnswer = {
  ...forAnyOrigin,
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'If-None-Match, If-Modified-Since, Range, If-Range',
  'access-control-max-age': '86400',
};

/** Files whose names begin with a dot are not served. */
function isServed(segment: string, index: number): boolean {
  return !segment.startsWith('.') || (index === 0 && segment === '.well-known');
}

/** Names of baselines, change files and Subscriber records contain a part of their digest: new content has a new name. */
function isVersioned(path: string): boolean {
  return /\.[0-9a-f]{12}\.(?:changes\.)?json(?:\.gz)?$/.test(path);
}

/** A gzipped file is sent as a gzip file, not as an encoding of another one. */
function typeOf(path: string): string {
  if (path.endsWith('.json')) return 'application/json';
  return path.endsWith('.gz') ? 'application/gzip' : 'application/octet-stream';
}
