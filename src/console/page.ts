import { readdirSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../error-code.ts';
import { findPath, openFile, sendFile } from '../http/send-file.ts';
import { notFound } from './errors.ts';

// Serves the page of the console: only the files that `npm run build` made of web/.

/** Works from src/ and from dist/. */
const builtPage = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const guides = fileURLToPath(new URL('../../docs/', import.meta.url));

export function addPageRoutes(server: FastifyInstance, root = builtPage): void {
  const config = { access: 'open' as const };
  const send = async (request: FastifyRequest, reply: FastifyReply, path: string | undefined) => {
    const contentType = contentTypes[extname(path ?? '')] ?? 'application/octet-stream';
    const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    const zipped = isZipped && path !== undefined ? await openFile(root, `${path}.gz`) : undefined;
    const opened = zipped ?? (await openFile(root, path));
    if (!opened) throw notFound('There is no such file here.', 'Build the page: npm run build');
    if (zipped) reply.headers({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    // Vite writes files with hashed names into assets/.
    const isVersioned = opened.path.startsWith('assets/');
    const kind = { contentType, isVersioned, now: new Date() };
    return sendFile(opened, kind, request, reply.headers(pageHeaders));
  };
  server.get('/', { config }, (request, reply) => send(request, reply, 'index.html'));
  addGuideRoute(server);
  for (const { name, isDirectory } of listEntries(root))
    server.get(`/${name}${isDirectory ? '/*' : ''}`, { config }, (request, reply) =>
      send(request, reply, findPath(request.url, isShown)),
    );
}

function addGuideRoute(server: FastifyInstance): void {
  server.get<{ Params: { file: string } }>(
    '/guides/:file',
    { config: { access: 'open' } },
    async (request, reply) => {
      const { file } = request.params;
      const opened = /^[a-z-]+\.md$/.test(file) ? await openFile(guides, file) : undefined;
      if (!opened) throw notFound('There is no such guide here.');
      const kind = { contentType: 'text/plain; charset=utf-8', isVersioned: false, now: new Date() };
      return sendFile(opened, kind, request, reply.headers(pageHeaders));
    },
  );
}

function isShown(name: string): boolean {
  return !name.startsWith('.');
}

function listEntries(root: string): { name: string; isDirectory: boolean }[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter(({ name }) => isShown(name))
      .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.geojson': 'application/geo+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

/** Nothing is loaded from other hosts, scripts are not inline, and no other page may frame it. */
const pageHeaders = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
