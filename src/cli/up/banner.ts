import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config.ts';
import { paint } from '../colour.ts';

/** What a newcomer reads first: the page, and what to type. */
export function renderBanner(config: Config): string {
  const { catalog } = config.identities;
  const hasConsole = config.roles.includes('console');
  // The console can sign what is tried. OPERATIONS_PORT moves the pages of the operator away, and leaves the document.
  const docs = `${hasConsole ? config.consoleUrl : catalog.url}/docs${hasConsole ? '?role=catalog' : ''}`;
  const api = (config.OPERATIONS_PORT ?? 0) === 0 ? docs : `${catalog.url}/openapi.json`;
  const steps = [
    `npx signpost send ${nameExample('publish-chargers.json')} --as provider.signpost.test --to ${catalog.url} --wait`,
    'npx signpost discover fast charger --near 12.97,77.64 --within 5km',
    ...(config.demo
      ? [
          'npx signpost discover charger --near 12.978,77.57 --within 1km     found in signed files that were crawled',
        ]
      : []),
    'npx signpost status',
  ];
  const page = hasConsole
    ? `Open ${paint('bold', config.consoleUrl)}`
    : 'It has no page: ROLES names no console.';
  return `
${paint('good', 'Signpost is up.')} ${page}

In another terminal, in the same folder:
${steps.map((step) => `  ${step}`).join('\n')}

API: ${api}    Ctrl-C stops everything.`;
}

/** As it can be typed in this folder: the examples are wherever this package is installed. */
function nameExample(name: string): string {
  const file = fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));
  const below = relative('', file);
  const path = below.startsWith('..') ? file : below;
  return /^[\w./@+-]+$/.test(path) ? path : JSON.stringify(path);
}
