import { readdirSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../error-code.ts';
import { html } from '../http/html.ts';
import { findPath, openFile, sendFile } from '../http/send-file.ts';
import { notFound } from './errors.ts';

// The page of the console: the files that `npm run build` made of web/, and nothing from elsewhere. Where they are not built, / has links to what there is.

/** From src/ and from dist/ alike. */
const builtPage = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const guides = fileURLToPath(new URL('../../docs/', import.meta.url));

export function addPageRoutes(server: FastifyInstance, root = builtPage): void {
  const built = listEntries(root);
  const isBuilt = built.some(({ name }) => name === startFile);
  const config = { access: 'open' as const };
  const send = async (request: FastifyRequest, reply: FastifyReply, path: string | undefined) => {
    const contentType = contentTypes[extname(path ?? '')] ?? 'application/octet-stream';
    const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    const zipped = isZipped && path !== undefined ? await openFile(root, `${path}.gz`) : undefined;
    const opened = zipped ?? (await openFile(root, path));
    if (!opened) throw notFound('There is no such file here.');
    if (zipped) reply.headers({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    // Vite writes files with a part of their digest in their names into assets/.
    const isVersioned = opened.path.startsWith('assets/');
    return sendFile(
      opened,
      { contentType, isVersioned, now: new Date() },
      request,
      reply.headers(pageHeaders),
    );
  };
  server.get('/', { config }, async (request, reply) => {
    if (isBuilt) return send(request, reply, startFile);
    return reply
      .headers(pageHeaders)
      .type(contentTypes['.html'] ?? '')
      .send(linksPage);
  });
  addGuideRoute(server);
  for (const { name, isDirectory } of built)
    server.get(`/${name}${isDirectory ? '/*' : ''}`, { config }, (request, reply) =>
      send(
        request,
        reply,
        findPath(request.url, (segment) => !segment.startsWith('.')),
      ),
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

const startFile = 'index.html';

function listEntries(root: string): { name: string; isDirectory: boolean }[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.'))
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

/** Nothing is loaded from elsewhere, no script stands in the page itself, and no other page may frame it. */
const pageHeaders = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const linksPage = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signpost console</title>
<h1>Signpost console</h1>
<p>The page of the console is not built: <code>npm run build</code> makes it. The API is there:</p>
<ul>
<li><a href="/openapi.json">/openapi.json</a>: what there is</li>
<li><a href="/api/session">/api/session</a>: what this process is</li>
<li><a href="/api/crawl">/api/crawl</a>: how the crawl stands</li>
<li><a href="/api/crawl/log">/api/crawl/log</a>: what was not taken, and why</li>
</ul>
</html>`.text;
