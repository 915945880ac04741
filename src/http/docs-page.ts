import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { programVersion } from '../program-version.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { html } from './html.ts';
import { openFile, sendFile } from './send-file.ts';

// /docs: the OpenAPI document in Swagger UI, which `npm run build` copies into dist/web/docs-viewer. Nothing is loaded from other hosts.

/** From src/ and from dist/ alike. */
const viewerFiles = fileURLToPath(new URL('../../dist/web/docs-viewer/', import.meta.url));

export interface DocsPage {
  /** The roles whose documents can be shown, and the current one. */
  roles: readonly string[];
  current: string;
  documentUrl: string;
  /** Whether its operations are signed: then they can be tried only if `tryUrl` signs them. */
  isSigned: boolean;
  /** Where "Try it out" sends a request to be signed. */
  tryUrl?: string;
}

export function addViewerRoute(server: FastifyInstance): void {
  const config = { always: true };
  server.get<{ Params: { file: string } }>('/docs/:file', { config }, async (request, reply) => {
    const { file } = request.params;
    const contentType = contentTypes[extname(file)];
    const isName = /^[\w.-]+$/.test(file);
    const opened = contentType && isName ? await openFile(viewerFiles, file) : undefined;
    if (!opened || !contentType)
      throw new ProtocolError('NET_NOT_IMPLEMENTED', 'There is no such file here.', { status: 404 });
    return sendFile(opened, { contentType, isVersioned: false, now: new Date() }, request, reply);
  });
}

const contentTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** Scripts and styles only from here; Swagger UI embeds its icons as data. */
export const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function renderDocs({ roles, current, documentUrl, isSigned, tryUrl }: DocsPage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signpost ${current}: API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/docs.css">
</head>
<body>
<header>
<h1>Signpost API <small>${programVersion()}</small></h1>
<nav>${roles.length > 1 && roles.map((role) => html`<a href="?role=${encodeURIComponent(role)}"${role === current && html` aria-current="page"`}>${role}</a> `)}<a href="${documentUrl}">openapi.json</a></nav>
</header>
<noscript>This page needs scripts. The same is in <a href="${documentUrl}">openapi.json</a>.</noscript>
<main id="docs" data-document="${documentUrl}" data-role="${current}"${isSigned && html` data-signed`}${tryUrl !== undefined && html` data-try="${tryUrl}"`}></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/docs.js"></script>
</body>
</html>
`.text;
}
