import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiDocuments } from './pages.ts';

// The API documents of docs/api, each in the viewer that a running role has at /docs, without "Try it out".

const repository = join(import.meta.dirname, '..');

export async function writeApiPages(outDir: string): Promise<void> {
  const folder = join(outDir, 'docs', 'api');
  await mkdir(folder, { recursive: true });
  await cp(join(repository, 'dist', 'web', 'docs-viewer'), join(folder, 'viewer'), { recursive: true });
  for (const name of Object.keys(apiDocuments)) {
    const file = `${name}.openapi.json`;
    await copyFile(join(repository, 'docs', 'api', file), join(folder, file));
    await writeFile(join(folder, `${name}.html`), renderPage(name));
  }
}

function renderPage(current: string): string {
  const links = Object.entries(apiDocuments).map(
    ([name, title]) => `<a href="${name}.html"${name === current ? ' aria-current="page"' : ''}>${title}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signpost ${current}: API</title>
<link rel="stylesheet" href="viewer/swagger-ui.css">
<link rel="stylesheet" href="viewer/docs.css">
</head>
<body>
<header>
<h1><a href="../../index.html" style="color: inherit">Signpost</a> API</h1>
<nav>${links.join(' ')} <a href="${current}.openapi.json">openapi.json</a></nav>
</header>
<noscript>This page needs scripts. The same is in <a href="${current}.openapi.json">openapi.json</a>.</noscript>
<main id="docs" data-document="${current}.openapi.json" data-role="${current}" data-signed></main>
<script src="viewer/swagger-ui-bundle.js"></script>
<script src="viewer/docs.js"></script>
</body>
</html>
`;
}
