import type { FastifyInstance } from 'fastify';
import { Html, html } from './html.ts';
import { isThisMachine } from './local-only.ts';

/** The page at `/` of a role, for people who open its address in a browser. */
interface HomePage {
  role: string;
  about: string;
  /** Links in addition to those to the description of the API and to the operator's pages. */
  links?: readonly HomeLink[];
  /** The address of /docs, /health and the like, if different. */
  operations?: object;
  /** The console of the same process. Only browsers on the same machine get the link. */
  consoleUrl?: string;
}

export interface HomeLink {
  href: string;
  about: string;
}

export function addHomePage(server: FastifyInstance, page: HomePage): void {
  server.get('/', { config: { always: true } }, async ({ hostname }, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', pagePolicy)
      .send(renderHome(page, listLinks(page, isThisMachine(hostname)))),
  );
}

function listLinks({ links = [], operations, consoleUrl }: HomePage, isSameMachine: boolean) {
  const atConsole =
    consoleUrl !== undefined && isSameMachine ? [{ href: consoleUrl, about: 'the console' }] : [];
  if (operations) return [...atConsole, ...links, openApi];
  return [...atConsole, ...links, docs, openApi, ...operated];
}

const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const docs: HomeLink = { href: '/docs', about: 'documentation of the API' };
const openApi: HomeLink = { href: '/openapi.json', about: 'the API as OpenAPI 3.1' };
const operated: readonly HomeLink[] = [
  { href: '/health', about: 'whether the process is up' },
  { href: '/ready', about: 'whether it can do its work' },
  { href: '/metrics', about: 'measurements, for Prometheus' },
];

function renderHome({ role, about }: HomePage, links: readonly HomeLink[]): string {
  return `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signpost ${role}</title>
<style>${new Html(homeStyle)}</style>
</head>
<body>
<main>
  <h1>Signpost ${role}</h1>
  <p>${about}</p>
  <ul>${links.map(({ href, about }) => html`<li><a href="${href}">${href}</a><span>${about}</span></li>`)}</ul>
</main>
</body>
</html>
`.text
  }`;
}

const homeStyle = `
:root { color-scheme: light dark; --ink: #1c2530; --soft: #5d6b7a; --line: #e3e8ee; --paper: #ffffff; --accent: #0b6e5c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe7ee; --soft: #93a1af; --line: #26323d; --paper: #10171e; --accent: #5cc9b1; } }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 40rem; margin: 12vh auto 0; padding: 0 1.25rem; }
h1 { margin: 0 0 0.4rem; font-size: 1.9rem; letter-spacing: -0.02em; }
p { margin: 0 0 1.5rem; color: var(--soft); }
ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
li { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
a { color: var(--accent); text-underline-offset: 3px; overflow-wrap: anywhere; }
span { color: var(--soft); }
`;
